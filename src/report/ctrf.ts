import type { OutcomeWithRun } from '../model/outcome.ts'
import { countsAs, countTestCases, type Run, runDurationMs, showsReason, type TestCase } from '../model/run.ts'
import { safeJson } from '../text/safe-text.ts'
import { oneLine } from '../text/visible-text.ts'
import { fileEntries } from './file-entries.ts'
import { titleOf } from './test-case.ts'
import { reportedOrAskedBranch } from './what-is-tested.ts'

// The Common Test Report Format (https://ctrf.io), in the schema 0.0 of the package `ctrf`.

export function ctrf(outcome: OutcomeWithRun): string {
  const { runId, run, subject } = outcome
  const branchName = reportedOrAskedBranch(outcome)
  const entries = fileEntries(outcome)
  const { environment } = subject.parameters
  const report = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    generatedBy: 'test-run-action',
    runId,
    results: {
      tool: { name: 'test-run-service' },
      summary: summaryOf(run, entries),
      environment: {
        branchName: branchName && oneLine(branchName),
        testEnvironment: environment && oneLine(environment),
      },
      extra: { runStatus: oneLine(run.rawStatus) },
      tests: entries.map(testOf),
    },
  }
  return `${safeJson(JSON.stringify(report))}\n`
}

function summaryOf(run: Run, entries: readonly TestCase[]) {
  const { total, passed, failed, flaky, skipped, other } = countTestCases(entries)
  // The schema requires both times. The package `ctrf` itself writes zero for an unknown time.
  const start = run.startedAt?.getTime() ?? run.finishedAt?.getTime() ?? 0
  const stop = Math.max(start, run.finishedAt?.getTime() ?? start)
  const duration = runDurationMs(run)
  return { tests: total, passed, failed, skipped, pending: 0, other, flaky, start, stop, duration }
}

function testOf(testCase: TestCase) {
  const { rawStatus, kind, durationMs, message, filePath, line } = testCase
  return {
    name: titleOf(testCase),
    // CTRF has the same four words.
    status: countsAs(testCase),
    // The schema requires a duration, but the interface for test suites has none.
    duration: Math.round(durationMs ?? 0),
    rawStatus: oneLine(rawStatus),
    flaky: kind === 'flaky' ? true : undefined,
    message,
    filePath: filePath && showsReason(testCase) ? oneLine(filePath) : undefined,
    line,
  }
}
