import { basename, dirname, extname, isAbsolute, relative, resolve } from 'node:path'
import { foldersBetween } from '../machine/files.ts'
import type { Place } from '../reporters/report-writer.ts'
import type { XmlElement } from './junit-xml.ts'
import { SHOWN_FRAMES } from './report.ts'
import type { SourceFiles } from './source-files.ts'

// Where a test of a JUnit report is. A place that is not in one file of the repository is left out.

/** Where a test is. It does not depend on the reason of a failure, so the test has the same title and the same file in each run. */
export interface PlaceOfTest {
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** The class, without what names the file. */
  readonly titleOfClass: string
}

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

  #resolveFile(path: string, fileOfTest = ''): string | undefined {
    const named = this.#source.named(basename(path))
    // Most names of classes are no path. Then there is no need to look in each folder.
    if (named.length === 0) return undefined
    // Without a folder, it is the file beside the test, or the only file with this name.
    if (!path.includes('/') && WITHOUT_FOLDER.includes(extname(path)))
      return named.find((file) => dirname(file) === dirname(fileOfTest)) ?? onlyOne(named)
    return this.#bases.map((base) => resolve(base, path)).find((file) => this.#source.isOwnFile(file))
  }

  placeOf(found: XmlElement): PlaceOfTest {
    const place = this.#byAttributes(found) ?? this.#byClass(found) ?? this.#byDeclaration(found)
    return place ?? { titleOfClass: classOf(found) }
  }

  #byAttributes(found: XmlElement): PlaceOfTest | undefined {
    const { path, line } = givenPlace(found)
    const file = this.#resolveFile(path)
    if (file === undefined) return undefined
    // The class may name the same file.
    const ofClass = this.#fileOfClass(found, extname(file))
    return { file, line, titleOfClass: ofClass?.file === file ? ofClass.titleOfClass : classOf(found) }
  }

  #byClass(found: XmlElement): PlaceOfTest | undefined {
    // Only Python names a module without the ending of its file.
    const ofClass = this.#fileOfClass(found, '.py')
    return ofClass && { ...ofClass, line: givenPlace(found).line }
  }

  /** Finds the file that a class names. */
  #fileOfClass(found: XmlElement, ending: string) {
    const name = classOf(found)
    // For example `tests/cart.test.js`, `tests/cart` or `cart.js`.
    const paths = name.includes('/') ? [name, name + ending] : name.includes('.') ? [name] : []
    for (const path of paths) {
      const file = this.#resolveFile(path)
      if (file !== undefined) return { file, titleOfClass: '' }
    }
    // For example `tests.test_cart` or `tests.test_cart.TestCart`. Only in pytest, a single word is a module, such as `test_cart`.
    const words = name.split('.')
    const fewestWords = isOfPytest(found) ? 1 : 2
    for (let count = words.length; count >= fewestWords; count--) {
      const file = this.#resolveFile(words.slice(0, count).join('/') + ending)
      if (file !== undefined) return { file, titleOfClass: words.slice(count).join('.') }
    }
    const file = this.#fileOfQualifiedClass(name)
    return file === undefined ? undefined : { file, titleOfClass: name }
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

  /** Go and cucumber-js name no file. The file is the one that declares the test. */
  #byDeclaration(found: XmlElement): PlaceOfTest | undefined {
    const declared = this.#declarationOf(found)
    return declared && { ...declared, titleOfClass: classOf(found) }
  }

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
   * `file` is the test's file, whatever its result. `line` is the line of the innermost frame in this file. If no frame is in it, `line` is the
   * test's line. `reason` is the text, which is changed only if a frame is in the repository:
   * 1. For Python, these frames are repeated at the end.
   * 2. For every other language, the frames outside the repository are removed.
   */
  failureOf(found: XmlElement, test: PlaceOfTest, text: string) {
    const lines = text.split('\n').map((line) => ({ line, frames: this.#framesIn(line, test.file) }))
    const printed = lines.flatMap((line) => line.frames)
    // Only Python prints the innermost frame last.
    const isPython = printed[0]?.file.endsWith('.py') === true
    const frames = isPython ? printed.toReversed() : printed
    const file = test.file ?? this.#fileOfFrames(frames, found)
    const line = frames.find((frame) => frame.file === file)?.line ?? test.line
    if (frames.length === 0) return { file, line, reason: text }
    return { file, line, reason: isPython ? this.#withFramesBehind(text, frames) : withOwnFrames(lines) }
  }

  #framesIn(line: string, fileOfTest: string | undefined): Place[] {
    const positions = POSITIONS.flatMap((pattern) => [...line.matchAll(pattern)])
    return positions.flatMap(({ groups = {} }) => {
      const file = this.#resolveFile(groups.path ?? '', fileOfTest)
      return file === undefined ? [] : { file, line: Number(groups.line) }
    })
  }

  /**
   * The file of the test, if neither the report nor the class names it. A frame may be in a helper, so the outermost frames come first:
   * 1. The first file whose source has the name of the test.
   * 2. The first file in a language that prints whole stacks, because its outermost frame is the test. Or the first file with a main function,
   *    because in CTest and Meson the test is a program.
   * 3. No file. C++ and Go print only one place, and it may be in a helper.
   */
  #fileOfFrames(frames: readonly Place[], { attributes: { name = '', classname } }: XmlElement): string | undefined {
    // Not a test failed, but a file or a suite.
    if (!name && !classname) return frames[0]?.file
    const files = frames.map(({ file }) => file).toReversed()
    // The source has the name without its modules and without its parameters.
    const nameInSource = name
      .replace(/[[(/].*/s, '')
      .replace(/^.*::/s, '')
      .trim()
    const isFileOfTest = (file: string) => WITH_STACK.test(file) || /\bmain\s*\(/.test(this.#source.read(file))
    return files.find((file) => this.#source.read(file).includes(nameInSource)) ?? files.find(isFileOfTest)
  }

  /** pytest prints the source between the frames. So the frames are repeated behind it, unless there is only one. */
  #withFramesBehind(text: string, frames: readonly Place[]): string {
    const places = new Set(frames.map(({ file, line }) => `at ${relative(this.#source.root, file)}:${line}`))
    return places.size === 1 ? text : [text, ...[...places].slice(0, SHOWN_FRAMES)].join('\n')
  }
}

const classOf = ({ attributes: { classname = '' } }: XmlElement) => classname.trim()

const isOfPytest = ({ suites }: XmlElement) => suites.at(-1) === 'pytest'

/** The path and the line that the attributes name. */
function givenPlace(found: XmlElement) {
  const { name = '', line, lineno } = found.attributes
  // If Node cannot load a file, the path is the name. ExUnit has the line behind the file, as in `cart_test.exs:7`.
  const given = found.file || (isAbsolute(name) ? name : '')
  const [, path = '', lineOfPath] = /^(?:file:\/\/)?(.*?)(?::(\d+))?$/s.exec(given) ?? []
  // Minitest has `lineno`.
  const counted = line ?? lineno ?? lineOfPath
  if (counted === undefined) return { path }
  // In pytest, lines count from 0.
  return { path, line: Number(counted) + (isOfPytest(found) ? 1 : 0) }
}

function onlyOne(files: readonly string[]): string | undefined {
  return files.length === 1 ? files[0] : undefined
}

/** Removes the frames outside the repository. Of each stack, at most SHOWN_FRAMES stay. A line that is no frame begins a new stack. */
function withOwnFrames(lines: readonly { readonly line: string; readonly frames: readonly Place[] }[]): string {
  let framesOfStack = 0
  const kept = lines.filter(({ line, frames }) => {
    if (!FRAME.test(line)) framesOfStack = 0
    else if (frames.length > 0) framesOfStack++
    else return false
    return framesOfStack <= SHOWN_FRAMES
  })
  return kept.map(({ line }) => line).join('\n')
}
