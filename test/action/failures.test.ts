import { describe, expect, it } from 'vitest'
import { doesNotExist, isTransient, mayHaveBeenAccepted, startMayRepeatForMs } from '../../src/action/failures.ts'
import type { Failure } from '../../src/model/failure.ts'
import { untrusted } from '../../src/text/untrusted.ts'

const status = (code: number): Failure => ({ failure: true, kind: 'status', status: code })
const BUSY: Failure = { failure: true, kind: 'status', status: 503, retryAfterMs: 0 }
const NOT_SENT: Failure = { failure: true, kind: 'not-sent', reason: 'connect ECONNREFUSED' }
const NO_RESPONSE: Failure = { failure: true, kind: 'no-response', reason: 'read ECONNRESET' }
const INVALID: Failure = {
  failure: true,
  kind: 'invalid-response',
  expected: 'JSON',
  got: { sent: untrusted('<html>') },
}
const ABORTED: Failure = { failure: true, kind: 'aborted' }

describe('a poll or a cancel', () => {
  const TRANSIENT = [NOT_SENT, NO_RESPONSE, INVALID, ...[408, 425, 429, 500, 503, 599].map(status)]
  it.each(TRANSIENT)('is repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(true)
  })

  it.each([ABORTED, ...[302, 400, 401, 403, 404, 409, 422].map(status)])('is not repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(false)
  })
})

describe('a start', () => {
  it('may be repeated for a minute if it was not sent', () => {
    expect(startMayRepeatForMs(NOT_SENT)).toBe(60_000)
  })

  it('may be repeated for five minutes after a 429, or after a 503 with Retry-After', () => {
    expect([status(429), BUSY].map(startMayRepeatForMs)).toEqual([300_000, 300_000])
  })

  it('is never repeated after anything else', () => {
    const statuses = Array.from({ length: 300 }, (_, index) => 300 + index).filter((code) => code !== 429)
    for (const failure of [NO_RESPONSE, INVALID, ABORTED, ...statuses.map(status)]) {
      expect(startMayRepeatForMs(failure)).toBe(0)
    }
  })

  const UNCLEAR = [NO_RESPONSE, INVALID, ABORTED, ...[408, 500, 503].map(status)]
  it.each(UNCLEAR)('may have started a run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(true)
  })

  const NOT_ACCEPTED = [NOT_SENT, BUSY, ...[301, 302, 308, 400, 401, 404, 429].map(status)]
  it.each(NOT_ACCEPTED)('has started no run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(false)
  })
})

it('a 404 means that the run does not exist, unless the request was sent in the first 15 s', () => {
  const handle = { id: 'run-1', knownSinceMs: 1_000 }
  expect([15_999, 16_000].map((sentMs) => doesNotExist(handle, status(404), sentMs))).toEqual([false, true])
  expect(doesNotExist(handle, status(410), 16_000)).toBe(false)
})
