import { describe, expect, it } from 'vitest'
import type { Ending } from '../../src/model/outcome.ts'
import { verdictLevel } from '../../src/report/ending.ts'
import { aBaseline, anOutcome, aRun, testCasesBy } from '../support/builders.ts'
import { statusFailure } from '../support/fake-service.ts'

const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
const DOWN = statusFailure(503)
const WAIT_TIMEOUT: Ending = { kind: 'wait-timeout', limitMs: 60_000, wasQueued: false }

describe('the verdict', () => {
  it.each([
    ['PASSED', 'passed', true],
    ['FAILED', 'failed', false],
    ['TIMEDOUT', 'timed-out', false],
    ['CANCELLED', 'cancelled', false],
    ['INTERRUPTED', 'interrupted', false],
    ['EXPLODED', 'error', false],
  ])('on a run that finished as %s is %s, success: %s', (status, conclusion, success) => {
    expect(anOutcome({ run: aRun({ status }) })).toMatchObject({ ending: { kind: 'finished' }, conclusion, success })
  })

  it.each([
    [undefined],
    [{}],
    [{ SKIPPED: 3 }],
    [{ RUNNING: 2, TODO: 1, '': 1 }],
  ])('is a failure for a PASSED run in which no test case ran, unless pass-with-no-tests allows it: %j', (counts) => {
    const run = aRun({ testCases: counts && testCasesBy(counts) })
    expect(anOutcome({ run })).toMatchObject({ conclusion: 'no-tests', success: false, counts: { passed: 0 } })
    expect(anOutcome({ run, passWithNoTests: true })).toMatchObject({ conclusion: 'no-tests', success: true })
  })

  it.each([
    { PASSED: 38, FAILED: 2 },
    { PASSED: 1, BLOCKED: 99 },
    { PASSED: 1, ERROR: 1, NEW: 2 },
    { PASSED: 1, '': 1 },
    { PASSED: 1, ' ': 1 },
  ])('is a failure for a PASSED run with %j only if the step is strict', (counts) => {
    const run = aRun({ testCases: testCasesBy(counts) })
    const passed = anOutcome({ run })
    expect(passed).toMatchObject({ conclusion: 'passed', success: true })
    expect(verdictLevel(passed)).toBe('warning')
    expect(anOutcome({ run, strict: true })).toMatchObject({ conclusion: 'failed', success: false })
  })

  it('is a success for a PASSED run with skipped and flaky test cases, also if the step is strict', () => {
    const outcome = anOutcome({
      run: aRun({ testCases: testCasesBy({ PASSED: 1, SKIPPED: 1, FLAKY: 1 }) }),
      strict: true,
    })
    expect(outcome).toMatchObject({ conclusion: 'passed', success: true })
    expect(verdictLevel(outcome)).toBe('info')
  })

  it('is not changed by strict if no test case ran, unless pass-with-no-tests would make the step green', () => {
    const blocked = aRun({ testCases: testCasesBy({ BLOCKED: 2 }) })
    expect(anOutcome({ run: blocked, strict: true })).toMatchObject({ conclusion: 'no-tests', success: false })
    const both = { strict: true, passWithNoTests: true }
    expect(anOutcome({ run: blocked, ...both })).toMatchObject({ conclusion: 'failed', success: false })
    const skipped = aRun({ testCases: testCasesBy({ SKIPPED: 2 }) })
    expect(anOutcome({ run: skipped, ...both })).toMatchObject({ conclusion: 'no-tests', success: true })
  })

  describe('is a failure for a PASSED run', () => {
    it.each([
      ['main', 'feature/cart'],
      ['refs/tags/main', 'main'],
      ['Main', 'main'],
      ['main', 'refs/heads/feature/main'],
    ])('of the branch %s if %s was asked for', (branchName, branch) => {
      for (const testCases of [testCasesBy({ PASSED: 1 }), testCasesBy({ FAILED: 1 }), undefined]) {
        const fields = { run: aRun({ branchName, testCases }), subject: { parameters: { branch } } }
        for (const passWithNoTests of [true, false])
          expect(anOutcome({ ...fields, passWithNoTests })).toMatchObject({ conclusion: 'error', success: false })
      }
    })

    it.each([
      ['refs/heads/main', { parameters: { branch: 'main' } }],
      ['main', { parameters: { branch: 'refs/heads/main' } }],
      // A commit.
      ['0a'.repeat(20), { parameters: { branch: '0A'.repeat(20) } }],
      // No branch was sent.
      ['main', { parameters: {} }],
      [undefined, { parameters: { branch: 'main' } }],
      ['main', { parameters: { branch: 'next' }, ownsRun: false }],
      ['main', { parameters: { branch: 'next' }, target: { kind: 'test-suite', id: 'smoke' } as const }],
    ])('but not of the branch %s for %j', (branchName, subject) => {
      const outcome = anOutcome({ run: aRun({ branchName }), subject })
      expect(outcome).toMatchObject({ conclusion: 'passed', success: true })
    })

    it('of another branch, and a run that did not pass keeps its own conclusion', () => {
      const run = aRun({ status: 'FAILED', branchName: 'main' })
      const outcome = anOutcome({ run, subject: { parameters: { branch: 'next' } } })
      expect(outcome).toMatchObject({ conclusion: 'failed' })
    })
  })

  it.each<[Ending, string, boolean]>([
    [{ kind: 'started' }, 'started', true],
    [{ kind: 'aborted', cause: 'system signal' }, 'cancelled', false],
    [WAIT_TIMEOUT, 'wait-timeout', false],
    [{ kind: 'start-failed', failure: DOWN }, 'error', false],
    [{ kind: 'poll-failed', failure: DOWN }, 'error', false],
  ])('on %j is %s, success: %s, whatever is known of the run', (ending, conclusion, success) => {
    for (const run of [undefined, RUNNING, aRun()]) {
      expect(anOutcome({ ending, run, passWithNoTests: true })).toMatchObject({ ending, conclusion, success })
    }
  })
})

it('a baseline changes neither the conclusion nor the success', () => {
  const baselines = [aBaseline({}), aBaseline({ FAILED: 2, PASSED: 1 })]
  for (const counts of [{ PASSED: 2 }, { PASSED: 1, FAILED: 2 }, {}, undefined]) {
    for (const status of ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'PAUSED']) {
      const run = aRun({ status, testCases: counts && testCasesBy(counts) })
      const { conclusion, success } = anOutcome({ run, strict: true })
      for (const baseline of baselines)
        expect(anOutcome({ run, strict: true, subject: { baseline } })).toMatchObject({ conclusion, success })
    }
  }
})
