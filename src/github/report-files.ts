import { closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, writeSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Log } from '../action/world.ts'
import type { ReportFile } from '../report/report-files.ts'
import { logLine } from '../report/safe-text.ts'
import { isInside } from './inputs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What file systems take as a name; the longest run ids are a little longer with what stands before them. */
const LONGEST_NAME = 255

/** The folder of the report files where `report-dir` names none: one per run, in the runner's temporary folder. */
export function defaultReportFolder(env: Environment, runId: string): string {
  const name = `test-run-${runId.replace(/[^A-Za-z0-9._-]/g, '_')}`
  return join(resolve(env.RUNNER_TEMP || '.'), name.slice(0, LONGEST_NAME))
}

/** Writes the report files. A folder that cannot be written, or that a link leads out of bounds, is one warning. */
export function writeReportFiles(
  files: readonly ReportFile[],
  folder: string,
  env: Environment,
  log: Log,
): string | undefined {
  try {
    const roots = [env.GITHUB_WORKSPACE || '.', env.RUNNER_TEMP || '.']
      .filter(existsSync)
      .map((root) => realpathSync(root))
    // Looked at before anything is made, so that nothing is made behind a link that leads out.
    const existing = realpathSync(nearestExisting(folder))
    if (!roots.some((root) => isInside(root, existing))) {
      throw new Error("a link leads out of the workspace and the runner's temporary folder")
    }
    mkdirSync(folder, { recursive: true })
    for (const { name, chunks } of files) writeFile(join(folder, name), chunks())
    return folder
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    log.warning(logLine`The report files could not be written to ${folder}: ${reason}. The verdict stands.`)
    return undefined
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

// A link in a file's place is not followed (Windows knows no such flag, and makes no links without asking).
const WRITE_ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

function writeFile(path: string, chunks: Iterable<string>): void {
  const file = openSync(path, WRITE_ANEW)
  try {
    for (const chunk of chunks) {
      const bytes = Buffer.from(chunk)
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    }
  } finally {
    closeSync(file)
  }
}
