import { describe, expect, it } from 'vitest'
import {
  askedPauseMs,
  backoffMs,
  isTransient,
  mayHaveBeenAccepted,
  retry,
  startMayRepeatForMs,
  TryAgain,
} from '../../src/action/retry.ts'
import type { Failure } from '../../src/model/failure.ts'
import { untrusted } from '../../src/text/untrusted.ts'

const status = (code: number): Failure => ({ kind: 'status', status: code })
const NOT_SENT: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED' }
const NO_RESPONSE: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
const INVALID: Failure = { kind: 'invalid-response', expected: 'JSON', got: { sent: untrusted('<html>') } }
const ABORTED: Failure = { kind: 'aborted' }

describe('a poll or a cancel', () => {
  it.each([
    NOT_SENT,
    NO_RESPONSE,
    INVALID,
    ...[408, 425, 429, 500, 503, 599].map(status),
  ])('is repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(true)
  })

  it.each([ABORTED, ...[302, 400, 401, 403, 404, 409, 422].map(status)])('is not repeated after %o', (failure) => {
    expect(isTransient(failure)).toBe(false)
  })
})

describe('a start', () => {
  it('may be repeated for a minute if it was not sent, and for five minutes after a 429', () => {
    expect(startMayRepeatForMs(NOT_SENT)).toBe(60_000)
    expect(startMayRepeatForMs(status(429))).toBe(300_000)
  })

  it('is never repeated after anything else', () => {
    const statuses = Array.from({ length: 300 }, (_, index) => 300 + index).filter((code) => code !== 429)
    for (const failure of [NO_RESPONSE, INVALID, ABORTED, ...statuses.map(status)]) {
      expect(startMayRepeatForMs(failure)).toBe(0)
    }
  })

  it.each([
    NO_RESPONSE,
    INVALID,
    ABORTED,
    ...[408, 500, 503].map(status),
  ])('may have started a run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(true)
  })

  it.each([NOT_SENT, ...[301, 302, 308, 400, 401, 404, 429].map(status)])('has started no run before %o', (failure) => {
    expect(mayHaveBeenAccepted(failure)).toBe(false)
  })
})

describe('retry', () => {
  /** Tries until one of these outcomes is no TryAgain. */
  async function outcomeOf(...outcomes: readonly (TryAgain | string)[]) {
    let nowMs = 100
    const pausesMs: number[] = []
    const result = await retry(
      async (tries) => outcomes[tries - 1] ?? 'too many tries',
      async (atMs) => {
        pausesMs.push(atMs - nowMs)
        nowMs = atMs
      },
      { clock: { now: () => nowMs }, random: () => 1 },
    )
    return [result, ...pausesMs]
  }
  const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 3_000 }

  it('returns the first result', async () => {
    expect(await outcomeOf('a result')).toEqual(['a result'])
  })

  it('pauses longer after each try, and as long as the service asks for', async () => {
    const again = new TryAgain(NO_RESPONSE, 1e9)
    expect(await outcomeOf(again, again, again, 'done')).toEqual(['done', 1_000, 2_000, 4_000])
    expect(await outcomeOf(new TryAgain(busy, 1e9), again, 'done')).toEqual(['done', 3_000, 2_000])
  })

  it('makes the last try at the limit, whatever pause is due', async () => {
    expect(await outcomeOf(new TryAgain(NO_RESPONSE, 700), 'done')).toEqual(['done', 600])
    expect(await outcomeOf(new TryAgain(busy, 700), 'done')).toEqual(['done', 600])
  })
})

describe('the pause before a repetition', () => {
  it('doubles up to the longest pause, and chance shortens it by at most half', () => {
    const pauses = (random: number) => [1, 2, 3, 4, 5, 6, 1e9].map((n) => backoffMs(n, () => random))
    expect(pauses(1)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
    expect(pauses(0)).toEqual([500, 1_000, 2_000, 4_000, 7_500, 7_500, 7_500])
  })

  it('is as long as the service asks', () => {
    expect(askedPauseMs({ ...status(503), retryAfterMs: 12_345 } as Failure)).toBe(12_345)
    expect([status(503), NO_RESPONSE].map(askedPauseMs)).toEqual([0, 0])
  })
})
