import { expect, it } from 'vitest'
import { kindOf, runDurationMs } from '../../src/model/run.ts'
import { aRun } from '../support/builders.ts'

it('a run lasts from its start to its end, if both are known and in order', () => {
  const [startedAt, finishedAt] = [new Date(1_000), new Date(3_500)]
  expect(runDurationMs(aRun({ startedAt, finishedAt }))).toBe(2_500)
  expect(runDurationMs(aRun({ startedAt, finishedAt: startedAt }))).toBe(0)
  expect(runDurationMs(aRun({ startedAt: finishedAt, finishedAt: startedAt }))).toBeUndefined()
  expect(runDurationMs(aRun({ startedAt: undefined, finishedAt }))).toBeUndefined()
  expect(runDurationMs(aRun({ startedAt, finishedAt: undefined }))).toBeUndefined()
})

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
])('a test case with the status %j is %s', (status, kind) => {
  expect(kindOf(status)).toBe(kind)
})
