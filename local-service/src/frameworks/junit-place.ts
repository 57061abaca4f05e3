import { basename, dirname, extname, isAbsolute, relative, resolve } from 'node:path'
import { foldersBetween } from '../machine/files.ts'
import type { Place } from '../reporters/report-writer.ts'
import type { XmlElement } from './junit-xml.ts'
import { SHOWN_FRAMES } from './report.ts'
import type { SourceFiles } from './source-files.ts'

// Where a test of a JUnit report is. A place that is not in one file of the repository is left out.

/** What a report says about a test beside the reason. The title and the file must not depend on the reason. */
export type Test = ReturnType<Places['testOf']>

/** Languages that print a stack. */
const WITH_STACK = /\.(?:[cm]?[jt]sx?|py|rb|php|cs|fs|vb|java|kt|groovy|scala|exs?)$/
const OF_NET = ['.cs', '.fs', '.vb']
const OF_JVM = ['.java', '.kt', '.groovy', '.scala']
/** Go and the JVM print the name of a file without its folder. */
const WITHOUT_FOLDER = [...OF_JVM, '.go']
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
  /** A relative path may start in each of these folders. */
  readonly #bases: readonly string[]

  constructor(source: SourceFiles, reportPath: string) {
    const { folder, root } = source
    this.#source = source
    this.#bases = [...foldersBetween({ folder: dirname(reportPath), root }), ...foldersBetween({ folder, root })]
  }

  #resolveFile(path: string, test = ''): string | undefined {
    const named = this.#source.named(basename(path))
    // Most names of classes are no path. Then there is no need to look in each folder.
    if (named.length === 0) return undefined
    // Without a folder, it is the file beside the test, or the only file with this name.
    if (!path.includes('/') && WITHOUT_FOLDER.includes(extname(path)))
      return named.find((file) => dirname(file) === dirname(test)) ?? onlyOne(named)
    return this.#bases.map((base) => resolve(base, path)).find((file) => this.#source.isOwnFile(file))
  }

  /** By the attributes, else by the class, else by the line of a file that declares the test. */
  testOf(found: XmlElement) {
    const { name = '', classname = '', line, lineno } = found.attributes
    const isPytest = found.suites.at(-1) === 'pytest'
    // If Node cannot load a file, the path is the name. ExUnit has the line behind the file, as in `cart_test.exs:7`.
    const given = found.file || (isAbsolute(name) ? name : '')
    const [, path = '', lineOfPath] = /^(?:file:\/\/)?(.*?)(?::(\d+))?$/s.exec(given) ?? []
    const givenFile = this.#resolveFile(path)
    const ofClass = this.#ofClass(classname.trim(), givenFile ? extname(givenFile) : '.py', isPytest)
    const file = givenFile ?? ofClass.file
    const declared = file === undefined ? this.#declarationOf(found) : undefined
    return {
      file: file ?? declared?.file,
      // Minitest has `lineno`. In pytest, lines count from 0.
      line: declared?.line ?? Number(line ?? lineno ?? lineOfPath) + (isPytest ? 1 : 0),
      /** The class, without what names the file. */
      rest: file === ofClass.file ? ofClass.rest : classname.trim(),
    }
  }

  /** Finds the file that a class names. `rest` is what is left of the class. */
  #ofClass(name: string, ending: string, isPytest: boolean) {
    // For example `tests/cart.test.js`, `tests/cart` or `cart.js`.
    const paths = name.includes('/') ? [name, name + ending] : name.includes('.') ? [name] : []
    const files = paths.map((path) => ({ file: this.#resolveFile(path), rest: '' }))
    // For example `tests.test_cart` or `tests.test_cart.TestCart`. Without a folder, a single word is a module only in pytest.
    const words = name.split('.')
    for (let count = words.length; count > (isPytest ? 0 : 1); count--) {
      const path = words.slice(0, count).join('/') + ending
      files.push({ file: this.#resolveFile(path), rest: words.slice(count).join('.') })
    }
    return files.find(({ file }) => file !== undefined) ?? { file: this.#fileOfQualifiedClass(name), rest: name }
  }

  /** A class of the JVM or of .NET, such as `shop.CartTest` or `shop.CartTest$Inner`. */
  #fileOfQualifiedClass(name: string): string | undefined {
    if (!name.includes('.')) return undefined
    const path = name.replace(/\$.*/, '').replaceAll('.', '/')
    const innermost = basename(path)
    const withEnding = (ending: string) => this.#source.named(innermost + ending)
    const ofJvm = OF_JVM.flatMap(withEnding).filter((file) => file.includes(`/${path}.`))
    // In .NET, the folders need not be those of the namespace.
    return onlyOne([...ofJvm, ...OF_NET.flatMap(withEnding)])
  }

  /** Go and cucumber-js name no file. */
  #declarationOf({ attributes: { name = '', classname = '' }, suites }: XmlElement): Place | undefined {
    const suite = suites.at(-1) ?? ''
    // A row of an outline is, for example, `counts <n> - #1.1: counts 0`.
    if (suite === 'Cucumber') return this.#source.declaration('.feature', classname, name.replace(/ - #\d.*/s, ''))
    // Some tools have only the end of the package of Go as the class, and the whole package as the suite.
    const importPath = suite.endsWith(`/${classname}`) ? suite : classname
    // A test of a test in Go is, for example, `TestPay/twice`.
    return this.#source.declaration('_test.go', importPath, name.replace(/\/.*/s, ''))
  }

  /**
   * The file is that of the test, whatever its result. The line is that of the innermost frame in it, else that of the test. The reason
   * has only the frames in the repository, the innermost first, but all of them if none is there.
   */
  failureOf(found: XmlElement, test: Test, text: string) {
    const lines = text.split('\n').map((line) => ({ line, frames: this.#framesIn(line, test.file) }))
    const frames = lines.flatMap((line) => line.frames)
    // Only Python prints the innermost frame last.
    const isPython = frames[0]?.file.endsWith('.py') === true
    if (isPython) frames.reverse()
    const file = test.file ?? this.#fileOfFrames(frames, found)
    const line = frames.find((frame) => frame.file === file)?.line ?? test.line
    if (frames.length === 0) return { file, line, reason: text }
    return { file, line, reason: isPython ? this.#withFramesBehind(text, frames) : withOwnFrames(lines) }
  }

  #framesIn(line: string, test: string | undefined): Place[] {
    const positions = POSITIONS.flatMap((pattern) => [...line.matchAll(pattern)])
    return positions.flatMap(({ groups = {} }) => {
      const file = this.#resolveFile(groups.path ?? '', test)
      return file === undefined ? [] : { file, line: Number(groups.line) }
    })
  }

  /**
   * If a report names no file, a frame may be in a helper. The file of the test has its name in it, or has the outermost frame. Some
   * languages print one place and no stack. Then only the name says whose place it is.
   */
  #fileOfFrames(frames: readonly Place[], { attributes: { name = '', classname } }: XmlElement): string | undefined {
    // Not a test failed, but a file or a suite.
    if (!name && !classname) return frames[0]?.file
    const files = frames.map(({ file }) => file).toReversed()
    // The source has the name without its modules and without its parameters.
    const own = name
      .replace(/[[(/].*/s, '')
      .replace(/^.*::/s, '')
      .trim()
    // In CTest and Meson, the test is a program.
    const isOwn = (file: string) => WITH_STACK.test(file) || /\bmain\s*\(/.test(this.#source.read(file))
    return files.find((file) => this.#source.read(file).includes(own)) ?? files.find(isOwn)
  }

  /** pytest prints the source between the frames. So the frames are repeated behind it, unless there is only one. */
  #withFramesBehind(text: string, frames: readonly Place[]): string {
    const places = new Set(frames.map(({ file, line }) => `at ${relative(this.#source.root, file)}:${line}`))
    return places.size === 1 ? text : [text, ...[...places].slice(0, SHOWN_FRAMES)].join('\n')
  }
}

function onlyOne(files: readonly string[]): string | undefined {
  return files.length === 1 ? files[0] : undefined
}

function withOwnFrames(lines: readonly { readonly line: string; readonly frames: readonly Place[] }[]): string {
  let inARow = 0
  const kept = lines.filter(({ line, frames }) => {
    if (!FRAME.test(line)) inARow = 0
    else if (frames.length > 0) inARow++
    else return false
    return inARow <= SHOWN_FRAMES
  })
  return kept.map(({ line }) => line).join('\n')
}
