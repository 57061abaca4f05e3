import { globSync } from 'node:fs'
import { basename, extname, join, parse, relative } from 'node:path'
import { readRegularFile, type TestedFolders } from '../machine/files.ts'
import type { Repository } from './report.ts'

/** Calls the function once for the same arguments, because many tests ask for the same. */
export function remember<Arguments extends readonly (string | boolean)[], Value>(find: (...args: Arguments) => Value) {
  const known = new Map<string, Value>()
  return (...args: Arguments): Value => {
    const key = JSON.stringify(args)
    if (!known.has(key)) known.set(key, find(...args))
    return known.get(key) as Value
  }
}

/** Installed packages, if git does not ignore them. */
const PACKAGES = /(?:^|\/)(?:node_modules|site-packages)(?:\/|$)/
/** The lines that declare tests. In Gherkin, the keyword may be of any language, and the first title is that of the feature. */
const DECLARATIONS: Readonly<Record<string, RegExp>> = {
  '.go': /^func (\w+)\(/,
  '.feature': /^\s*[^\s:#@|][^:]*:(.*)/,
}

/** The files of the tested repository, for those who look for a test in many places. */
export class SourceFiles {
  readonly repository: Repository
  readonly #paths: ReadonlySet<string>
  readonly #byStem: ReadonlyMap<string, readonly string[]>

  /** `listed` has the paths of the repository's files, each with a zero byte behind it. It is empty without a repository. */
  constructor(folders: TestedFolders, listed: string) {
    const files = listed === '' ? filesBelow(folders.root) : listed.split('\0').filter((file) => file !== '')
    this.repository = { ...folders, isOwnFile: (file) => this.isFile(file) }
    this.#paths = new Set(files.filter((file) => !PACKAGES.test(file)).map((file) => join(folders.root, file)))
    this.#byStem = Map.groupBy(this.#paths, (path) => parse(path).name)
  }

  isFile(path: string): boolean {
    return this.#paths.has(path)
  }

  /** The files with this name, whatever their extension. */
  withStem(stem: string): readonly string[] {
    return this.#byStem.get(stem) ?? []
  }

  named(name: string): readonly string[] {
    return this.withStem(parse(name).name).filter((path) => basename(path) === name)
  }

  /** This looks at each file. */
  endingWith(ending: string): readonly string[] {
    return [...this.#paths].filter((path) => path.endsWith(ending))
  }

  readonly read = remember((file: string) => {
    try {
      // A test can put a link or a pipe there.
      return readRegularFile(file)
    } catch {
      return ''
    }
  })

  /** The names of the tests that a file declares, with their lines. */
  readonly declaredIn = remember((file: string): ReadonlyMap<string, number> => {
    const declared = new Map<string, number>()
    for (const [index, line] of this.read(file).split('\n').entries()) {
      const name = DECLARATIONS[extname(file)]?.exec(line)?.[1]
      if (name !== undefined) declared.set(name.trim(), index + 1)
    }
    return declared
  })
}

/** Without a repository, each file below the root counts. */
function filesBelow(root: string): string[] {
  const exclude = ({ name }: { readonly name: string }) => PACKAGES.test(name)
  const entries = globSync('**', { cwd: root, exclude, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => relative(root, join(parentPath, name)))
}
