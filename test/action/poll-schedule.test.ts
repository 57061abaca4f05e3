import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adaptivePauseMs } from '../../src/action/poll-schedule.ts'

const waitedMs = fc.double({ min: 0, max: 35_000 * 60_000, noNaN: true })
const jitter = fc.double({ min: 0, max: 1, noNaN: true })

/** When a step polls, from the first poll at 0 until the one that finds a run of this length over. */
function pollsMs(runMs: number, itsPace: number, answerMs = 0): number[] {
  const polls = [0]
  for (let atMs = 0; atMs < runMs; ) {
    const answeredMs = atMs + answerMs
    atMs = answeredMs + adaptivePauseMs(answeredMs, itsPace)
    polls.push(atMs)
  }
  return polls
}

test('a pause is never under 1 s and never over 15 s', () => {
  fc.assert(
    fc.property(waitedMs, jitter, (waited, itsPace) => {
      const pauseMs = adaptivePauseMs(waited, itsPace)
      expect(pauseMs).toBeGreaterThanOrEqual(1_000)
      expect(pauseMs).toBeLessThanOrEqual(15_000)
    }),
  )
})

test('between the bounds a pause is a twentieth of the time waited, or up to a tenth more', () => {
  fc.assert(
    fc.property(fc.double({ min: 20_000, max: 270_000, noNaN: true }), jitter, (waited, itsPace) => {
      const share = adaptivePauseMs(waited, itsPace) / (waited / 20)
      expect(share).toBeGreaterThanOrEqual(1 - 1e-9)
      expect(share).toBeLessThanOrEqual(1.1 + 1e-9)
    }),
  )
})

test('a higher jitter has longer pauses at every length of the wait', () => {
  fc.assert(
    fc.property(waitedMs, (waited) => {
      const pauses = [0, 0.25, 0.5, 0.75, 1].map((one) => adaptivePauseMs(waited, one))
      expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
      expect(new Set(pauses).size).toBe(5)
    }),
  )
})

test('the pause never shrinks while the wait goes on', () => {
  fc.assert(
    fc.property(waitedMs, waitedMs, jitter, (one, other, itsPace) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)]
      expect(adaptivePauseMs(earlier, itsPace)).toBeLessThanOrEqual(adaptivePauseMs(later, itsPace))
    }),
  )
})

test('a run of an hour costs under 300 requests at every jitter, the start and answers in no time included', () => {
  fc.assert(
    fc.property(jitter, (itsPace) => {
      const [start, polls] = [1, pollsMs(3_600_000, itsPace).length]
      expect(start + polls).toBeLessThan(300)
    }),
    { examples: [[0], [1]] },
  )
})

test('steps that began together come evenly spread soon after', () => {
  const steps = 2_000
  const perSecond = new Array<number>(1_000).fill(0)
  for (let step = 0; step < steps; step++) {
    for (const atMs of pollsMs(999_000, step / steps)) {
      const second = Math.floor(atMs / 1_000)
      if (second < perSecond.length) perSecond[second] = (perSecond[second] ?? 0) + 1
    }
  }
  // 300 s in, each polls once in 15 s.
  const later = perSecond.slice(300)
  expect(Math.max(...later)).toBeLessThan(1.5 * (steps / 15))
})

describe('answered in 100 ms', () => {
  /** How late steps of several paces learn of the end. */
  function delaysMs(runMs: number): number[] {
    return Array.from({ length: 20 }, (_, index) => (pollsMs(runMs, index / 19, 100).at(-1) ?? 0) - runMs)
  }

  test.each([
    1, 5, 20, 60,
  ])('a step learns of the end of %i minutes under 3 percent late on average and under 7 at worst', (minutes) => {
    // Runs that end at many times around this length, so that no lucky phase decides.
    const lengthsMs = Array.from({ length: 40 }, (_, index) => minutes * 60_000 * (0.9 + index / 200))
    const delays = lengthsMs.flatMap((runMs) => delaysMs(runMs).map((delayMs) => delayMs / runMs))
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length
    expect(mean).toBeLessThan(0.03)
    expect(Math.max(...delays)).toBeLessThan(0.07)
  })

  test('a step learns of the end of some seconds 1.2 s late at worst', () => {
    const delays = Array.from({ length: 100 }, (_, index) => index * 150).flatMap(delaysMs)
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_200)
  })
})
