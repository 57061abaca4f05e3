import { statSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { basename, resolve } from 'node:path'

/** What a line of `report` names. */
export interface ReportLine {
  /** A path or a pattern, from the project's folder. */
  readonly line: string
  readonly isName: boolean
  readonly files: readonly FoundFile[]
}

export interface FoundFile {
  readonly path: string
  /** The inode, the size and the times of the file, or of the file behind a link. If they have changed, somebody has written the file. */
  readonly fingerprint: string
}

export function findReports(lines: readonly string[], folder: string): Promise<ReportLine[]> {
  const exclude = (path: string) => ['node_modules', '.git'].includes(basename(path))
  const find = async (line: string) => {
    // A file may have a name that looks like a pattern, such as `[1].xml`.
    const isName = fingerprintOf(resolve(folder, line)) !== undefined || !/[*?[{]|[!+@]\(/.test(line)
    const paths = isName ? [line] : await Array.fromAsync(glob(withDotFolders(line), { cwd: folder, exclude }))
    const files = paths.flatMap((path) => {
      const fingerprint = fingerprintOf(resolve(folder, path))
      return fingerprint === undefined ? [] : { path, fingerprint }
    })
    return { line, isName, files }
  }
  return Promise.all(lines.map(find))
}

// Node's `glob` finds a folder such as `.out` only if the pattern has the dot. So each folder of the pattern that is only `*` or `**` gets a
// second form:
//
//   out/*/a.xml    out/{*,.*}/a.xml
//   **/a.xml       {**,**/.*/**}/a.xml
//   out-*/a.xml    out-*/a.xml
function withDotFolders(pattern: string): string {
  // A folder begins behind `/`, `{`, `,` or nothing, and ends before `/`.
  return pattern.replace(/(?<![^/{,])\*\*?(?=\/)/g, (part) => (part === '*' ? '{*,.*}' : '{**,**/.*/**}'))
}

function fingerprintOf(file: string): string | undefined {
  try {
    const stat = statSync(file, { bigint: true })
    return stat.isDirectory() ? undefined : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join()
  } catch {
    return undefined
  }
}
