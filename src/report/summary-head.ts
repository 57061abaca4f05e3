import { type Counts, runDurationMs } from '../domain/run.ts'
import type { StepResult } from '../domain/step-result.ts'
import { durationText } from './duration.ts'
import { headline } from './headline.ts'
import { type Html, html, type Phrase, phrase } from './inert.ts'
import { whatHappened } from './what-happened.ts'

// What stands above the test cases. Only the headline is Markdown; every other line begins with an HTML tag.

/** `## ❌ Tests failed: 3 of 40` */
export function headlineLine(result: StepResult, counts: Counts): Html {
  const { sign, title, counts: numbers } = headline(result, counts)
  return html`## ${sign} ${title}${numbers}\n`
}

/** The honest word where the headline does not say it all: everything but tests that passed or failed. */
export function story(result: StepResult, { failed }: Counts): Html {
  const { verdict } = result
  const isPlain = (verdict.conclusion === 'passed' && failed === 0) || (verdict.conclusion === 'failed' && failed > 0)
  return isPlain ? html`` : html`<p>${whatHappened(result, 'without names')}.</p>\n`
}

/** The counts that are not zero, and the time. */
export function countsLine(
  { ending, run, waitedMs }: StepResult,
  { passed, failed, skipped, other, byOutcome }: Counts,
): Html {
  if (ending.kind === 'started') return html``
  const failures = detailed([
    [byOutcome['timed-out'], phrase`timed out`],
    [byOutcome.interrupted, phrase`interrupted`],
  ])
  const parts: Phrase[] = []
  if (failed > 0) parts.push(phrase`${failed} failed${failures}`)
  if (passed > 0) parts.push(phrase`${passed} passed${detailed([[byOutcome.flaky, phrase`flaky`]])}`)
  if (skipped > 0) parts.push(phrase`${skipped} skipped`)
  if (other > 0) parts.push(phrase`${other} other`)
  if (parts.length === 0) parts.push(run?.testCases === undefined ? phrase`No results` : phrase`No test cases`)
  return html`<p>${dotted([...parts, timeTaken(run, waitedMs)])}</p>\n`
}

function timeTaken(run: StepResult['run'], waitedMs: number): Phrase {
  const runMs = run === undefined ? undefined : runDurationMs(run)
  return runMs === undefined ? phrase`waited ${durationText(waitedMs)}` : phrase`run time ${durationText(runMs)}`
}

function detailed(details: readonly (readonly [count: number, words: Phrase])[]): Phrase {
  const present = details.filter(([count]) => count > 0).map(([count, words]) => phrase`${count} ${words}`)
  if (present.length === 0) return phrase``
  return phrase` (${present.reduce((all, detail) => phrase`${all}, ${detail}`)})`
}

/** Where the run, or a test case of it, came to no end of its own, the page does not tell all that one would want. */
export function incompleteWarning({ run }: StepResult): Html {
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

export function factsLine(result: StepResult): Html {
  return html`<p>${dotted(factsOf(result))}</p>\n`
}

/** What was run, and where. Of a run that was started elsewhere, only what the service says of it. */
export function factsOf(result: StepResult): readonly Phrase[] {
  const { target, runId, startedHere, run } = result
  const order = startedHere ? result.order : {}
  const facts =
    target.kind === 'project' ? [phrase`Project ${target.projectId}`] : [phrase`Test suite ${target.testSuiteId}`]
  if (order.environment !== undefined) facts.push(phrase`Environment ${order.environment}`)
  const branch = run?.branchName ?? order.branch
  if (branch !== undefined) facts.push(phrase`Branch ${branch}`)
  if (order.frameworkProject !== undefined) facts.push(phrase`Framework project ${order.frameworkProject}`)
  if (runId !== undefined) facts.push(phrase`Run ${runId}`)
  if (order.autofix !== undefined) facts.push(order.autofix ? phrase`Auto-fix on` : phrase`Auto-fix off`)
  return facts
}

export function dotted(parts: readonly Phrase[]): Phrase {
  return parts.reduce((all, part) => phrase`${all} · ${part}`)
}
