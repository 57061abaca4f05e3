import { validateStrict } from 'ctrf'
import { describe, expect, it } from 'vitest'
import type { OutcomeWithRun } from '../../src/model/outcome.ts'
import { ctrf } from '../../src/report/ctrf.ts'
import { anOutcome, aRun, aTestCase } from '../support/builders.ts'

function parsed(result: OutcomeWithRun) {
  const report: unknown = JSON.parse(ctrf(result))
  validateStrict(report)
  return report
}

describe('ctrf.json', () => {
  it('has the run, the tests with their whole titles, and where they ran', () => {
    const title = 'a'.repeat(2_000)
    const testCases = [
      aTestCase({ title, status: 'FLAKY', durationMs: 12.6 }),
      aTestCase({ title: 'b\n##[x]', status: 'TIMEDOUT' }),
      aTestCase({ title: '', status: 'NEW', durationMs: undefined }),
    ]
    expect(parsed(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))).toEqual({
      reportFormat: 'CTRF',
      specVersion: '0.0.0',
      generatedBy: 'test-run-action',
      runId: 'run_7f3a',
      results: {
        tool: { name: 'test-run-service' },
        summary: {
          tests: 3,
          passed: 1,
          failed: 1,
          skipped: 0,
          pending: 0,
          other: 1,
          flaky: 1,
          start: Date.UTC(2026, 2, 1, 10),
          stop: Date.UTC(2026, 2, 1, 10, 3, 4),
          duration: 184_000,
        },
        environment: { branchName: 'main', testEnvironment: 'staging' },
        extra: { runStatus: 'FAILED' },
        tests: [
          { name: title, status: 'passed', duration: 13, rawStatus: 'FLAKY', flaky: true },
          { name: 'b ##[x]', status: 'failed', duration: 1200, rawStatus: 'TIMEDOUT' },
          { name: '(untitled)', status: 'other', duration: 0, rawStatus: 'NEW' },
        ],
      },
    })
  })

  it('has the reason and the place of each case that did not pass', () => {
    const reason = { message: 'expected 41\n  to be 42\n', filePath: 'e2e/pay.ts', line: 12 }
    const testCases = [
      aTestCase({ title: 'a', status: 'FAILED', ...reason }),
      aTestCase({ title: 'b', status: 'FLAKY', ...reason, line: undefined }),
    ]
    const { tests } = parsed(anOutcome({ run: aRun({ status: 'FAILED', testCases }) })).results
    const shown = { message: reason.message, filePath: 'e2e/pay.ts' }
    expect(tests).toMatchObject([
      { name: 'a', ...shown, line: 12 },
      { name: 'b', ...shown },
    ])
    expect(tests[1]).not.toHaveProperty('line')
  })

  it.each([
    ['no finishing time', 5_000, undefined, [5_000, 5_000]],
    ['no starting time', undefined, 5_000, [5_000, 5_000]],
    ['a finishing time before the start', 5_000, 1_000, [5_000, 5_000]],
    ['no time at all', undefined, undefined, [0, 0]],
  ])('never stops before it starts: %s', (_, startedMs, finishedMs, [start, stop]) => {
    const date = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms))
    const run = aRun({ status: 'INTERRUPTED', startedAt: date(startedMs), finishedAt: date(finishedMs) })
    const { summary } = parsed(anOutcome({ run })).results
    expect(summary).toMatchObject({ start, stop })
    expect(summary.duration).toBeUndefined()
  })

  it('has no file of a case that passed', () => {
    const testCases = [aTestCase({ filePath: 'e2e/pay.ts' })]
    expect(ctrf(anOutcome({ run: aRun({ testCases }) }))).not.toContain('e2e/pay.ts')
  })
})
