import { describe, expect, test } from 'vitest'
import { adaptivePauseMs } from '../../src/action/wait-for-run.ts'

/** The times of a step's polls. The first poll is at 0, and the last poll finds a run of this length finished. */
function pollsMs(runMs: number, jitter: number, responseMs = 0): number[] {
  const polls = [0]
  for (let atMs = 0; atMs < runMs; ) {
    const respondedMs = atMs + responseMs
    atMs = respondedMs + adaptivePauseMs(respondedMs, jitter)
    polls.push(atMs)
  }
  return polls
}

test.each([
  [0, 300],
  [1_000, 320],
  [60_000, 1_500],
  [735_000, 15_000],
  [3_600_000, 15_000],
])('after %i ms the pause is %i ms, and up to a tenth more', (waitedMs, pauseMs) => {
  expect(adaptivePauseMs(waitedMs, 0)).toBe(pauseMs)
  expect(adaptivePauseMs(waitedMs, 1)).toBeCloseTo(1.1 * pauseMs)
})

test('a run of an hour costs under 400 requests with every jitter, even if responses take no time', () => {
  for (const jitter of [0, 0.5, 1]) {
    const [start, polls] = [1, pollsMs(3_600_000, jitter).length]
    expect(start + polls).toBeLessThan(400)
  }
})

test('steps that begin together soon poll at evenly spread times', () => {
  const steps = 2_000
  const perSecond = new Array<number>(1_500).fill(0)
  for (let step = 0; step < steps; step++) {
    for (const atMs of pollsMs(1_500_000, step / steps)) {
      const second = Math.floor(atMs / 1_000)
      if (second < perSecond.length) perSecond[second] = (perSecond[second] ?? 0) + 1
    }
  }
  // After 800 s, each step polls once in 15 s to 16.5 s.
  const later = perSecond.slice(800)
  expect(Math.max(...later)).toBeLessThanOrEqual(1.3 * (steps / 15))
})

describe('with responses in 100 ms', () => {
  /** How late steps with different jitter learn of the end. */
  function delaysMs(runMs: number): number[] {
    return Array.from({ length: 20 }, (_, index) => (pollsMs(runMs, index / 19, 100).at(-1) ?? 0) - runMs)
  }

  /** Lengths near this length, so that the result does not depend on one lucky length. */
  function lengthsAround(minutes: number): number[] {
    return Array.from({ length: 40 }, (_, index) => minutes * 60_000 * (0.9 + index / 200))
  }

  test.each([
    2, 5, 11,
  ])('a step learns of the end after %i minutes, about 1 percent late on average and 2 percent at worst', (minutes) => {
    const delays = lengthsAround(minutes).flatMap((runMs) => delaysMs(runMs).map((delayMs) => delayMs / runMs))
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length
    expect(mean).toBeLessThan(0.0125)
    expect(Math.max(...delays)).toBeLessThan(0.027)
  })

  test.each([
    20, 60, 300,
  ])('a step learns of the end after %i minutes, at worst one pause and one response late', (minutes) => {
    expect(Math.max(...lengthsAround(minutes).flatMap(delaysMs))).toBeLessThanOrEqual(16_700)
  })
})
