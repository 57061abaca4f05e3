import { globSync } from 'node:fs'
import { dirname, join, parse, relative } from 'node:path'
import { readRegularFile, type TestedFolders } from '../machine/files.ts'
import type { Place } from '../reporters/report-writer.ts'

// The files of the tested repository, for those who look for a test in many places.

export type SourceFiles = ReturnType<typeof indexFiles>

/** The lines that declare tests. In Gherkin, the keyword may be of any language, and the first title is that of the feature. */
const DECLARATIONS = {
  '_test.go': /^func (\w+)\(/,
  '.feature': /^\s*[^\s:#@|][^:]*:(.*)/,
}

/** `listed` has the paths of the repository's files, each with a zero byte behind it. It is empty without a repository. */
export function indexFiles(folders: TestedFolders, listed: string) {
  const { root } = folders
  const files = listed === '' ? filesBelow(root) : listed.split('\0').filter((file) => file !== '')
  const paths = new Set(files.map((file) => join(root, file)))
  const byStem = Map.groupBy(paths, (path) => parse(path).name)
  const endingWith = (ending: string) => [...paths].filter((path) => path.endsWith(ending))

  const read = remember((file: string) => {
    try {
      // A test can put a link or a pipe there.
      return readRegularFile(file)
    } catch {
      return ''
    }
  })

  const modulesOfGo = endingWith('/go.mod').map((file) => {
    const [, name = ''] = /^module\s+"?([^\s"]+)/m.exec(read(file)) ?? []
    return { name, folder: dirname(file) }
  })

  const declarationsIn = remember((ending: keyof typeof DECLARATIONS) => {
    const declarations = new Map<string, Place>()
    for (const file of endingWith(ending)) {
      const lines = read(file).split('\n')
      const names = lines.map((line) => DECLARATIONS[ending].exec(line)?.[1]?.trim())
      const group = ending === '.feature' ? names.find((name) => name !== undefined) : dirname(file)
      for (const [index, name] of names.entries()) {
        if (name !== undefined) declarations.set(`${group}\0${name}`, { file, line: index + 1 })
      }
    }
    return declarations
  })

  return {
    ...folders,
    read,
    isOwnFile: (file: string) => paths.has(file),
    /** The files with this name, whatever their extension. */
    withStem: (stem: string) => byStem.get(stem) ?? [],
    scenario: (feature: string, name: string) => declarationsIn('.feature').get(`${feature}\0${name}`),
    /** A module of Go may be anywhere in the repository. */
    testOfPackage(importPath: string, name: string): Place | undefined {
      const module = modulesOfGo.find((one) => `${importPath}/`.startsWith(`${one.name}/`))
      if (module === undefined) return undefined
      const folder = join(module.folder, importPath.slice(module.name.length))
      return declarationsIn('_test.go').get(`${folder}\0${name}`)
    },
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
