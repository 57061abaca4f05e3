import { type Outcome, runDurationMs, type TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { json, render } from './safe-text.ts'
import { shownTitle, visible } from './visible-text.ts'

// The Common Test Report Format, https://ctrf.io, as the schema 0.0 of the `ctrf` package has it.

const CASES_PER_CHUNK = 500

const STATUS: Readonly<Record<Outcome, 'passed' | 'failed' | 'skipped' | 'other'>> = {
  passed: 'passed',
  flaky: 'passed',
  failed: 'failed',
  'timed-out': 'failed',
  interrupted: 'failed',
  skipped: 'skipped',
  other: 'other',
}

export function* ctrf(result: StepOutcome): Iterable<string> {
  const { runId, run } = result
  const testCases = run?.testCases ?? []
  yield `{
"reportFormat": "CTRF",
"specVersion": "0.0.0",
"generatedBy": "test-run-action",${runId ? `\n"runId": ${text(runId)},` : ''}
"results": {
"tool": {"name": "test-run-service"},
"summary": ${text(summaryOf(result))},
"environment": ${text(environmentOf(result))},
"extra": ${text({ runStatus: run && visible(run.rawStatus) })},
"tests": [`
  for (let start = 0; start < testCases.length; start += CASES_PER_CHUNK) {
    const tests = testCases.slice(start, start + CASES_PER_CHUNK).map((testCase) => text(testOf(testCase)))
    yield `${start === 0 ? '\n' : ',\n'}${tests.join(',\n')}`
  }
  yield '\n]\n}\n}\n'
}

function summaryOf({ run, counts }: StepOutcome) {
  const { total, passed, failed, skipped, other, byOutcome } = counts
  // Both times are required; zero is what the `ctrf` package itself writes for unknown ones.
  const start = run?.startedAt?.getTime() ?? 0
  const stop = run?.finishedAt?.getTime() ?? start
  const duration = run && runDurationMs(run)
  return { tests: total, passed, failed, skipped, pending: 0, other, flaky: byOutcome.flaky, start, stop, duration }
}

function environmentOf({ run, subject }: StepOutcome) {
  const { branch, environment } = subject.ownsRun ? subject.parameters : {}
  const branchName = run?.branchName ?? branch
  return {
    branchName: branchName && visible(branchName),
    testEnvironment: environment && visible(environment),
  }
}

function testOf({ title, rawStatus, outcome, durationMs }: TestCase) {
  return {
    name: shownTitle(title),
    status: STATUS[outcome],
    // Required; the test-suite workflow sends none.
    duration: Math.round(durationMs ?? 0),
    rawStatus: visible(rawStatus),
    flaky: outcome === 'flaky' ? true : undefined,
  }
}

function text(value: unknown): string {
  return render(json(value))
}
