import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createIsOwnFile, isInside, readRegularFile, type TestedFolders } from '../machine/files.ts'
import type { Repository } from './report.ts'

/** The files of the tested repository, for those who look for a test in many places. */
export class SourceFiles {
  readonly repository: Repository
  readonly #byName: ReadonlyMap<string, readonly string[]>
  readonly #texts = new Map<string, string>()
  /** The names of the files and folders in each folder. */
  readonly #names = new Map<string, ReadonlySet<string>>()

  /** `listed` has the paths of the repository's files, each with a zero byte behind it. It is empty without a repository. */
  constructor(folders: TestedFolders, listed: string) {
    this.repository = { ...folders, isOwnFile: createIsOwnFile(folders.root) }
    const paths = [...new Set(listed.split('\0'))].map((file) => join(folders.root, file))
    this.#byName = Map.groupBy(paths, (path) => basename(path))
  }

  /** The files of the repository with this name, in any folder. */
  named(name: string): readonly string[] {
    return this.#byName.get(name) ?? []
  }

  withExtension(extension: string): readonly string[] {
    return [...this.#byName].flatMap(([name, files]) => (name.endsWith(extension) ? files : []))
  }

  /** The one file of the repository whose path ends so. */
  findEnding(path: string): string | undefined {
    const files = this.named(basename(path))
    const [file, ...others] = files.filter((one) => one.endsWith(`/${path}`) && this.isFile(one))
    return others.length > 0 ? undefined : file
  }

  /** Most paths are no files. So a folder is read once, and not a path looked for in it each time. */
  isFile(path: string): boolean {
    try {
      return this.#namesIn(dirname(path)).has(basename(path)) && statSync(path).isFile()
    } catch {
      // The file cannot be read, or has been removed.
      return false
    }
  }

  #namesIn(folder: string): ReadonlySet<string> {
    let names = this.#names.get(folder)
    if (names === undefined) {
      const { root } = this.repository
      const isThere =
        folder === root || (isInside(folder, root) && this.#namesIn(dirname(folder)).has(basename(folder)))
      names = new Set(isThere && statSync(folder).isDirectory() ? readdirSync(folder) : [])
      this.#names.set(folder, names)
    }
    return names
  }

  /** Only plain files of the repository are read, because a test can put a link or a pipe there. */
  read(file: string): string {
    let text = this.#texts.get(file)
    if (text === undefined) {
      text = ''
      try {
        if (this.isFile(file)) text = readRegularFile(file)
      } catch {
        // Nothing is known about this file.
      }
      this.#texts.set(file, text)
    }
    return text
  }
}
