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

function resolved(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
}
