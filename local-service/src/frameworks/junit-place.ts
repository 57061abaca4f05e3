import { basename, dirname, extname, isAbsolute, relative, resolve } from 'node:path'
import { foldersBetween, isInside } from '../machine/files.ts'
import type { Failure } from '../reporters/report-writer.ts'
import { Scenarios } from './junit-place-cucumber.ts'
import { type Frame, GoTests } from './junit-place-go.ts'
import type { XmlCase } from './junit-xml.ts'
import type { SourceFiles } from './source-files.ts'

// Where a test of a JUnit report is. A place that is not in one existing file of the repository is left out.

interface FileAndRest {
  readonly file?: string | undefined
  /** The class of the test, without what names the file. */
  readonly rest: string
}

/** Languages that print a stack. */
const WITH_STACK = /\.(?:[cm]?[jt]sx?|py|rb|php|cs|fs|vb|java|kt|groovy|scala|exs?)$/
const OF_NET = ['.cs', '.fs', '.vb']
const OF_JVM = ['.java', '.kt', '.groovy', '.scala']
/** A path ends before a comma and before a quote. Otherwise, in a long list without spaces, each path would be tried up to the end of the list. */
const PATH = String.raw`(?:^|[\s(["'])(?:file:\/\/)?(?<path>[/@.\p{L}\w][^\s():"',]*\.\w+)`
/** Most tools: `cart.js:7`. .NET, in any language: `Cart.cs:line 7`. */
const BEHIND_COLON = new RegExp(String.raw`${PATH}:(?:\p{L}+ )?(?<line>\d+)\b`, 'gmu')
/** C++: `cart.cc(7)`. Babel: `cart.js: Unexpected token (7:0)`. */
const IN_PARENTHESES = new RegExp(String.raw`${PATH}(?:\(|: .+?\((?=\d+:\d+\)))(?<line>\d+)\b`, 'gmu')
/** Python: `File "cart.py", line 7`. Bats: `in test file cart.bats, line 7`. */
const IN_WORDS = /\b[Ff]ile ["']?(?<path>[^"',\n]+)["']?, line (?<line>\d+)/gm

/** The places that a text names, in their order. */
function positionsIn(text: string) {
  const found = [BEHIND_COLON, IN_PARENTHESES, IN_WORDS].flatMap((pattern) => [...text.matchAll(pattern)])
  const inOrder = found.sort((one, other) => one.index - other.index)
  return inOrder.map(({ groups: { path = '', line = '' } = {} }) => ({ path, line: Number(line) }))
}

/** A frame in a stack of JavaScript, .NET and the JVM. The JVM leaves out frames that the stack of the cause repeats. */
const FRAME = /^\s+(?:at |\.\.\. \d+ more$)/
const MOST_FRAMES = 5
/** ExUnit has the line behind the file, as in `cart_test.exs:7`. */
const LINE = /:(\d+)$/

export class Places {
  readonly #source: SourceFiles
  /** The folder of the report, the folders above it, the project's folder and the root. */
  readonly #bases: readonly string[]
  readonly #resolved = new Map<string, string | undefined>()
  /** Many tests have the same class. */
  readonly #classes = new Map<string, FileAndRest>()
  readonly #go: GoTests
  readonly #scenarios: Scenarios

  constructor(source: SourceFiles, report: string) {
    const [{ folder, root }, reportFolder] = [source.repository, dirname(report)]
    const above = isInside(reportFolder, folder)
      ? foldersBetween({ folder: reportFolder, root: folder })
      : [reportFolder]
    this.#source = source
    this.#bases = [...new Set([...above, folder, root])]
    this.#go = new GoTests(source, this.#bases)
    this.#scenarios = new Scenarios(source)
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
  fileOf(found: XmlCase): FileAndRest {
    const { name = '', classname = '' } = found.attributes
    // If Node cannot load a file, the path is the name.
    const path = found.file || (isAbsolute(name) ? name : '')
    const file = this.resolveFile(path.replace(/^file:\/\//, '').replace(LINE, ''))
    const className = classname.trim()
    if (className === '') return { file: file ?? this.#fileOfBrokenModule(found), rest: '' }
    const byClass = this.#fileOfClass(className, file === undefined ? '.py' : extname(file), isOfPytest(found))
    return file === undefined || file === byClass.file ? byClass : { file, rest: className }
  }

  /** If pytest cannot load a file, the name is the module, and there is no class. */
  #fileOfBrokenModule(found: XmlCase): string | undefined {
    return isOfPytest(found) ? this.#fileOfClass(found.attributes.name ?? '', '.py', true).file : undefined
  }

  #fileOfClass(name: string, ending: string, isPytest: boolean): FileAndRest {
    const key = JSON.stringify([name, ending, isPytest])
    const found = this.#classes.get(key) ?? this.#findFileOfClass(name, ending, isPytest)
    this.#classes.set(key, found)
    return found
  }

  #findFileOfClass(name: string, ending: string, isPytest: boolean): FileAndRest {
    const file = this.#fileOfPath(name, ending)
    if (file !== undefined) return { file, rest: '' }
    return this.#fileOfModule(name, ending, isPytest) ?? { file: this.#fileOfQualifiedClass(name), rest: name }
  }

  /** A class such as `tests/cart.test.js`, `tests/cart` or `cart.js`. */
  #fileOfPath(name: string, ending: string): string | undefined {
    const paths = name.includes('/') ? [name, name + ending] : name.includes('.') ? [name] : []
    return paths.map((path) => this.resolveFile(path)).find((file) => file !== undefined)
  }

  /** A class such as `tests.test_cart` or `tests.test_cart.TestCart`. A single word is a module only in pytest. */
  #fileOfModule(name: string, ending: string, isPytest: boolean): FileAndRest | undefined {
    const parts = name.trim().split('.')
    for (let count = parts.length; count > (isPytest ? 0 : 1); count--) {
      const file = this.resolveFile(parts.slice(0, count).join('/') + ending)
      if (file !== undefined) return { file, rest: parts.slice(count).join('.') }
    }
    return undefined
  }

  /** A class of the JVM or of .NET, such as `shop.CartTest` or `shop.CartTest$Inner`. */
  #fileOfQualifiedClass(name: string): string | undefined {
    if (!/^[\p{L}\w$]+(?:\.[\p{L}\w$]+)+$/u.test(name)) return undefined
    const path = name.replace(/\$.*/, '').replaceAll('.', '/')
    // In .NET, the folders need not be those of the namespace.
    const paths = [...OF_JVM.map((ending) => path + ending), ...OF_NET.map((ending) => basename(path) + ending)]
    const files = paths.map((one) => this.#source.findEnding(one)).filter((file) => file !== undefined)
    return files.length === 1 ? files[0] : undefined
  }

  /** The file is that of the test, whatever its result. The line is that of the innermost frame in it, else that of the test. */
  placeOf(found: XmlCase, reportedFile: string | undefined, text: string): Pick<Failure, 'file' | 'line'> {
    const frames = this.#framesIn(text, found, reportedFile)
    const ofSource = reportedFile === undefined ? (this.#scenarios.testOf(found) ?? this.#go.testOf(found)) : undefined
    const file = reportedFile ?? ofSource?.file ?? this.#fileOfFrames(frames, found)
    const inFile = frames.find((frame) => frame.file === file)
    return { file, line: inFile?.line ?? ofSource?.line ?? lineOf(found) }
  }

  /** A reason whose stack has only frames in the repository, the innermost first. Nothing goes if none of its frames is there. */
  withOwnFrames(text: string, found: XmlCase, file: string | undefined): string {
    const frames = this.#framesIn(text, found, file)
    if (frames.length === 0) return text
    if (isOfPython(frames)) return this.#withFramesBehind(text, frames)
    let inARow = 0
    const lines = text.split('\n').filter((line) => {
      if (!FRAME.test(line)) inARow = 0
      else if (this.#framesIn(line, found, file).length > 0) inARow++
      else return false
      return inARow <= MOST_FRAMES
    })
    return lines.join('\n')
  }

  /** pytest prints the source between the frames. So the frames are repeated behind it, unless there is only one. */
  #withFramesBehind(text: string, frames: readonly Frame[]): string {
    const { root } = this.#source.repository
    const places = new Set(frames.map(({ file, line }) => `at ${relative(root, file)}:${line}`))
    return places.size === 1 ? text : [text, ...[...places].slice(0, MOST_FRAMES)].join('\n')
  }

  /** The innermost first. Only Python prints it last. */
  #framesIn(text: string, found: XmlCase, file: string | undefined): Frame[] {
    if (text === '') return []
    const frames = positionsIn(text).flatMap(({ path, line }) => {
      const frameFile = this.#fileAt(path, found, file)
      return frameFile === undefined ? [] : { file: frameFile, line }
    })
    return isOfPython(frames) ? frames.toReversed() : frames
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

  #fileAt(path: string, found: XmlCase, own: string | undefined): string | undefined {
    if (/node_modules|site-packages/.test(path)) return undefined
    if (path.includes('/')) return this.resolveFile(path)
    if (path.endsWith('.go')) return this.#go.findFile(path, found)
    if (!OF_JVM.includes(extname(path))) return this.resolveFile(path)
    return own?.endsWith(`/${path}`) ? own : this.#source.findEnding(path)
  }
}

/** In pytest, classes are modules, and lines count from 0. */
function isOfPytest({ suites }: XmlCase): boolean {
  return suites.at(-1) === 'pytest'
}

function isOfPython([first]: readonly Frame[]): boolean {
  return first?.file.endsWith('.py') === true
}

/** Where the test begins. Minitest has `lineno`, and ExUnit has the line behind the file. */
function lineOf(found: XmlCase): number {
  const { line, lineno } = found.attributes
  return Number(line ?? lineno ?? LINE.exec(found.file)?.[1]) + (isOfPytest(found) ? 1 : 0)
}

/** The name of a test as its source may have it: without its modules and without its parameters. */
function nameInSource(name: string): string {
  const [plain = ''] = name.split(/[[(/]/)
  return plain.split('::').at(-1)?.trim() || name
}
