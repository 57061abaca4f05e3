import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

/**
 * Reads the baseline: the response that an earlier step has written to `results.json`. The file is data from outside, so the
 * decoder of responses reads it, with the limit of responses. Without a usable file, the reports compare nothing.
 */
export function readBaseline(path: string, kind: Target['kind'], redact: Redact, log: Log): Baseline | undefined {
  try {
    const file = readResults(resultsFile(path), BODY_LIMIT_BYTES)
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

function resultsFile(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, 'results.json') : path
}

/** Undefined if there is no such file. A named pipe fails at once, because main would handle no signal while it waits. */
function readResults(path: string, limitBytes: number): Buffer | undefined {
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK)
  } catch (cause) {
    if (fieldsOf(cause).code === 'ENOENT') return undefined
    throw cause
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
