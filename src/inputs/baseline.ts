import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Baseline, earlierRun } from '../model/baseline.ts'
import type { Target } from '../model/run.ts'
import { expectedAndGot } from '../report/failure-text.ts'
import { decodeResults, InvalidResponse } from '../service/decode.ts'
import type { Redact } from '../service/key-redaction.ts'
import { BODY_LIMIT_BYTES } from '../service/transport.ts'
import { fieldsOf } from '../text/json.ts'
import type { Log } from '../text/log.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

const { O_NONBLOCK = 0, O_RDONLY } = constants

/** The file `results.json` that the path names: itself, or the one in this folder. */
export function resultsFile(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, 'results.json') : path
  } catch {
    return path
  }
}

/**
 * Reads the baseline: the response that an earlier step has written to `results.json`. The file is data from outside, so the
 * decoder of responses reads it, with the limit of responses. Without a usable file, the reports compare nothing.
 */
export function readBaseline(path: string, kind: Target['kind'], redact: Redact, log: Log): Baseline | undefined {
  try {
    const file = readResults(path, BODY_LIMIT_BYTES)
    if (file !== undefined) {
      const { testCases, finishedAt } = decodeResults(redact(new TextDecoder().decode(file)), kind, redact)
      return [earlierRun(testCases, finishedAt)]
    }
    log.info(
      fragment`There is no baseline ${path}, so the reports do not say which failures are new. A cache is empty at first.`,
    )
  } catch (cause) {
    log.warning(
      fragment`The baseline ${path} could not be read, because ${whyUnreadable(cause)}. So the reports do not say which failures are new. Give a file results.json that this action has written, or a folder that contains one.`,
    )
  }
  return undefined
}

function whyUnreadable(cause: unknown): Fragment {
  if (cause instanceof SyntaxError) return fragment`it is not JSON`
  if (cause instanceof InvalidResponse)
    return fragment`it is no response of the service (${expectedAndGot(cause.failure)})`
  return fragment`${messageOf(cause)}`
}

/** Undefined if there is no such file. A named pipe fails at once, because main would handle no signal while it waits. */
function readResults(path: string, limitBytes: number): Buffer | undefined {
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK)
  } catch (cause) {
    if (fieldsOf(cause).code !== 'ENOENT') throw cause
    if (isBehindDanglingLink(path)) throw new Error('a link in its path leads to nothing')
    return undefined
  }
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw new Error('it is no file')
    if (status.size > limitBytes) throw new Error(`it has more than ${limitBytes} bytes`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whether the path does not exist because a link in it, or at its end, leads to nothing. */
function isBehindDanglingLink(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status !== undefined) return status.isSymbolicLink() && !existsSync(path)
  const folder = dirname(path)
  return folder !== path && isBehindDanglingLink(folder)
}
