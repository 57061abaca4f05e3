import { type Outcome, runDurationMs, type TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { json, render, sanitize } from '../text/safe-text.ts'
import { titleOf } from './case-table.ts'

// The Common Test Report Format, https://ctrf.io, as the schema 0.0 of the `ctrf` package has it.

const STATUS: Readonly<Record<Outcome, 'passed' | 'failed' | 'skipped' | 'other'>> = {
  passed: 'passed',
  flaky: 'passed',
  failed: 'failed',
  'timed-out': 'failed',
  interrupted: 'failed',
  skipped: 'skipped',
  other: 'other',
}

export function ctrf(outcome: StepOutcome): string {
  const { runId, run } = outcome
  const report = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    generatedBy: 'test-run-action',
    runId: runId || undefined,
    results: {
      tool: { name: 'test-run-service' },
      summary: summaryOf(outcome),
      environment: environmentOf(outcome),
      extra: { runStatus: run && sanitize(run.rawStatus) },
      tests: run?.testCases?.map(testOf) ?? [],
    },
  }
  return `${render(json(report))}\n`
}

function summaryOf({ run, counts }: StepOutcome) {
  const { total, passed, failed, flaky, skipped, other } = counts
  // Both times are required; zero is what the `ctrf` package itself writes for unknown ones.
  const start = run?.startedAt?.getTime() ?? 0
  const stop = run?.finishedAt?.getTime() ?? start
  const duration = run && runDurationMs(run)
  return { tests: total, passed, failed, skipped, pending: 0, other, flaky, start, stop, duration }
}

function environmentOf({ run, subject }: StepOutcome) {
  const { branch, environment } = subject.ownsRun ? subject.parameters : {}
  const branchName = run?.branchName ?? branch
  return {
    branchName: branchName && sanitize(branchName),
    testEnvironment: environment && sanitize(environment),
  }
}

function testOf(testCase: TestCase) {
  const { rawStatus, outcome, durationMs } = testCase
  return {
    name: titleOf(testCase),
    status: STATUS[outcome],
    // Required; the test-suite workflow sends none.
    duration: Math.round(durationMs ?? 0),
    rawStatus: sanitize(rawStatus),
    flaky: outcome === 'flaky' ? true : undefined,
  }
}
