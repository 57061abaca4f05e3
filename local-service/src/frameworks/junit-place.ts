import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path'
import { foldersBetween, isInside } from '../machine/files.ts'
import type { XmlCase } from './junit-xml.ts'
import type { Fields } from './report-reader.ts'
import type { SourceFiles } from './source-files.ts'

// Where a test of a JUnit report is. A place that is not in one existing file of the repository is left out.

interface FileAndRest {
  readonly file?: string | undefined
  /** The class of the test, without what names the file. */
  readonly rest: string
}

interface Frame {
  readonly file: string
  readonly line: number
}

/** Languages that print a stack. */
const WITH_STACK = /\.(?:[cm]?[jt]sx?|py|rb|php|cs|fs|vb|java|kt|groovy|scala|exs?)$/
const OF_NET = ['.cs', '.fs', '.vb']
const OF_JVM = ['.java', '.kt', '.groovy', '.scala']
/** The name of pytest's only suite. Its classes are modules, and its lines count from 0. */
const PYTEST = 'pytest'
/** A path ends before a comma and before a quote. Otherwise, in a long list without spaces, each path would be tried up to the end of the list. */
const PATH = String.raw`(?:^|[\s(["'])(?:file:\/\/)?(?<path>[/@.\p{L}\w][^\s():"',]*\.\w+)`
/** Most tools: `cart.js:7`. .NET, in any language: `Cart.cs:line 7`. */
const BEHIND_COLON = new RegExp(String.raw`${PATH}:(?:\p{L}+ )?(?<line>\d+)\b`, 'gmu')
/** C++: `cart.cc(7)`. Babel: `cart.js: Unexpected token (7:0)`. */
const IN_PARENTHESES = new RegExp(String.raw`${PATH}(?:\(|: .+?\((?=\d+:\d+\)))(?<line>\d+)\b`, 'gmu')
/** Python: `File "cart.py", line 7`. Bats: `in test file cart.bats, line 7`. */
const IN_WORDS = /\b[Ff]ile ["']?(?<path>[^"',\n]+)["']?, line (?<line>\d+)/gm

/** In their order in the text. */
function positionsIn(text: string) {
  const found = [BEHIND_COLON, IN_PARENTHESES, IN_WORDS].flatMap((pattern) => [...text.matchAll(pattern)])
  const inOrder = found.sort((one, other) => one.index - other.index)
  return inOrder.map(({ groups: { path = '', line = '' } = {} }) => ({ path, line: Number(line) }))
}

/** Of a stack in JavaScript, .NET and the JVM. The JVM leaves out frames that the stack of the cause repeats. */
const FRAME = /^\s+(?:at |\.\.\. \d+ more$)/
const MOST_FRAMES = 5
/** Of a file, as ExUnit has it. */
const LINE = /:(\d+)$/

export class Places {
  readonly #source: SourceFiles
  /** The folder of the report, the folders above it, the project's folder and the root. */
  readonly #bases: readonly string[]
  readonly #resolved = new Map<string, string | undefined>()
  readonly #testsOfGo = new Map<string, ReadonlyMap<string, Frame>>()

  constructor(source: SourceFiles, report: string) {
    const [{ folder, root }, ofReport] = [source.repository, dirname(report)]
    const above = isInside(ofReport, folder) ? foldersBetween({ folder: ofReport, root: folder }) : [ofReport]
    this.#source = source
    this.#bases = [...new Set([...above, folder, root])]
  }

  /** A relative path may start in each of the folders. */
  resolveFile(path: string): string | undefined {
    if (!this.#resolved.has(path)) {
      const files = isAbsolute(path) ? [path] : this.#bases.map((base) => resolve(base, path))
      const found = files.find((file) => this.#source.isFile(file))
      this.#resolved.set(path, found)
    }
    return this.#resolved.get(path)
  }

  /** Whether this relative or absolute path is that of the file. */
  isPathOf(file: string, path: string): boolean {
    return file.endsWith(basename(path)) && this.resolveFile(path) === file
  }

  /** By the attribute, else by the class. The title and the file must not depend on the message. */
  fileOf({ attributes, file: given, suites }: XmlCase): FileAndRest {
    const { name = '', classname = '' } = attributes
    const rest = classname.trim()
    const isPytest = suites.at(-1) === PYTEST
    // If Node cannot load a file, the path is the name.
    const called = given || (isAbsolute(name) ? name : '')
    const file = this.resolveFile(called.replace(/^file:\/\//, '').replace(LINE, ''))
    if (file !== undefined && rest === basename(file)) return { file, rest: '' }
    // If pytest cannot load a file, the module is the name.
    const nameOfClass = isPytest && rest === '' ? name : rest
    const ofClass = this.#fileOfClass(nameOfClass, file === undefined ? '.py' : extname(file), isPytest)
    const isSame = file === undefined || file === ofClass.file
    return { file: file ?? ofClass.file, rest: isSame && rest !== '' ? ofClass.rest : rest }
  }

  /** The class is a path, a module such as `tests.test_cart`, maybe with a class of it, or a class of Java. */
  #fileOfClass(name: string, ending: string, isPytest: boolean): FileAndRest {
    const paths = name.includes('/') ? [name, name + ending] : name.includes('.') ? [name] : []
    const path = paths.map((one) => this.resolveFile(one)).find((file) => file !== undefined)
    if (path !== undefined) return { file: path, rest: '' }
    const parts = OF_JVM.includes(ending) ? [] : name.trim().split('.')
    // A single word is a module only in pytest.
    for (let count = parts.length; count > (isPytest ? 0 : 1); count--) {
      const file = this.resolveFile(parts.slice(0, count).join('/') + ending)
      if (file !== undefined) return { file, rest: parts.slice(count).join('.') }
    }
    if (!/^[\p{L}\w$]+(?:\.[\p{L}\w$]+)+$/u.test(name)) return { rest: name }
    const ofClass = name.replace(/\$.*/, '').replaceAll('.', '/')
    // In .NET, the folders need not be those of the namespace.
    const endings = [...OF_JVM.map((one) => ofClass + one), ...OF_NET.map((one) => basename(ofClass) + one)]
    const files = endings.map((one) => this.#source.findEnding(one)).filter((file) => file !== undefined)
    return { file: files.length === 1 ? files[0] : undefined, rest: name }
  }

  /** The file is that of the test, whatever its result. The line is that of the innermost frame in it, else that of the test. */
  placeOf(found: XmlCase, ofReport: string | undefined, text: string): Fields {
    const frames = this.#framesIn(text, found, ofReport)
    const ofTest = ofReport === undefined ? this.#testOfGo(found) : undefined
    const file = ofReport ?? ofTest?.file ?? this.#fileOfFrames(frames, found)
    const { line: given, lineno = LINE.exec(found.file)?.[1] } = found.attributes
    const line = ofTest?.line ?? Number(given ?? lineno) + (found.suites.at(-1) === PYTEST ? 1 : 0)
    return { file, line: frames.find((frame) => frame.file === file)?.line ?? line }
  }

  /** A reason whose stack has only frames in the repository, the innermost first. Nothing goes if none of its frames is there. */
  withOwnFrames(text: string, found: XmlCase, file: string | undefined): string {
    const frames = this.#framesIn(text, found, file)
    if (frames[0]?.file.endsWith('.py')) {
      const places = new Set(frames.map((one) => `at ${relative(this.#source.repository.root, one.file)}:${one.line}`))
      return places.size < 2 ? text : [text, ...[...places].slice(0, MOST_FRAMES)].join('\n')
    }
    let inARow = 0
    const lines = text.split('\n').filter((line) => {
      if (!FRAME.test(line)) inARow = 0
      else if (this.#framesIn(line, found, file).length > 0) inARow++
      else return false
      return inARow <= MOST_FRAMES
    })
    return frames.length === 0 ? text : lines.join('\n')
  }

  /** The innermost first. Only Python prints it last. */
  #framesIn(text: string, found: XmlCase, file: string | undefined): Frame[] {
    const frames = positionsIn(text).flatMap(({ path, line }) => {
      const ofFrame = this.#fileAt(path, found, file)
      return ofFrame === undefined ? [] : { file: ofFrame, line }
    })
    return frames[0]?.file.endsWith('.py') ? frames.toReversed() : frames
  }

  /**
   * If a report names no file, a frame may be in a helper. The file of the test has its name in it, or has the outermost frame. Some
   * languages print one place and no stack. Then only the name says whose place it is.
   */
  #fileOfFrames(frames: readonly Frame[], { attributes: { name, classname } }: XmlCase): string | undefined {
    // Not a test failed, but a file or a suite.
    if (!name && !classname) return frames[0]?.file
    const files = frames.map(({ file }) => file).toReversed()
    const own = nameInSource(name ?? '')
    // In CTest and Meson, the test is a program.
    const isOwn = (file: string) => WITH_STACK.test(file) || /\bmain\s*\(/.test(this.#source.read(file))
    return files.find((file) => this.#source.read(file).includes(own)) ?? files.find(isOwn)
  }

  /** In Go, the name is a function of a file of the package. A test of a test has the name of the outer one first. */
  #testOfGo({ attributes: { name = '', classname = '' }, suites }: XmlCase): Frame | undefined {
    const called = /^Test\w*|^Fuzz\w*|^Example\w*/.exec(name)?.[0]
    const folder = called && this.#folderOfGo(packageOfGo(classname, suites))
    if (!folder) return undefined
    if (!this.#testsOfGo.has(folder)) this.#testsOfGo.set(folder, this.#findTestsOfGo(folder))
    return this.#testsOfGo.get(folder)?.get(called)
  }

  #findTestsOfGo(folder: string): Map<string, Frame> {
    const files = readdirSync(folder).filter((file) => file.endsWith('_test.go'))
    const found = files.flatMap((name) => {
      const file = join(folder, name)
      const lines = this.#source.read(file).split('\n')
      return lines.flatMap((line, index): [string, Frame][] => {
        const [, called] = /^func (\w+)\(/.exec(line) ?? []
        return called === undefined ? [] : [[called, { file, line: index + 1 }]]
      })
    })
    return new Map(found)
  }

  #fileAt(path: string, { attributes, suites }: XmlCase, own: string | undefined): string | undefined {
    if (/node_modules|site-packages/.test(path)) return undefined
    if (path.includes('/')) return this.resolveFile(path)
    if (path.endsWith('.go')) return this.#fileOfGo(path, packageOfGo(attributes.classname ?? '', suites))
    if (!OF_JVM.includes(extname(path))) return this.resolveFile(path)
    return own?.endsWith(`/${path}`) ? own : this.#source.findEnding(path)
  }

  /** A position of Go has only the name of the file. */
  #fileOfGo(name: string, ofPackage: string): string | undefined {
    const file = join(this.#folderOfGo(ofPackage) ?? '', name)
    if (this.#source.isFile(file)) return file
    return this.#source.findEnding(`${ofPackage}/${name}`) ?? this.#source.findEnding(name)
  }

  /** The folder of a package, by its import path. */
  #folderOfGo(ofPackage: string): string | undefined {
    const listed = this.#source.named('go.mod')
    for (const folder of [...this.#bases, ...listed.map(dirname)]) {
      const [, module] = /^module\s+"?([^\s"]+)/m.exec(this.#source.read(join(folder, 'go.mod'))) ?? []
      if (module === undefined || !`${ofPackage}/`.startsWith(`${module}/`)) continue
      const found = resolve(folder, `.${ofPackage.slice(module.length)}`)
      if (isInside(found, this.#source.repository.root) && statSync(found, { throwIfNoEntry: false })?.isDirectory())
        return found
    }
    return undefined
  }
}

/** Some tools for Go have only the end of the package as the class. */
function packageOfGo(classname: string, suites: readonly string[]): string {
  const suite = suites.at(-1) ?? ''
  return suite.endsWith(`/${classname}`) ? suite : classname || suite
}

/** The name of a test as its source may have it: without its modules and without its parameters. */
function nameInSource(name: string): string {
  const [plain = ''] = name.split(/[[(/]/)
  return plain.split('::').at(-1)?.trim() || name
}
