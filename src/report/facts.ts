import type { StepOutcome, StepSubject } from '../model/outcome.ts'
import { BRANCH_LIMIT_CHARS, isFinished, runDurationMs } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, link, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { inBrackets, join, joinWithDots, NONE, nonZero } from './words.ts'

/** The line of counts, and the time. Undefined if there is nothing to count yet. */
export function countsText(outcome: StepOutcome): Fragment | undefined {
  const { run, tookMs } = outcome
  if (run === undefined || (run.testCases === undefined && !isFinished(run))) return undefined
  const counts = countsOf(outcome)
  if (counts.length === 0) counts.push(run.testCases === undefined ? fragment`No results` : fragment`No test cases`)
  const runMs = runDurationMs(run)
  const what = runMs === undefined ? fragment`waited` : fragment`run time`
  return joinWithDots([...counts, fragment`${what} ${durationText(runMs ?? tookMs)}`])
}

/** The counts that are not zero. Every test case is in one of them. */
export function countsOf(outcome: StepOutcome): Fragment[] {
  const { failed, passed, flaky, byKind } = outcome.counts
  const kinds = [
    ...nonZero(byKind['timed-out'], fragment`timed out`),
    ...nonZero(byKind.interrupted, fragment`interrupted`),
  ]
  return [
    ...nonZero(failed, fragment`failed${inBrackets(kinds)}`),
    ...nonZero(passed, fragment`passed${inBrackets(nonZero(flaky, fragment`flaky`))}`),
    ...countsNotRun(outcome),
  ]
}

/** The counts of the test cases that did not run. */
export function countsNotRun({ counts }: StepOutcome): Fragment[] {
  return [...nonZero(counts.skipped, fragment`skipped`), ...nonZero(counts.other, fragment`without a known result`)]
}

/** What was tested, and where. If the input `run-id` names the run, this shows only what the service says about
 * the run. */
export function subjectText(outcome: StepOutcome): Fragment {
  const { subject, otherBranch } = outcome
  const { target, commitName, parameters } = subject
  const { environment, frameworkProject, autofix } = parameters
  const isSuite = target.kind === 'test-suite'
  const facts = [isSuite ? fragment`Test suite ${target.id}` : fragment`Project ${target.id}`]
  if (environment !== undefined) facts.push(fragment`Environment ${environment}`)
  const tested = testedBranch(outcome)
  const caveat = isSuite ? fragment` (sent as metadata only, so the service may test another branch)` : NONE
  const name = commitName === undefined || otherBranch !== undefined ? NONE : fragment` (${commitName})`
  if (tested !== undefined) facts.push(fragment`Branch ${tested}${name}${caveat}`)
  if (frameworkProject !== undefined) facts.push(fragment`Framework project ${frameworkProject}`)
  const runId = linkedRunId(outcome)
  if (runId !== undefined) facts.push(fragment`Run ${runId}`)
  if (autofix !== undefined) facts.push(autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  return joinWithDots(facts)
}

/** For example: project “web-shop”, branch “main”, environment “staging”. */
export function whatIsTested({ target, parameters, commitName }: StepSubject): Fragment {
  const { branch, environment, frameworkProject } = parameters
  const quoted = (value: string) => quote(value, BRANCH_LIMIT_CHARS)
  const isProject = target.kind === 'project'
  const parts = [isProject ? fragment`project ${quoted(target.id)}` : fragment`test suite ${quoted(target.id)}`]
  const name = commitName === undefined ? NONE : fragment` (${quoted(commitName)})`
  if (branch !== undefined) parts.push(fragment`branch ${quoted(branch)}${name}`)
  else if (isProject) parts.push(fragment`on the project's default branch`)
  if (environment !== undefined) parts.push(fragment`environment ${quoted(environment)}`)
  if (frameworkProject !== undefined) parts.push(fragment`framework project ${quoted(frameworkProject)}`)
  return join(parts, fragment`, `)
}

export function linkedRunId({ runId, runUrl }: StepOutcome): Fragment | undefined {
  if (runId === undefined) return undefined
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

export function testedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}

export function otherBranchText({ tested, asked }: NonNullable<StepOutcome['otherBranch']>): Fragment {
  const branch = quote(asked, BRANCH_LIMIT_CHARS)
  return fragment`The service says that it tested the branch ${quote(tested, BRANCH_LIMIT_CHARS)}, and this step asked for ${branch}. So nothing shows whether the tests of ${branch} pass. Check whether ${branch} is pushed. If the service has another name for ${branch}, set the input ${'branch'} to that name. Otherwise ask the operators of the service.`
}

/** Undefined if the branches agree, and after a PASSED run, because the verdict then says this. */
export function otherBranchWarning({ otherBranch, ending }: StepOutcome): Fragment | undefined {
  const isInVerdict = ending.kind === 'finished' && ending.run.status === 'PASSED'
  return otherBranch === undefined || isInVerdict ? undefined : otherBranchText(otherBranch)
}
