import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/outcome/failure.ts'
import { backoffMs, isTransient, mayHaveBeenAccepted, startMayRepeatForMs } from '../../src/service/retry.ts'
import { untrusted } from '../../src/text/untrusted.ts'

const status = (code: number): Failure => ({ kind: 'status', status: code })
const NOT_SENT: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED' }
const UNTRUSTED: Failure = { kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' }
const NO_RESPONSE: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
const INVALID: Failure = { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') }
const ABORTED: Failure = { kind: 'aborted' }

const anyFailure: fc.Arbitrary<Failure> = fc.oneof(
  fc.constantFrom(NOT_SENT, UNTRUSTED, NO_RESPONSE, INVALID, ABORTED),
  fc
    .record({ status: fc.integer({ min: 300, max: 599 }), retryAfterMs: fc.option(fc.nat(), { nil: undefined }) })
    .map(({ status, retryAfterMs }) => ({
      kind: 'status' as const,
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })),
)

describe('a poll or a cancel', () => {
  it.each([NOT_SENT, UNTRUSTED, NO_RESPONSE, INVALID])('is repeated after $kind', (failure) => {
    expect(isTransient(failure)).toBe(true)
  })

  it.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('is repeated after the status %i', (code) => {
    expect(isTransient(status(code))).toBe(true)
  })

  it.each([
    301, 302, 304, 307, 400, 401, 403, 404, 405, 409, 410, 422, 451,
  ])('is not repeated after the status %i', (code) => {
    expect(isTransient(status(code))).toBe(false)
  })

  it('is not repeated if we ended it', () => {
    expect(isTransient(ABORTED)).toBe(false)
  })
})

describe('a start', () => {
  it('may be repeated for a minute if it was not sent, and for five if there were too many', () => {
    expect(startMayRepeatForMs(NOT_SENT)).toBe(60_000)
    expect(startMayRepeatForMs(status(429))).toBe(300_000)
  })

  it.each([
    UNTRUSTED,
    NO_RESPONSE,
    INVALID,
    ABORTED,
    ...[301, 400, 401, 403, 404, 408, 409, 425, 500, 502, 503, 504].map(status),
  ])('is never repeated after %o', (failure) => {
    expect(startMayRepeatForMs(failure)).toBe(0)
  })

  it.each([
    NO_RESPONSE,
    INVALID,
    ABORTED,
    ...[302, 408, 500, 502, 503, 504].map(status),
  ])('may have started a run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(true)
  })

  it.each([
    NOT_SENT,
    UNTRUSTED,
    ...[400, 401, 403, 404, 422, 425, 429].map(status),
  ])('has started none before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(false)
  })

  it('is repeated after no failure that may have come after a run was started', () => {
    fc.assert(
      fc.property(anyFailure, (failure) => {
        if (startMayRepeatForMs(failure) > 0) expect(mayHaveBeenAccepted(failure)).toBe(false)
      }),
    )
  })
})

describe('the pause before a repetition', () => {
  it('doubles up to the longest, and chance takes away at most half', () => {
    const pauses = (random: number) => [1, 2, 3, 4, 5, 6, 7, 100].map((n) => backoffMs(n, NO_RESPONSE, () => random))
    expect(pauses(1)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000])
    expect(pauses(0)).toEqual([500, 1_000, 2_000, 4_000, 7_500, 7_500, 7_500, 7_500])
  })

  it('is as long as the service asks, if that is longer', () => {
    const asked = { ...status(503), retryAfterMs: 12_345 } as Failure
    expect(backoffMs(1, asked, () => 1)).toBe(12_345)
    expect(backoffMs(6, asked, () => 1)).toBe(15_000)
  })

  it('stays within its bounds for any attempt, failure and chance', () => {
    const cases = fc.record({
      attempt: fc.integer({ min: 1, max: 1e9 }),
      failure: anyFailure,
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(cases, ({ attempt, failure, random }) => {
        const askedMs = failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
        const pauseMs = backoffMs(attempt, failure, () => random)
        expect(pauseMs).toBeGreaterThanOrEqual(Math.max(500, askedMs))
        expect(pauseMs).toBeLessThanOrEqual(Math.max(15_000, askedMs))
      }),
    )
  })

  it('never shrinks from one attempt to the next, chance aside', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const pauseMs = (n: number) => backoffMs(n, NO_RESPONSE, () => random)
        expect(pauseMs(attempt + 1)).toBeGreaterThanOrEqual(pauseMs(attempt))
      }),
    )
  })
})
