import { describe, expect, it } from 'vitest'
import { CASE_KINDS, countTestCases, kindOf, runDurationMs } from '../../src/model/run.ts'
import { aRun, testCasesBy } from '../support/builders.ts'

describe('a run', () => {
  it('lasts from its start to its end, if both are known and in order', () => {
    const [startedAt, finishedAt] = [new Date(1_000), new Date(3_500)]
    expect(runDurationMs(aRun({ startedAt, finishedAt }))).toBe(2_500)
    expect(runDurationMs(aRun({ startedAt, finishedAt: startedAt }))).toBe(0)
    expect(runDurationMs(aRun({ startedAt: finishedAt, finishedAt: startedAt }))).toBeUndefined()
    expect(runDurationMs(aRun({ startedAt: undefined, finishedAt }))).toBeUndefined()
    expect(runDurationMs(aRun({ startedAt, finishedAt: undefined }))).toBeUndefined()
  })
})

describe('a test case', () => {
  it.each([
    ['PASSED', 'passed'],
    ['FLAKY', 'flaky'],
    ['FAILED', 'failed'],
    ['ERROR', 'failed'],
    ['TIMEDOUT', 'timed-out'],
    ['INTERRUPTED', 'interrupted'],
    ['SKIPPED', 'skipped'],
    ['RUNNING', 'other'],
    ['skipped', 'other'],
    ['', 'other'],
    ['constructor', 'other'],
  ])('with the status %j is %s', (status, kind) => {
    expect(kindOf(status)).toBe(kind)
  })

  it('counts by its kind; the totals count flaky as passed, and timed out, interrupted and error as failed', () => {
    const counts = countTestCases(
      testCasesBy({ PASSED: 5, FLAKY: 2, FAILED: 3, ERROR: 1, TIMEDOUT: 1, INTERRUPTED: 1, SKIPPED: 4, TODO: 2 }),
    )
    expect(counts).toEqual({
      total: 19,
      passed: 7,
      failed: 6,
      flaky: 2,
      skipped: 4,
      other: 2,
      byKind: { passed: 5, flaky: 2, failed: 4, 'timed-out': 1, interrupted: 1, skipped: 4, other: 2 },
    })
    expect(Object.keys(counts.byKind).toSorted()).toEqual(CASE_KINDS.toSorted())
  })
})
