import { describe, expect, it } from 'vitest'
import { pauseMs } from '../../src/action/pauses.ts'
import type { Failure } from '../../src/model/failure.ts'

// The tests of start-run.ts and wait-for-run.ts say which lines the log has meanwhile.

const NO_RESPONSE: Failure = { failure: true, kind: 'no-response', reason: 'read ECONNRESET' }

describe('the pause before a repetition', () => {
  it('doubles up to the longest pause, and chance shortens it by at most half', () => {
    const pauses = (random: number) => [1, 2, 3, 4, 5, 6, 1e9].map((tries) => pauseMs(tries, NO_RESPONSE, () => random))
    expect(pauses(1)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
    expect(pauses(0)).toEqual([500, 1_000, 2_000, 4_000, 7_500, 7_500, 7_500])
  })

  it('is at least as long as the service asks for', () => {
    const pauses = [0, 700, 12_345].map((retryAfterMs) =>
      pauseMs(1, { failure: true, kind: 'status', status: 503, retryAfterMs }, () => 0),
    )
    expect(pauses).toEqual([500, 700, 12_345])
  })
})
