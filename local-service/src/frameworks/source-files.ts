import { globSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { foldersBetween, readRegularFile, type TestedFolders } from '../machine/files.ts'
import type { Place } from '../reporters/report-writer.ts'

// The files of the tested repository, in memory, because junit-place.ts looks for each test in many places.

export type SourceFiles = ReturnType<typeof indexFiles>

/** The lines that declare tests. In Gherkin, the keyword may be of any language, and the first title is that of the feature. */
const DECLARATIONS = {
  '_test.go': /^func (\w+)\(/,
  '.feature': /^\s*[^\s:#@|][^:]*:(.*)/,
}

/** `listed` has the paths of the repository's files, each with a zero byte behind it. It is empty without a repository. */
export function indexFiles(folders: TestedFolders, listed: string) {
  const { root } = folders
  const files = listed === '' ? filesBelow(root) : listed.slice(0, -1).split('\0')
  const paths = new Set(files.map((file) => join(root, file)))
  const byName = Map.groupBy(paths, (path) => basename(path))

  const read = remember((file: string) => {
    try {
      // A test can put a link or a pipe there.
      return readRegularFile(file)
    } catch {
      return ''
    }
  })

  /** Go names a test by the module, which may be anywhere in the repository, and by the folder in it. */
  const packageOf = (file: string) => {
    const folders = foldersBetween({ folder: dirname(file), root })
    const folder = folders.find((one) => paths.has(join(one, 'go.mod'))) ?? root
    const [, module = ''] = /^module\s+"?([^\s"]+)/m.exec(read(join(folder, 'go.mod'))) ?? []
    return join(module, relative(folder, dirname(file)))
  }

  const declarationsIn = remember((ending: keyof typeof DECLARATIONS) => {
    const declarations = new Map<string, Place>()
    for (const file of paths) {
      if (!file.endsWith(ending)) continue
      const names = read(file)
        .split('\n')
        .map((line) => DECLARATIONS[ending].exec(line)?.[1]?.trim())
      // The keys are the package and the function in Go (`shop/cart`, `TestPay`), and the titles of the feature and of the scenario in Gherkin.
      const packageOrFeature = ending === '.feature' ? names.find((name) => name !== undefined) : packageOf(file)
      for (const [index, name] of names.entries()) {
        if (name !== undefined) declarations.set(`${packageOrFeature}\0${name}`, { file, line: index + 1 })
      }
    }
    return declarations
  })

  return {
    ...folders,
    read,
    /**
     * Whether a file is of this repository, and not of a submodule, whose files git does not list. With this method, the object is a `Repository`,
     * which `placeIn` needs.
     */
    isOwnFile: (file: string) => paths.has(file),
    named: (name: string) => byName.get(name) ?? [],
    /** Where a file with this ending declares a test of a package of Go, or of a feature of Gherkin. */
    declaration: (ending: keyof typeof DECLARATIONS, packageOrFeature: string, name: string) =>
      declarationsIn(ending).get(`${packageOrFeature}\0${name}`),
  }
}

/** Calls the function once for the same argument, because many tests ask for the same. */
function remember<Name extends string, Value>(find: (name: Name) => Value) {
  const known = new Map<Name, Value>()
  return (name: Name): Value => {
    if (!known.has(name)) known.set(name, find(name))
    return known.get(name) as Value
  }
}

/** Without a repository, each file below the root counts, but not those of installed packages. */
function filesBelow(root: string): string[] {
  const exclude = ({ name }: { readonly name: string }) => ['node_modules', 'site-packages'].includes(name)
  const entries = globSync('**', { cwd: root, exclude, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => relative(root, join(parentPath, name)))
}
