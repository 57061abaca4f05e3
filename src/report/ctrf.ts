import type { ReadRunOutcome } from '../model/outcome.ts'
import { FAILING, locationOf, runDurationMs, type TestCase } from '../model/run.ts'
import { json, render } from '../text/safe-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { titleOf } from './cases.ts'
import { verdictSentences } from './ending.ts'
import { testedBranch } from './facts.ts'
import { hasRunEntry, RUN_ENTRY } from './run-entry.ts'

// The Common Test Report Format (https://ctrf.io), in the schema 0.0 of the package `ctrf`.

export function ctrf(outcome: ReadRunOutcome): string {
  const { runId, run, subject } = outcome
  const branchName = testedBranch(outcome)
  const runEntries = runEntriesOf(outcome)
  const { environment } = subject.parameters
  const report = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    generatedBy: 'test-run-action',
    runId,
    results: {
      tool: { name: 'test-run-service' },
      summary: summaryOf(outcome, runEntries.length),
      environment: {
        branchName: branchName && visibleText(branchName),
        testEnvironment: environment && visibleText(environment),
      },
      extra: { runStatus: visibleText(run.rawStatus) },
      tests: [...(run.testCases?.map(testOf) ?? []), ...runEntries],
    },
  }
  return `${json(report)}\n`
}

/** Empty unless the run needs an entry of its own. */
function runEntriesOf(outcome: ReadRunOutcome) {
  if (!hasRunEntry(outcome)) return []
  const { rawStatus, message } = outcome.run
  const text = message === undefined ? render(verdictSentences(outcome)) : message
  return [{ name: RUN_ENTRY, status: 'failed', duration: 0, rawStatus: visibleText(rawStatus), message: text }]
}

function summaryOf({ run, counts }: ReadRunOutcome, runEntries: number) {
  const { passed, flaky, skipped, other } = counts
  const [total, failed] = [counts.total + runEntries, counts.failed + runEntries]
  // The schema requires both times. The package `ctrf` itself writes zero for an unknown time.
  const start = run.startedAt?.getTime() ?? run.finishedAt?.getTime() ?? 0
  const stop = Math.max(start, run.finishedAt?.getTime() ?? start)
  const duration = runDurationMs(run)
  return { tests: total, passed, failed, skipped, pending: 0, other, flaky, start, stop, duration }
}

function testOf(testCase: TestCase) {
  const { rawStatus, kind, durationMs, message } = testCase
  const location = locationOf(testCase)
  return {
    name: titleOf(testCase),
    status: FAILING.includes(kind) ? 'failed' : kind === 'flaky' ? 'passed' : kind,
    // The schema requires a duration, but the test-suite workflow sends none.
    duration: Math.round(durationMs ?? 0),
    rawStatus: visibleText(rawStatus),
    flaky: kind === 'flaky' ? true : undefined,
    message,
    filePath: location && visibleText(location.filePath),
    line: location?.line,
  }
}
