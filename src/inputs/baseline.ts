import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, type EarlierRun, earlierRun } from '../model/baseline.ts'
import type { Target } from '../model/run.ts'
import { expectedAndGot } from '../report/failure-text.ts'
import { decodeResults, InvalidResponse } from '../service/decode.ts'
import type { Redact } from '../service/key-redaction.ts'
import { BODY_LIMIT_BYTES } from '../service/transport.ts'
import { type Fragment, fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

const { O_NONBLOCK = 0, O_RDONLY } = constants

const MOST_RUNS = 20

/**
 * Reads the baseline: the responses that earlier steps have written to a file `results.json`, or to a folder of such files. The files are
 * data from outside, so the decoder of responses reads them, with the limit of responses. Without a usable file, the reports compare nothing.
 */
export function readBaseline(path: string, kind: Target['kind'], redact: Redact, log: Log): Baseline | undefined {
  const unusable: { readonly file: string; readonly why: Fragment }[] = []
  const attempt = <T>(file: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (cause) {
      unusable.push({ file, why: whyUnreadable(cause) })
      return undefined
    }
  }
  const runs: EarlierRun[] = []
  const files = attempt(path, () => filesOf(path)) ?? []
  for (const file of latestFirst(files, (name) => attempt(name, () => findFinishedAt(readResults(name))))) {
    if (runs.length === MOST_RUNS) break
    const decode = () => decodeResults(redact(readResults(file)), kind, redact)
    const run = attempt(file, decode)
    if (run !== undefined) runs.push(earlierRun(run.testCases, run.finishedAt))
  }
  const [first] = unusable
  const [latest, ...others] = runs
  if (first !== undefined) log.warning(unusableText(first.file, first.why, unusable.length, latest !== undefined))
  else if (latest === undefined)
    log.info(
      fragment`There is no baseline ${path}, so the reports do not say which failures are new. A cache is empty at first.`,
    )
  return latest && [latest, ...others]
}

function unusableText(file: string, why: Fragment, count: number, hasOthers: boolean): Fragment {
  const others = count > 1 ? fragment` So are ${count - 1} more.` : fragment``
  const effect = hasOthers
    ? fragment`The other files of the folder are compared.`
    : fragment`So the reports do not say which failures are new. Give a file results.json that this action has written, or a folder of such files.`
  return fragment`The baseline ${file} could not be read, because ${why}.${others} ${effect}`
}

/** The file itself, or each `*.json` directly in the folder. None if there is nothing at the path. */
function filesOf(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [path]
  const names = readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .sort()
  return names.map((name) => join(path, name))
}

/** Files whose run has no time are sorted by name. A file that cannot be read is left out. */
function latestFirst(files: readonly string[], finishedAt: (file: string) => number | undefined): readonly string[] {
  const [only, ...others] = files
  // One file need not be read twice.
  if (only === undefined || others.length === 0) return files
  return files
    .flatMap((file) => {
      const atMs = finishedAt(file)
      return atMs === undefined ? [] : { file, atMs }
    })
    .sort((a, b) => b.atMs - a.atMs || b.file.localeCompare(a.file, 'en', { numeric: true }))
    .map(({ file }) => file)
}

/** Decoding a thousand files would take seconds, and at most 20 of them count. */
function findFinishedAt(text: string): number {
  const [, time = ''] = /"finishedAt"\s*:\s*"([^"\\]{1,40})"/.exec(text) ?? []
  const atMs = Date.parse(time)
  return Number.isNaN(atMs) ? 0 : atMs
}

function whyUnreadable(cause: unknown): Fragment {
  if (cause instanceof SyntaxError) return fragment`it is not JSON`
  if (cause instanceof InvalidResponse)
    return fragment`it is no response of the service (${expectedAndGot(cause.failure)})`
  return fragment`${messageOf(cause)}`
}

/** A named pipe fails at once, because main would handle no signal while it waits. */
function readResults(path: string): string {
  const file = openSync(path, O_RDONLY | O_NONBLOCK)
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw new Error('it is no file')
    if (status.size > BODY_LIMIT_BYTES) throw new Error(`it has more than ${BODY_LIMIT_BYTES} bytes`)
    return new TextDecoder().decode(readFileSync(file))
  } finally {
    closeSync(file)
  }
}
