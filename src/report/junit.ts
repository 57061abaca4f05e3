import { type Counts, type Run, runDurationMs, type TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { type Untrusted, untrusted } from '../outcome/untrusted.ts'
import { durationText } from './duration.ts'
import { outcomeText } from './outcome-text.ts'
import { render, type Xml, xml } from './safe-text.ts'
import { UniqueNames } from './unique-names.ts'
import { shownTitle, truncate } from './visible-text.ts'

// JUnit's XML has no standard, only readers. This is what the usual ones take alike: totals on both levels, one
// constant class name, one name per case, and text within a failure.

const CASES_PER_CHUNK = 500
const NAME_LIMIT_CHARS = 900
const CLASS_NAME = xml`test-run`

export function* junit(result: StepOutcome): Iterable<string> {
  const testCases = result.run?.testCases ?? []
  const names = new UniqueNames()
  const { counts } = result
  const isRunAnError = hasErrorOfItsOwn(result.run, counts)
  yield render(opening(result, counts, isRunAnError ? 1 : 0))
  for (let start = 0; start < testCases.length; start += CASES_PER_CHUNK) {
    const chunk = testCases
      .slice(start, start + CASES_PER_CHUNK)
      .map((testCase) => render(caseElement(testCase, names)))
    yield chunk.join('')
  }
  if (isRunAnError) yield render(runElement(result, names))
  yield '</testsuite>\n</testsuites>\n'
}

function opening({ run, subject: { target } }: StepOutcome, counts: Counts, ownErrors: number): Xml {
  const testCases = run?.testCases ?? []
  const { total, byOutcome, skipped, other } = counts
  const errors = byOutcome['timed-out'] + byOutcome.interrupted + ownErrors
  const ms = (run && runDurationMs(run)) ?? testCases.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0)
  const totals = xml`tests="${total + ownErrors}" failures="${byOutcome.failed}" errors="${errors}" skipped="${skipped + other}" time="${seconds(ms)}"`
  const name = target.kind === 'project' ? target.projectId : target.testSuiteId
  const begun = run?.startedAt === undefined ? xml`` : xml` timestamp="${run.startedAt.toISOString().slice(0, 19)}"`
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${totals}>
<testsuite name="${name}" ${totals}${begun}>
`
}

function caseElement(testCase: TestCase, names: UniqueNames): Xml {
  const name = names.nameFor(nameOf(testCase.title))
  const open = xml`<testcase classname="${CLASS_NAME}" name="${name}" time="${seconds(testCase.durationMs ?? 0)}"`
  const { rawStatus: status } = testCase
  switch (testCase.outcome) {
    case 'passed':
    case 'flaky':
      return xml`${open}/>\n`
    case 'failed':
      return xml`${open}><failure message="${status}" type="${status}">${explanation(testCase)}</failure></testcase>\n`
    case 'timed-out':
    case 'interrupted':
      return xml`${open}><error message="${status}" type="${status}">${explanation(testCase)}</error></testcase>\n`
    // A status that is neither pass nor failure: readers know only this third one.
    case 'skipped':
    case 'other':
      return xml`${open}><skipped message="${status}"/></testcase>\n`
  }
}

function explanation({ rawStatus: status, durationMs }: TestCase): Xml {
  if (durationMs === undefined) return xml`The service gave this test case the status ${status}.`
  return xml`The service gave this test case the status ${status} after ${durationText(durationMs)}.`
}

/** A run that did not finish, or that failed without a failed case, must not look green to who reads the cases alone. */
function hasErrorOfItsOwn(run: Run | undefined, { failed }: Counts): boolean {
  if (run === undefined || run.status === 'PASSED') return false
  return run.status !== 'FAILED' || failed === 0
}

function runElement(result: StepOutcome, names: UniqueNames): Xml {
  const name = names.nameFor(untrusted('The run itself'))
  const status = result.run?.rawStatus ?? ''
  return xml`<testcase classname="${CLASS_NAME}" name="${name}" time="0.000"><error message="${status}" type="${status}">${outcomeText(result, 'with names')}.</error></testcase>\n`
}

function nameOf(title: Untrusted): Untrusted {
  return truncate(shownTitle(title), NAME_LIMIT_CHARS)
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
