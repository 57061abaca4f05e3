import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../machine/files.ts'
import type { XmlCase } from './junit-xml.ts'
import type { SourceFiles } from './source-files.ts'

// Where a test of Go is. A report has the test's package and its name, and a position has only the name of the file.

export interface Frame {
  readonly file: string
  readonly line: number
}

export class GoTests {
  readonly #source: SourceFiles
  readonly #bases: readonly string[]
  /** By folder, then by the name of the test. */
  readonly #tests = new Map<string, ReadonlyMap<string, Frame>>()

  /** A module may be in one of the folders `bases`, or anywhere in the repository. */
  constructor(source: SourceFiles, bases: readonly string[]) {
    this.#source = source
    this.#bases = bases
  }

  /** The name is a function of a file of the package. A test of a test has the name of the outer one first, as in `TestPay/twice`. */
  testOf(found: XmlCase): Frame | undefined {
    const [name] = /^(?:Test|Fuzz|Example)\w*/.exec(found.attributes.name ?? '') ?? []
    const folder = name === undefined ? undefined : this.#folderOf(importPathOf(found))
    if (name === undefined || folder === undefined) return undefined
    const tests = this.#tests.get(folder) ?? this.#findTests(folder)
    this.#tests.set(folder, tests)
    return tests.get(name)
  }

  #findTests(folder: string): ReadonlyMap<string, Frame> {
    const tests = new Map<string, Frame>()
    for (const name of readdirSync(folder).filter((file) => file.endsWith('_test.go'))) {
      const file = join(folder, name)
      for (const [index, line] of this.#source.read(file).split('\n').entries()) {
        const [, called] = /^func (\w+)\(/.exec(line) ?? []
        if (called !== undefined) tests.set(called, { file, line: index + 1 })
      }
    }
    return tests
  }

  /** The file with this name in the package of the test, else the only one in the repository. */
  findFile(name: string, found: XmlCase): string | undefined {
    const importPath = importPathOf(found)
    const folder = this.#folderOf(importPath)
    const file = folder && join(folder, name)
    if (file && this.#source.isFile(file)) return file
    return this.#source.findEnding(`${importPath}/${name}`) ?? this.#source.findEnding(name)
  }

  /** The folder of a package, by its import path. */
  #folderOf(importPath: string): string | undefined {
    const { root } = this.#source.repository
    for (const folder of [...this.#bases, ...this.#source.named('go.mod').map(dirname)]) {
      const [, module] = /^module\s+"?([^\s"]+)/m.exec(this.#source.read(join(folder, 'go.mod'))) ?? []
      if (module === undefined || !importPath.startsWith(module)) continue
      const found = resolve(folder, `.${importPath.slice(module.length)}`)
      if (isInside(found, root) && statSync(found, { throwIfNoEntry: false })?.isDirectory()) return found
    }
    return undefined
  }
}

/** Some tools have only the end of the package as the class, and the whole package as the suite. */
function importPathOf({ attributes: { classname = '' }, suites }: XmlCase): string {
  const suite = suites.at(-1) ?? ''
  return suite.endsWith(`/${classname}`) ? suite : classname || suite
}
