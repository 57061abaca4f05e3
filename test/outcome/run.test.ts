import { describe, expect, it } from 'vitest'
import { classifyTestCase, countTestCases, isTerminal, OUTCOMES, runDurationMs } from '../../src/outcome/run.ts'
import { aRun, testCasesBy } from '../support/builders.ts'

describe('a run', () => {
  it.each([
    ['QUEUED', false],
    ['RUNNING', false],
    ['PASSED', true],
    ['FAILED', true],
    ['TIMEDOUT', true],
    ['CANCELLED', true],
    ['INTERRUPTED', true],
  ])('with the status %s is terminal: %s, whatever its finishing time', (status, expected) => {
    expect(isTerminal(aRun({ status }))).toBe(expected)
    expect(isTerminal(aRun({ status, finishedAt: undefined }))).toBe(expected)
  })

  it('with a status of the future is terminal once it has a finishing time', () => {
    expect(isTerminal(aRun({ status: 'PAUSED' }))).toBe(true)
    expect(isTerminal(aRun({ status: 'PAUSED', finishedAt: undefined }))).toBe(false)
  })

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
    ['PASSED', 'passed', true],
    ['FLAKY', 'flaky', true],
    ['FAILED', 'failed', true],
    ['ERROR', 'failed', true],
    ['TIMEDOUT', 'timed-out', true],
    ['INTERRUPTED', 'interrupted', true],
    ['SKIPPED', 'skipped', false],
    ['RUNNING', 'other', false],
    ['skipped', 'other', false],
    ['', 'other', false],
    ['constructor', 'other', false],
  ])('with the status %j counts as %s, and ran: %s', (status, outcome, ran) => {
    expect(classifyTestCase(status)).toEqual({ outcome, ran })
  })

  it('is counted once, as what people look for', () => {
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
      ran: 13,
      byOutcome: { passed: 5, flaky: 2, failed: 4, 'timed-out': 1, interrupted: 1, skipped: 4, other: 2 },
    })
    expect(Object.keys(counts.byOutcome).toSorted()).toEqual(OUTCOMES.toSorted())
  })
})
