import { describe, expect, it } from 'vitest'
import {
  isPerhapsNotKnownYet,
  isTransient,
  mayHaveBeenAccepted,
  startMayRepeatForMs,
} from '../../src/action/failures.ts'
import { pauseMs } from '../../src/action/pauses.ts'
import type { Failure } from '../../src/model/failure.ts'
import { LOST, NOT_JSON, REFUSED, statusFailure } from '../support/fake-service.ts'

const statuses = (...codes: readonly number[]) => codes.map((code) => statusFailure(code))
const BUSY = statusFailure(503, 0)
const ABORTED: Failure = { failure: true, kind: 'aborted' }

describe('a poll or a cancel', () => {
  it.each([REFUSED, LOST, NOT_JSON, ...statuses(408, 425, 429, 500, 503, 599)])('is repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(true)
  })

  it.each(statuses(302, 400, 401, 403, 404, 409, 422))('is not repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(false)
  })
})

describe('a start', () => {
  it('may be repeated for a minute if it was not sent, and for five minutes after a 429, or a 503 with Retry-After', () => {
    expect([REFUSED, statusFailure(429), BUSY].map(startMayRepeatForMs)).toEqual([60_000, 300_000, 300_000])
  })

  it('is never repeated after anything else', () => {
    const codes = Array.from({ length: 300 }, (_, index) => 300 + index).filter((code) => code !== 429)
    for (const failure of [LOST, NOT_JSON, ABORTED, ...statuses(...codes)]) {
      expect(startMayRepeatForMs(failure)).toBe(0)
    }
  })

  it.each([LOST, NOT_JSON, ABORTED, ...statuses(408, 500, 503)])('may have started a run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(true)
  })

  const NOT_ACCEPTED = [REFUSED, BUSY, ...statuses(301, 302, 308, 400, 401, 404, 429)]
  it.each(NOT_ACCEPTED)('has started no run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(false)
  })
})

it('a 404 may mean that the service does not know the run yet, if the request was sent in the first 15 s', () => {
  const handle = { id: 'run-1', knownSinceMs: 1_000 }
  const isNotKnownYet = (sentMs: number) => isPerhapsNotKnownYet(handle, statusFailure(404), sentMs)
  expect([15_999, 16_000].map(isNotKnownYet)).toEqual([true, false])
  expect(isPerhapsNotKnownYet(handle, statusFailure(410), 15_999)).toBe(false)
})

describe('the pause before a repetition', () => {
  it('doubles up to the longest pause, and chance shortens it by at most half', () => {
    const pauses = (random: number) => [1, 2, 3, 4, 5, 6, 1e9].map((tries) => pauseMs(tries, LOST, () => random))
    expect(pauses(1)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
    expect(pauses(0)).toEqual([500, 1_000, 2_000, 4_000, 7_500, 7_500, 7_500])
  })

  it('is at least as long as the service asks for', () => {
    const pauses = [0, 700, 12_345].map((askedMs) => pauseMs(1, statusFailure(503, askedMs), () => 0))
    expect(pauses).toEqual([500, 700, 12_345])
  })
})
