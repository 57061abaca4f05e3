import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path'
import { foldersBetween } from '../machine/files.ts'
import type { XmlCase } from './junit-xml.ts'
import { SHOWN_FRAMES } from './report.ts'
import { remember, type SourceFiles } from './source-files.ts'

// Where a test of a JUnit report is. A place that is not in one file of the repository is left out.

interface Frame {
  readonly file: string
  readonly line: number
}

/** What a report says about a test beside the reason. The title and the file must not depend on the reason. */
interface Test {
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** The class of the test, without what names the file. */
  readonly rest: string
}

/** Languages that print a stack. */
const WITH_STACK = /\.(?:[cm]?[jt]sx?|py|rb|php|cs|fs|vb|java|kt|groovy|scala|exs?)$/
const OF_NET = /\.(?:cs|fs|vb)$/
const OF_JVM = /\.(?:java|kt|groovy|scala)$/
/** A path ends before a comma and before a quote. Otherwise, in a long list without spaces, each path would be tried up to the end of the list. */
const PATH = String.raw`(?:^|[\s(["'])(?:file:\/\/)?(?<path>[/@.\p{L}\w][^\s():"',]*\.\w+)`
const POSITIONS: readonly RegExp[] = [
  // Most tools: `cart.js:7`. .NET, in any language: `Cart.cs:line 7`.
  new RegExp(String.raw`${PATH}:(?:\p{L}+ )?(?<line>\d+)\b`, 'gu'),
  // C++: `cart.cc(7)`. Babel: `cart.js: Unexpected token (7:0)`.
  new RegExp(String.raw`${PATH}(?:\(|: .+?\((?=\d+:\d+\)))(?<line>\d+)\b`, 'gu'),
  // Python: `File "cart.py", line 7`. Bats: `in test file cart.bats, line 7`.
  /\b[Ff]ile ["']?(?<path>[^"',]+)["']?, line (?<line>\d+)/g,
]

/** A frame in a stack of JavaScript, .NET and the JVM. The JVM leaves out frames that the stack of the cause repeats. */
const FRAME = /^\s+(?:at |\.\.\. \d+ more$)/

export class Places {
  readonly #source: SourceFiles
  /** The folder of the report, the folders above it, the project's folder and the root. */
  readonly #bases: readonly string[]

  constructor(source: SourceFiles, reportPath: string) {
    const { folder, root } = source.repository
    this.#source = source
    this.#bases = [...new Set([...foldersBetween({ folder: dirname(reportPath), root }), folder, root])]
  }

  /** A relative path may start in each of the folders. */
  resolveFile(path: string): string | undefined {
    const files = isAbsolute(path) ? [path] : this.#bases.map((base) => resolve(base, path))
    return files.find((file) => this.#source.isFile(file))
  }

  /** By the attributes, else by the class, else by the line of a file that declares the test. */
  testOf(found: XmlCase): Test {
    const { name = '', classname = '', line, lineno } = found.attributes
    // If Node cannot load a file, the path is the name. ExUnit has the line behind the file, as in `cart_test.exs:7`.
    const path = /^(?:file:\/\/)?(.*?)(?::(\d+))?$/s.exec(found.file || (isAbsolute(name) ? name : '')) ?? []
    const given = this.resolveFile(path[1] ?? '')
    const className = classname.trim()
    const isPytest = found.suites.at(-1) === 'pytest'
    // If pytest cannot load a file, the name is the module, and there is no class.
    const ofClass = this.#ofClass(className || (isPytest ? name : ''), given ? extname(given) : '.py', isPytest)
    const file = given ?? ofClass.file
    const declared = file === undefined ? this.#declarationOf(found) : undefined
    return {
      file: file ?? declared?.file,
      // Minitest has `lineno`.
      line: declared?.line ?? lineIn(line ?? lineno ?? path[2], isPytest),
      rest: className && (file === ofClass.file ? ofClass.rest : className),
    }
  }

  readonly #ofClass = remember((name: string, ending: string, isPytest: boolean): Test => {
    const tests = pathsOf(name, ending, isPytest).map(({ path, rest }) => ({ file: this.resolveFile(path), rest }))
    return tests.find(({ file }) => file !== undefined) ?? { file: this.#fileOfQualifiedClass(name), rest: name }
  })

  /** A class of the JVM or of .NET, such as `shop.CartTest` or `shop.CartTest$Inner`. */
  #fileOfQualifiedClass(name: string): string | undefined {
    if (!/^[\p{L}\w$]+(?:\.[\p{L}\w$]+)+$/u.test(name)) return undefined
    const path = name.replace(/\$.*/, '').replaceAll('.', '/')
    // In .NET, the folders need not be those of the namespace.
    const isOfClass = (file: string) => OF_NET.test(file) || (OF_JVM.test(file) && file.includes(`/${path}.`))
    return onlyOne(this.#source.withStem(basename(path)).filter(isOfClass))
  }

  /** Go and cucumber-js name no file. */
  #declarationOf(found: XmlCase): Frame | undefined {
    const { name = '', classname = '' } = found.attributes
    const isScenario = found.suites.at(-1) === 'Cucumber'
    // A row of an outline is, for example, `counts <n> - #1.1: counts 0`. A test of a test in Go is, for example, `TestPay/twice`.
    const declared = isScenario ? name.replace(/ - #\d.*/s, '') : name.replace(/\/.*/s, '')
    const files = isScenario ? this.#filesOfFeature(classname) : this.#testsOfPackage(importPathOf(found))
    for (const file of files) {
      const line = this.#source.declaredIn(file).get(declared)
      if (line !== undefined) return { file, line }
    }
    return undefined
  }

  readonly #filesOfFeature = remember((title: string) =>
    this.#source.endingWith('.feature').filter((file) => [...this.#source.declaredIn(file).keys()][0] === title),
  )

  readonly #testsOfPackage = remember((importPath: string) => {
    const folder = this.#folderOfPackage(importPath)
    return folder === undefined ? [] : this.#source.endingWith('_test.go').filter((file) => dirname(file) === folder)
  })

  /** A module of Go may be in one of the folders, or anywhere in the repository. */
  readonly #folderOfPackage = remember((importPath: string) => {
    for (const folder of [...this.#bases, ...this.#source.named('go.mod').map(dirname)]) {
      const [, module] = /^module\s+"?([^\s"]+)/m.exec(this.#source.read(join(folder, 'go.mod'))) ?? []
      if (`${importPath}/`.startsWith(`${module}/`)) return join(folder, importPath.slice(module?.length))
    }
    return undefined
  })

  /**
   * The file is that of the test, whatever its result. The line is that of the innermost frame in it, else that of the test. The reason
   * has only the frames in the repository, the innermost first, but all of them if none is there.
   */
  failureOf(found: XmlCase, test: Test, text: string) {
    const lines = text.split('\n').map((line) => ({ line, frames: this.#framesIn(line, found, test.file) }))
    const frames = lines.flatMap((line) => line.frames)
    // Only Python prints the innermost frame last.
    const isPython = frames[0]?.file.endsWith('.py') === true
    if (isPython) frames.reverse()
    const file = test.file ?? this.#fileOfFrames(frames, found)
    const line = frames.find((frame) => frame.file === file)?.line ?? test.line
    if (frames.length === 0) return { file, line, reason: text }
    return { file, line, reason: isPython ? this.#withFramesBehind(text, frames) : withOwnFrames(lines) }
  }

  /** pytest prints the source between the frames. So the frames are repeated behind it, unless there is only one. */
  #withFramesBehind(text: string, frames: readonly Frame[]): string {
    const { root } = this.#source.repository
    const places = new Set(frames.map(({ file, line }) => `at ${relative(root, file)}:${line}`))
    return places.size === 1 ? text : [text, ...[...places].slice(0, SHOWN_FRAMES)].join('\n')
  }

  #framesIn(line: string, found: XmlCase, file: string | undefined): Frame[] {
    const positions = POSITIONS.flatMap((pattern) => [...line.matchAll(pattern)])
    return positions.flatMap(({ groups = {} }) => {
      const frameFile = this.#fileAt(groups.path ?? '', found, file)
      return frameFile === undefined ? [] : { file: frameFile, line: Number(groups.line) }
    })
  }

  /** A path in a stack. Go and the JVM print only the name of the file. */
  #fileAt(path: string, found: XmlCase, own: string | undefined): string | undefined {
    if (path.includes('/') || !(OF_JVM.test(path) || path.endsWith('.go'))) return this.resolveFile(path)
    const folder = own === undefined ? this.#folderOfPackage(importPathOf(found)) : dirname(own)
    const beside = folder === undefined ? path : join(folder, path)
    return this.#source.isFile(beside) ? beside : onlyOne(this.#source.named(path))
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
}

/** Undefined if the report names no line. In pytest, lines count from 0. */
function lineIn(given: string | undefined, isPytest: boolean): number | undefined {
  const line = Number(given)
  if (Number.isNaN(line)) return undefined
  return isPytest ? line + 1 : line
}

/** The files that a class may name. Without a folder, a single word is a module only in pytest. */
function pathsOf(name: string, ending: string, isPytest: boolean) {
  // For example `tests/cart.test.js`, `tests/cart` or `cart.js`.
  const paths = name.includes('/') ? [name, name + ending] : name.includes('.') ? [name] : []
  // For example `tests.test_cart` or `tests.test_cart.TestCart`.
  const parts = name.split('.')
  const modules = parts.map((_, index) => ({
    path: parts.slice(0, index + 1).join('/') + ending,
    rest: parts.slice(index + 1).join('.'),
  }))
  return [...paths.map((path) => ({ path, rest: '' })), ...modules.slice(isPytest ? 0 : 1).reverse()]
}

function onlyOne(files: readonly string[]): string | undefined {
  return files.length === 1 ? files[0] : undefined
}

function withOwnFrames(lines: readonly { readonly line: string; readonly frames: readonly Frame[] }[]): string {
  let inARow = 0
  const kept = lines.filter(({ line, frames }) => {
    if (!FRAME.test(line)) inARow = 0
    else if (frames.length > 0) inARow++
    else return false
    return inARow <= SHOWN_FRAMES
  })
  return kept.map(({ line }) => line).join('\n')
}

/** Some tools have only the end of the package of Go as the class, and the whole package as the suite. */
function importPathOf({ attributes: { classname = '' }, suites }: XmlCase): string {
  const suite = suites.at(-1) ?? ''
  return suite.endsWith(`/${classname}`) ? suite : classname || suite
}

/** The name of a test as its source may have it: without its modules and without its parameters. */
function nameInSource(name: string): string {
  const [plain = ''] = name.split(/[[(/]/)
  return plain.split('::').at(-1)?.trim() || name
}
