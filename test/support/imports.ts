import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

// Reads the import lines of source files, for the tests of the architecture.

export const ROOT = join(import.meta.dirname, '../..')

export interface Import {
  /** A path from the root, or the name of a package or of a module of Node. */
  readonly of: string
  readonly kind: 'static' | 'dynamic' | 'type'
}

export function sourceFiles(folder: string): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'))
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** The source without comments. */
export function codeOf(file: string): string {
  return textOf(file).replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
}

export function importsOf(file: string): readonly Import[] {
  const code = codeOf(file)
  const found = (pattern: RegExp, kind?: Import['kind']): Import[] =>
    [...code.matchAll(pattern)].map(({ groups = {} }) => ({
      of: resolved(file, groups.of ?? ''),
      kind: kind ?? (groups.type === undefined ? 'static' : 'type'),
    }))
  return [
    ...found(/^\s*(?:import|export)\s+(?<type>type\s)?[^'"`;]*?\bfrom\s+'(?<of>[^']+)'/gm),
    ...found(/^\s*import\s+'(?<of>[^']+)'/gm, 'static'),
    ...found(/\btypeof import\(\s*'(?<of>[^']+)'\s*\)/g, 'type'),
    ...found(/(?<!\btypeof )\bimport\(\s*'(?<of>[^']+)'\s*\)/g, 'dynamic'),
  ]
}

/** The files that import themselves through other files, also a type. */
export function filesInCircles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const reachedFrom = (entry: string) => {
    const reached = new Set<string>()
    const toVisit = (imports.get(entry) ?? []).map(({ of }) => of)
    for (let file = toVisit.pop(); file !== undefined; file = toVisit.pop()) {
      if (reached.has(file)) continue
      reached.add(file)
      toVisit.push(...(imports.get(file) ?? []).map(({ of }) => of))
    }
    return reached
  }
  return [...imports.keys()].filter((file) => reachedFrom(file).has(file))
}

function resolved(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
}
