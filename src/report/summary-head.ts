import { type Counts, runDurationMs } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { durationText } from './duration.ts'
import { headline } from './headline.ts'
import { outcomeText } from './outcome-text.ts'
import { type Fragment, fragment, type Html, html } from './safe-text.ts'

// What stands above the test cases. Only the headline is Markdown; every other line begins with an HTML tag.

/** `## ❌ Tests failed: 3 of 40` */
export function headlineLine(result: StepOutcome, counts: Counts): Html {
  const { sign, title, counts: numbers } = headline(result, counts)
  return html`## ${sign} ${title}${numbers}\n`
}

/** The honest word where the headline does not say it all: everything but tests that passed or failed. */
export function explanation(result: StepOutcome, { failed }: Counts): Html {
  const { conclusion } = result
  const isPlain = (conclusion === 'passed' && failed === 0) || (conclusion === 'failed' && failed > 0)
  return isPlain ? html`` : html`<p>${outcomeText(result, 'without names')}.</p>\n`
}

/** The counts that are not zero, and the time. */
export function countsLine(
  { kind, run, waitedMs }: StepOutcome,
  { passed, failed, skipped, other, byOutcome }: Counts,
): Html {
  if (kind === 'started') return html``
  const failures = detailed([
    [byOutcome['timed-out'], fragment`timed out`],
    [byOutcome.interrupted, fragment`interrupted`],
  ])
  const parts: Fragment[] = []
  if (failed > 0) parts.push(fragment`${failed} failed${failures}`)
  if (passed > 0) parts.push(fragment`${passed} passed${detailed([[byOutcome.flaky, fragment`flaky`]])}`)
  if (skipped > 0) parts.push(fragment`${skipped} skipped`)
  if (other > 0) parts.push(fragment`${other} other`)
  if (parts.length === 0) parts.push(run?.testCases === undefined ? fragment`No results` : fragment`No test cases`)
  return html`<p>${joinWithDots([...parts, timeTaken(run, waitedMs)])}</p>\n`
}

function timeTaken(run: StepOutcome['run'], waitedMs: number): Fragment {
  const runMs = run === undefined ? undefined : runDurationMs(run)
  return runMs === undefined ? fragment`waited ${durationText(waitedMs)}` : fragment`run time ${durationText(runMs)}`
}

function detailed(details: readonly (readonly [count: number, words: Fragment])[]): Fragment {
  const present = details.filter(([count]) => count > 0).map(([count, words]) => fragment`${count} ${words}`)
  if (present.length === 0) return fragment``
  return fragment` (${present.reduce((all, detail) => fragment`${all}, ${detail}`)})`
}

/** Where the run, or a test case of it, came to no end of its own, the page does not tell all that one would want. */
export function incompleteWarning({ run }: StepOutcome): Html {
  if (run?.testCases === undefined) return html``
  if (run.status !== 'PASSED' && run.status !== 'FAILED') {
    return html`<p>⚠️ <b>Incomplete:</b> the run did not get to its end, so test cases may be missing here.</p>\n`
  }
  const unfinished = run.testCases.filter(({ outcome, ran }) => outcome === 'other' && !ran).length
  if (unfinished === 0) return html``
  return html`<p>⚠️ <b>Incomplete:</b> ${unfinished} of ${run.testCases.length} test cases came to no end.</p>\n`
}

export function notAllShownWarning(left: number, total: number): Html {
  return html`<p>⚠️ <b>Not all shown:</b> ${left} of ${total} test cases are left out here. The report files hold every one.</p>\n`
}

export function factsLine(result: StepOutcome): Html {
  return html`<p>${joinWithDots(factsOf(result))}</p>\n`
}

/** What was run, and where. Of a run that was started elsewhere, only what the service says of it. */
export function factsOf(result: StepOutcome): readonly Fragment[] {
  const { runId, run, subject } = result
  const { target, ownsRun } = subject
  const parameters = ownsRun ? subject.parameters : {}
  const facts =
    target.kind === 'project' ? [fragment`Project ${target.projectId}`] : [fragment`Test suite ${target.testSuiteId}`]
  if (parameters.environment !== undefined) facts.push(fragment`Environment ${parameters.environment}`)
  const branch = run?.branchName ?? parameters.branch
  if (branch !== undefined) facts.push(fragment`Branch ${branch}`)
  if (parameters.frameworkProject !== undefined) facts.push(fragment`Framework project ${parameters.frameworkProject}`)
  if (runId !== undefined) facts.push(fragment`Run ${runId}`)
  if (parameters.autofix !== undefined) facts.push(parameters.autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  return facts
}

export function joinWithDots(parts: readonly Fragment[]): Fragment {
  return parts.reduce((all, part) => fragment`${all} · ${part}`)
}
