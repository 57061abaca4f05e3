import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, type EarlierCase, type EarlierRun, earlierRun } from '../model/baseline.ts'
import type { Target } from '../model/run.ts'
import { expectedAndGot } from '../report/failure-text.ts'
import { decodeResults, InvalidResponse } from '../service/decode.ts'
import type { Redact } from '../service/key-redaction.ts'
import { BODY_LIMIT_BYTES } from '../service/transport.ts'
import { type Fragment, fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

const MOST_RUNS = 20
/** The limit of all files together. */
const MOST_BYTES = 64 * 1024 * 1024

interface ResultsFile {
  readonly path: string
  readonly sizeBytes: number
  readonly finishedMs: number
}

/** The files are responses that earlier steps have written. They are data from outside, so the decoder of responses reads them. */
export function readBaseline(path: string, kind: Target['kind'], redact: Redact, log: Log): Baseline | undefined {
  const problems: Fragment[] = []
  const attempt = <Result>(file: string, read: () => Result): Result | undefined => {
    try {
      return read()
    } catch (cause) {
      problems.push(fragment`The baseline ${file} could not be read, because ${whyUnreadable(cause)}.`)
      return undefined
    }
  }
  const paths = attempt(path, () => pathsAt(path)) ?? []
  // Follows a link only if the user has named it, because anybody may have put a link into a folder.
  const statusOf = (file: string) => (file === path ? statSync(file) : lstatSync(file))
  const files = paths.flatMap((file) => attempt(file, () => plainFile(file, statusOf(file))) ?? [])
  // The runs share their equal test cases, which saves memory.
  const sharedCases = new Map<string, EarlierCase>()
  const readRun = (file: string) =>
    attempt(file, () => earlierRun(decodeResults(redact(readFileSync(file, 'utf8')), kind, redact), sharedCases))
  const { runs, leftOut } = readLatest(files, readRun)
  const [latest, ...others] = runs
  const effect = fragment`so the reports do not say which failures are new`
  if (problems.length > 0) {
    log.warning(textOfProblems(problems, latest !== undefined))
  } else if (paths.length === 0) {
    log.info(fragment`There is no baseline ${path}, ${effect}. A cache is empty at first.`)
  } else if (latest === undefined) {
    log.info(fragment`No test case ran in any run of the baseline ${path}, ${effect}.`)
  }
  if (leftOut > 0) {
    log.warning(
      fragment`The files of the baseline ${path} are too large, because together they may have at most 64 MiB. The latest are compared, and the number of files left out is ${leftOut}. Keep the results of fewer runs.`,
    )
  }
  return latest && [latest, ...others]
}

/**
 * Reads the latest runs, until there are enough. Stops before the first file that is too much, because reports would otherwise compare runs
 * with a gap between them.
 */
function readLatest(files: readonly ResultsFile[], readRun: (path: string) => EarlierRun | undefined) {
  // The results of test suites and of unfinished runs have no time, so they count as the oldest. Of two files without a time, the one with
  // the higher name is the later.
  const latestFirst = files.toSorted(
    (a, b) => b.finishedMs - a.finishedMs || b.path.localeCompare(a.path, 'en', { numeric: true }),
  )
  const runs: EarlierRun[] = []
  let readBytes = 0
  let leftOut = 0
  for (const [index, { path, sizeBytes }] of latestFirst.entries()) {
    if (runs.length === MOST_RUNS) break
    readBytes += sizeBytes
    if (readBytes > MOST_BYTES) {
      // At most MOST_RUNS runs are compared. So the warning counts only the files that would still have been read.
      leftOut = Math.min(files.length - index, MOST_RUNS - runs.length)
      break
    }
    const run = readRun(path)
    if (run !== undefined) runs.push(run)
  }
  // `finishedMs` was read from a part of the file, and may be the time of a test case. This sorts the runs by their own times.
  runs.sort((a, b) => Number(b.finishedAt ?? 0) - Number(a.finishedAt ?? 0))
  return { runs, leftOut }
}

/** Names the first problem, and counts the others. */
function textOfProblems([first = fragment``, ...others]: readonly Fragment[], areOthersCompared: boolean): Fragment {
  const more = others.length > 0 ? fragment` Files that could not be read either: ${others.length}.` : fragment``
  const effect = areOthersCompared
    ? fragment`The other files of the folder are compared.`
    : fragment`So the reports do not say which failures are new. Give a file results.json that this action has written, or a folder of such files.`
  return fragment`${first}${more} ${effect}`
}

/**
 * The file itself, or each `*.json` directly in the folder. None if there is nothing at the path. A `report-dir` of this action has a
 * `ctrf.json` too, which is no response of the service.
 */
function pathsAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && name !== 'ctrf.json')
  return names.sort().map((name) => join(path, name))
}

/** Opens no named pipe, because main would handle no signal while it waits. */
function plainFile(path: string, status: Stats): ResultsFile {
  const sizeBytes = status.size
  if (!status.isFile()) throw new Error('it is no plain file')
  if (sizeBytes > BODY_LIMIT_BYTES) throw new Error(`it has more than ${BODY_LIMIT_BYTES} bytes`)
  return { path, sizeBytes, finishedMs: finishedMsIn(path, sizeBytes) }
}

const END_BYTES = 16 * 1024

/** Reads only both ends of the file, because a folder may have thousands of large files. Zero if there is no time. */
function finishedMsIn(path: string, sizeBytes: number): number {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(END_BYTES)
    for (const position of [0, Math.max(0, sizeBytes - END_BYTES)]) {
      const text = buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, END_BYTES, position))
      const [, time = ''] = /"finishedAt"\s*:\s*"([^"]*)"/.exec(text) ?? []
      const finishedMs = Date.parse(time)
      if (!Number.isNaN(finishedMs)) return finishedMs
    }
    return 0
  } finally {
    closeSync(descriptor)
  }
}

function whyUnreadable(cause: unknown): Fragment {
  if (cause instanceof SyntaxError) return fragment`it is not JSON`
  if (cause instanceof InvalidResponse)
    return fragment`it is no response of the service (${expectedAndGot(cause.failure)})`
  return fragment`${messageOf(cause)}`
}
