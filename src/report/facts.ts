import { BRANCH_LIMIT_CHARS, isFinished, isSameBranch, runDurationMs } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, link, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { inBrackets, joinWithDots, NONE, nonZero } from './words.ts'

/** The counts that are not zero, and the time. Undefined if there is nothing to count yet. */
export function countsText(outcome: StepOutcome): Fragment | undefined {
  const { run, counts, tookMs } = outcome
  if (run === undefined || (run.testCases === undefined && !isFinished(run))) return undefined
  const { passed, failed, flaky, skipped, byOutcome } = counts
  const kinds = [
    ...nonZero(byOutcome['timed-out'], fragment`timed out`),
    ...nonZero(byOutcome.interrupted, fragment`interrupted`),
  ]
  const parts = [
    ...nonZero(failed, fragment`failed${inBrackets(kinds)}`),
    ...nonZero(passed, fragment`passed${inBrackets(nonZero(flaky, fragment`flaky`))}`),
    ...nonZero(skipped, fragment`skipped`),
    ...otherCases(outcome),
  ]
  if (parts.length === 0) parts.push(run.testCases === undefined ? fragment`No results` : fragment`No test cases`)
  const runMs = runDurationMs(run)
  const what = runMs === undefined ? fragment`waited` : fragment`run time`
  return joinWithDots([...parts, fragment`${what} ${durationText(runMs ?? tookMs)}`])
}

/**
 * The test cases that neither ran nor were skipped. The verdict of a PASSED run names the unknown statuses, so the counts
 * name them too.
 */
export function otherCases({ run, counts, unknownStatuses }: StepOutcome): Fragment[] {
  const unknown = run?.status === 'PASSED' ? unknownStatuses.count : 0
  return [
    ...nonZero(unknown, fragment`with an unknown status`),
    ...nonZero(counts.other - unknown, fragment`without a result`),
  ]
}

/** What was tested, and where. If another step started the run, only what the service says about it. */
export function subjectText(outcome: StepOutcome): Fragment {
  const { subject, run } = outcome
  const { target, commitName, parameters } = subject
  const { environment, frameworkProject, autofix } = parameters
  const isSuite = target.kind === 'test-suite'
  const facts = [isSuite ? fragment`Test suite ${target.id}` : fragment`Project ${target.id}`]
  if (environment !== undefined) facts.push(fragment`Environment ${environment}`)
  const tested = testedBranch(outcome)
  const caveat = isSuite ? fragment` (sent as metadata only, so the service may test another branch)` : NONE
  const isOther = run?.branchName !== undefined && !isSameBranch(run.branchName, parameters.branch ?? '')
  const name = commitName === undefined || isOther ? NONE : fragment` (${commitName})`
  if (tested !== undefined) facts.push(fragment`Branch ${tested}${name}${caveat}`)
  if (frameworkProject !== undefined) facts.push(fragment`Framework project ${frameworkProject}`)
  const runId = linkedRunId(outcome)
  if (runId !== undefined) facts.push(fragment`Run ${runId}`)
  if (autofix !== undefined) facts.push(autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  return joinWithDots(facts)
}

export function linkedRunId({ runId, runUrl }: StepOutcome): Fragment | undefined {
  if (runId === undefined) return undefined
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

export function testedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}

/** Says that the default branch is tested, because the input `branch` is empty. */
export function untestedText(untested: Fragment): Fragment {
  return fragment`Input ${'branch'} is empty, so the project's default branch is tested. This workflow run is about ${untested}, which is not tested.`
}

export function quotedBranches({ tested, asked }: NonNullable<StepOutcome['otherBranch']>) {
  return { tested: quote(tested, BRANCH_LIMIT_CHARS), asked: quote(asked, BRANCH_LIMIT_CHARS) }
}

/** Undefined if the branches agree, and after a PASSED run, because the verdict then names both branches. */
export function otherBranchText({ otherBranch, ending }: StepOutcome): Fragment | undefined {
  const isInVerdict = ending.kind === 'finished' && ending.run.status === 'PASSED'
  if (otherBranch === undefined || isInVerdict) return undefined
  const { tested, asked } = quotedBranches(otherBranch)
  return fragment`the service says that it tested ${tested}, and this step asked for ${asked}. ${otherBranchAdvice(asked)}`
}

export function otherBranchWarning(outcome: StepOutcome): Fragment | undefined {
  const text = otherBranchText(outcome)
  return text && fragment`Run ${outcome.runId ?? ''}: ${text}`
}

export function otherBranchAdvice(asked: Fragment): Fragment {
  return fragment`Check whether ${asked} is pushed. If the service has another name for ${asked}, set the input ${'branch'} to that name.`
}
