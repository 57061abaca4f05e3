import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Log } from '../text/log.ts'
import { isInside } from '../text/path.ts'
import { fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

/** A file for `report-dir`. Its text is made when the file is written, so that memory holds only one text at a time. */
export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json'
  readonly text: () => string | Buffer
}

/** The longest name that file systems allow. A run id of 256 characters with the prefix `test-run-` is longer. */
const LONGEST_NAME = 255

/** The folder of the report files if `report-dir` names none: one per run, in the runner's temporary folder. */
export function defaultReportFolder(env: NodeJS.ProcessEnv, runId: string): string {
  const name = `test-run-${runId.replace(/[^A-Za-z0-9._-]/g, '_')}`
  return join(resolve(env.RUNNER_TEMP || '.'), name.slice(0, LONGEST_NAME))
}

/** Writes the report files. If the folder cannot be written, or a link leads out of the allowed folders, warns once. */
export function writeReportFiles(
  files: readonly ReportFile[],
  folder: string,
  env: NodeJS.ProcessEnv,
  log: Log,
): string | undefined {
  try {
    // Checked before the folder is created, because a link in its path may lead out.
    const realFolder = realPath(folder)
    if (!isInAllowedFolder(folder, env))
      throw new Error("a link leads out of the workspace and the runner's temporary folder")
    mkdirSync(realFolder, { recursive: true })
    for (const { name, text } of files) replaceFile(join(realFolder, name), text())
    return folder
  } catch (cause) {
    log.warning(
      fragment`The report files could not be written to ${folder}: ${messageOf(cause)}. The verdict stays as it is. Check this folder, or set another report-dir.`,
    )
    return undefined
  }
}

/** Removes an existing file and does not open it, because it may be a link or a named pipe. */
function replaceFile(path: string, text: string | Buffer): void {
  rmSync(path, { force: true })
  writeFileSync(path, text, { flag: 'wx' })
}

/** Whether the path is in the workspace or in the runner's temporary folder, wherever links lead. */
export function isInAllowedFolder(path: string, env: NodeJS.ProcessEnv): boolean {
  const allowed = [env.GITHUB_WORKSPACE || '.', env.RUNNER_TEMP || '.']
  return allowed.some((folder) => isInside(realPath(path), realPath(resolve(folder))))
}

/** The path without links. If it does not exist, the path that it would have. */
function realPath(path: string): string {
  let existing = path
  while (!existsSync(existing)) existing = dirname(existing)
  return join(realpathSync(existing), relative(existing, path))
}
