import { statSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { basename, resolve } from 'node:path'

/**
 * What the lines of `report` name: the paths by the states of the files. A file with another state was written since. A link has the
 * state of its file.
 */
export async function findReports(patterns: readonly string[], folder: string) {
  const files = new Map<string, string>()
  const patternsWithoutFile: string[] = []
  const exclude = (path: string) => ['node_modules', '.git'].includes(basename(path))
  for (const pattern of patterns) {
    let hasFile = false
    for await (const path of isName(pattern, folder)
      ? [pattern]
      : glob(withDotFolders(pattern), { cwd: folder, exclude })) {
      const state = stateOf(resolve(folder, path))
      if (state === undefined) continue
      hasFile = true
      files.set(state, path)
    }
    if (!hasFile) patternsWithoutFile.push(pattern)
  }
  return { files, patternsWithoutFile }
}

/** Whether a line of `report` names one file. A file may have a name that looks like a pattern, such as `[1].xml`. */
export function isName(line: string, folder: string): boolean {
  return stateOf(resolve(folder, line)) !== undefined || !/[*?[{]|[!+@]\(/.test(line)
}

/**
 * Node's `glob` finds folders that begin with a dot only by a pattern with this dot. So `out-*` stays, but `*` as the whole name of a
 * folder becomes `{*,.*}`. Where `**` is the whole name, the path may have no folder with a dot, one, or two.
 */
function withDotFolders(pattern: string): string {
  // It is the whole name behind `/`, `{`, `,` or nothing, and before `/`.
  return pattern.replace(/(?<![^/{,])(?:\*\*|\*)(?=\/)/g, (part) =>
    part === '*' ? '{*,.*}' : '{**,**/.*/**,**/.*/**/.*/**}',
  )
}

export function stateOf(file: string): string | undefined {
  try {
    const stat = statSync(file, { bigint: true })
    return stat.isDirectory() ? undefined : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join()
  } catch {
    return undefined
  }
}
