import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json'
  readonly text: string
}

/** The folder of the report files if `report-dir` names none: one per run, in the runner's temporary folder. */
export function defaultReportFolder(env: NodeJS.ProcessEnv, runId: string): string {
  const name = `test-run-${runId.replace(/[^A-Za-z0-9._-]/g, '_')}`
  // File systems allow no longer name.
  return join(resolve(env.RUNNER_TEMP || '.'), name.slice(0, 255))
}

/** Returns the folder. If the files cannot be written, warns once and returns undefined. */
export function writeReportFiles(files: readonly ReportFile[], folder: string, log: Log): string | undefined {
  try {
    makeFolder(folder)
    for (const { name, text } of files) {
      // An existing file is not opened, because main would handle no signal while it waits for a named pipe.
      rmSync(join(folder, name), { force: true })
      writeFileSync(join(folder, name), text, { flag: 'wx' })
    }
    return folder
  } catch (cause) {
    log.warning(
      fragment`The report files could not be written to ${folder}: ${messageOf(cause)}. The verdict stays as it is. Check this folder, or set another report-dir.`,
    )
    return undefined
  }
}

/**
 * Not Node's own `recursive`. If it gets ENOENT, it makes the parent and tries again. Below `/proc`, which exists and gives ENOENT
 * for each new folder, it never ends (seen with Node 24).
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  mkdirSync(folder)
}
