import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path'
import { foldersBetween, isInside, type TestedFolders } from '../machine/files.ts'
import { tryGit } from '../machine/git.ts'
import type { XmlCase } from './junit-xml.ts'
import type { Fields } from './report-reader.ts'

// Where a test of a JUnit report is. A place that is not in one existing file of the repository is left out.

interface FileAndRest {
  readonly file?: string | undefined
  /** The class of the test, without what names the file. */
  readonly rest: string
}

const OF_JVM = ['.java', '.kt', '.groovy', '.scala']
/** The name of pytest's only suite. Its classes are modules, and its lines count from 0. */
const PYTEST = 'pytest'
const MOST_POSITIONS = 200
const MOST_RESOLVED = 10_000
/** `cart.js:7`, `cart.cc(7)`, `Cart.cs:line 7`, Babel's `cart.js: Unexpected token (7:0)`, and Python's `File "cart.py", line 7`. */
const POSITION =
  /(?:^|[\s(["'])(?:file:\/\/)?(?<path>[/@.\p{L}\w][^\s():]{0,300}\.\w+)(?::(?:\p{L}+ | .{1,200}?\((?=\d+:\d+\)))?|\()(?<line>\d+)\b|\b[Ff]ile ["']?(?<path>[^"'\n]{1,300}?)["']?, line (?<line>\d+)/gmu

/** Of a file, as ExUnit has it. */
const LINE = /:(\d+)$/

export class Places {
  readonly folders: TestedFolders
  readonly #files: FilesByName
  /** The folder of the report, the folders above it, the project's folder and the root. */
  readonly #bases: readonly string[]
  readonly #resolved = new Map<string, string | undefined>()

  constructor(folders: TestedFolders, report: string, files: FilesByName) {
    const [{ folder, root }, ofReport] = [folders, dirname(report)]
    const above = isInside(ofReport, folder) ? foldersBetween({ folder: ofReport, root: folder }) : [ofReport]
    this.folders = folders
    this.#files = files
    this.#bases = [...new Set([...above, folder, root])]
  }

  /** A relative path may start in each of the folders. */
  resolveFile(path: string): string | undefined {
    if (this.#resolved.size > MOST_RESOLVED) this.#resolved.clear()
    if (!this.#resolved.has(path)) {
      const files = isAbsolute(path) ? [path] : this.#bases.map((base) => resolve(base, path))
      const found = files.find((file) => this.#isFile(file))
      this.#resolved.set(path, found)
    }
    return this.#resolved.get(path)
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
    const files = OF_JVM.map((one) => this.#findEnding(ofClass + one)).filter((file) => file !== undefined)
    return { file: files.length === 1 ? files[0] : undefined, rest: name }
  }

  /** The message gives the line. It gives the file too if the report names no file, as in Go. */
  placeOf(found: XmlCase, file: string | undefined, text: string): Fields {
    const places = [...text.matchAll(POSITION)]
      .slice(0, MOST_POSITIONS)
      .map(({ groups = {} }) => ({ file: this.#fileAt(groups.path ?? '', found, file), line: Number(groups.line) }))
      .filter((place) => place.file !== undefined && place.file === (file ?? place.file))
    // The first place is the innermost, but in Python it is the last.
    const place = places.at(places[0]?.file?.endsWith('.py') ? -1 : 0)
    const { line: given, lineno = LINE.exec(found.file)?.[1] } = found.attributes
    const line = Number(given ?? lineno) + (found.suites.at(-1) === PYTEST ? 1 : 0)
    return place ?? { file, line }
  }

  #fileAt(path: string, { attributes, suites }: XmlCase, own: string | undefined): string | undefined {
    if (/node_modules|site-packages/.test(path)) return undefined
    if (path.includes('/')) return this.resolveFile(path)
    const { classname = '' } = attributes
    const suite = suites.at(-1) ?? ''
    // Some tools have only the end of the package as the class.
    if (path.endsWith('.go')) return this.#fileOfGo(path, suite.endsWith(`/${classname}`) ? suite : classname || suite)
    if (!OF_JVM.includes(extname(path))) return this.resolveFile(path)
    return own?.endsWith(`/${path}`) ? own : this.#findEnding(path)
  }

  /** In Go, the class is the package: its import path, or the end of it. A position has only the name of the file. */
  #fileOfGo(name: string, ofPackage: string): string | undefined {
    const listed = this.#files.get('go.mod') ?? []
    for (const folder of [...this.#bases, ...listed.map(dirname)]) {
      const settings = join(folder, 'go.mod')
      const text = this.#isFile(settings) ? readFileSync(settings, 'utf8') : ''
      const [, module] = /^module\s+"?([^\s"]+)/m.exec(text) ?? []
      if (module === undefined || !`${ofPackage}/`.startsWith(`${module}/`)) continue
      const file = resolve(folder, `.${ofPackage.slice(module.length)}`, name)
      if (this.#isFile(file)) return file
    }
    return this.#findEnding(`${ofPackage}/${name}`) ?? this.#findEnding(name)
  }

  /** The one file of the repository whose path ends so. */
  #findEnding(path: string): string | undefined {
    const files = this.#files.get(basename(path)) ?? []
    const [file, ...others] = files.filter((one) => one.endsWith(`/${path}`) && this.#isFile(one))
    return others.length > 0 ? undefined : file
  }

  #isFile(path: string): boolean {
    try {
      return isInside(path, this.folders.root) && statSync(path).isFile()
    } catch {
      return false
    }
  }
}

type FilesByName = Awaited<ReturnType<typeof filesByName>>

/** The paths of a repository's files, by the names of the files. Without a repository, there are none. */
export async function filesByName(root: string) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = new Set((await tryGit(args, { root, env: process.env }))?.split('\0'))
  const paths = [...files].map((file) => join(root, file))
  return Map.groupBy(paths, (path) => basename(path))
}
