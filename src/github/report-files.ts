import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Log } from '../action/world.ts'
import type { ReportFile } from '../report/report-files.ts'
import { logLine } from '../text/safe-text.ts'
import type { Environment } from './event.ts'
import { isInside } from './inputs.ts'

/** What file systems take as a name; the longest run ids are a little longer with what stands before them. */
const LONGEST_NAME = 255

/** The folder of the report files if `report-dir` names none: one per run, in the runner's temporary folder. */
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
    // Checked before anything is made, so that nothing is made behind a link that leads out; and again for each file,
    // because a large report takes its time.
    realPathWithin(roots, nearestExisting(folder))
    mkdirSync(folder, { recursive: true })
    for (const { name, chunks } of files) replaceFile(join(realPathWithin(roots, folder), name), chunks())
    return folder
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    log.warning(logLine`The report files could not be written to ${folder}: ${reason}. The verdict stands.`)
    return undefined
  }
}

function realPathWithin(roots: readonly string[], path: string): string {
  const realPath = realpathSync(path)
  if (roots.some((root) => isInside(root, realPath))) return realPath
  throw new Error("a link leads out of the workspace and the runner's temporary folder")
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

/**
 * Writes a new file and puts it in the place of whatever has the name. What was there is never opened: a link would
 * lead the text elsewhere, and a named pipe would wait for a reader.
 */
function replaceFile(path: string, chunks: Iterable<string>): void {
  const newPath = `${path}.${randomUUID()}`
  // `x`: fails if anything has this name, a link that somebody guessed included.
  const file = openSync(newPath, 'wx')
  try {
    try {
      for (const chunk of chunks) {
        const bytes = Buffer.from(chunk)
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
      }
    } finally {
      closeSync(file)
    }
    renameSync(newPath, path)
  } catch (error) {
    rmSync(newPath, { force: true })
    throw error
  }
}
