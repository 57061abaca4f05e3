import { isNotFound, isSameFailure } from '../outcome/failure.ts'
import { type Counts, isFinished, type Run, runDurationMs } from '../outcome/run.ts'
import type { AbortCause, Ending, StepOutcome, UntestedHead } from '../outcome/step-outcome.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, type LogLine, link, logLine, quote, render } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { casesWith, FAILING, titleOf } from './case-table.ts'
import { failureClause, failureReason } from './failure-text.ts'

// The words about the end of a step: sign, title, counts, sentence and facts. All pages and the log take them from
// here.

const TITLES_NAMED = 3
const TITLE_LIMIT_CHARS = 120
/** The service's limit for a branch. */
const BRANCH_LIMIT_CHARS = 255
/** A shorter time in the queue is not mentioned. */
const NOTEWORTHY_QUEUE_MS = 1000

const PASS = fragment`✅`
const FAIL = fragment`❌`
const WARNING = fragment`⚠️`
const CLOCK = fragment`⏱️`
const STOP = fragment`🚫`
const NONE = fragment``

interface Headline {
  readonly sign: Fragment
  readonly title: Fragment
  /** Follows the title without a space, for example `: 3 of 40`. */
  readonly counts: Fragment
}

export function headline(outcome: StepOutcome): Headline {
  const { conclusion, ending, success, counts } = outcome
  const { total, passed, failed } = counts
  const [n, result] = failed > 0 ? [failed, fragment`failed`] : [passed, fragment`passed`]
  const tally = total === 0 ? NONE : fragment`: ${n} of ${total} ${result}`
  const head = (sign: Fragment, title: Fragment, text = tally): Headline => ({ sign, title, counts: text })
  switch (conclusion) {
    case 'passed':
      if (failed > 0) return head(WARNING, fragment`Run passed, with failed tests`, fragment`: ${failed} of ${total}`)
      // Without the skipped test case, `15 of 16` would look like one failure.
      return head(PASS, fragment`Tests passed`, fragment`: ${passed} of ${total}${rest(counts)}`)
    case 'failed':
      if (failed === 0) return head(FAIL, fragment`Run failed`)
      return head(FAIL, fragment`Tests failed`, fragment`: ${failed} of ${total}`)
    case 'no-tests':
      return head(success ? WARNING : FAIL, fragment`No tests ran`, total === 0 ? NONE : fragment`: 0 of ${total}`)
    case 'timed-out':
      return head(CLOCK, fragment`Run timed out`)
    case 'interrupted':
      return head(WARNING, fragment`Run interrupted`)
    case 'cancelled':
      return head(STOP, ending.kind === 'aborted' ? fragment`Step cancelled` : fragment`Run cancelled`)
    case 'wait-timeout': {
      if (ending.kind !== 'wait-timeout') return head(CLOCK, fragment`Run did not finish`)
      const { input, ms } = ending.limit
      const title = input === 'queue-timeout-minutes' ? fragment`Run did not begin` : fragment`Run did not finish`
      return head(CLOCK, title, fragment` within ${durationText(ms)}${tally}`)
    }
    case 'started':
      return head(fragment`▶️`, fragment`Run started`, NONE)
    case 'error':
      // If another branch was tested, the counts say nothing about the branch that was asked for.
      return head(FAIL, errorTitle(outcome), outcome.run?.status === 'PASSED' ? NONE : tally)
  }
}

function errorTitle({ ending, run, cancellation }: StepOutcome): Fragment {
  if (ending.kind === 'poll-failed') return fragment`Run status unavailable`
  if (run?.status === 'PASSED') return fragment`Another branch was tested`
  if (ending.kind !== 'start-failed') return fragment`Run status unknown`
  return cancellation.kind === 'no-run' ? fragment`Run not started` : fragment`Start failed`
}

function rest({ flaky, skipped, other }: Counts): Fragment {
  const others = [NONE, ...some(skipped, fragment`skipped`), ...some(other, fragment`other`)]
  return fragment`${inBrackets(some(flaky, fragment`flaky`))}${join(others, fragment`, `)}`
}

/** The title of the verdict's annotation. Only constant words, because the runner masks no secrets in titles. */
export function verdictTitle(outcome: StepOutcome): string {
  return render(logLine`${headline(outcome).title}`)
}

/** The title of a page: the headline, and the labels that distinguish this step from others. */
export function pageTitle(outcome: StepOutcome, ...more: readonly Fragment[]): Fragment {
  const { sign, title, counts } = headline(outcome)
  const labels = outcome.subject.labels.map((label) => fragment`${label}`)
  return joinWithDots([fragment`${sign} ${title}${counts}`, ...labels, ...more])
}

/** The verdict in one sentence: the run's id and page, its status, the counts, and the first failing titles. */
export function verdictSentence(outcome: StepOutcome): LogLine {
  return logLine`${sentence(outcome)}.`
}

/** The sentence about the ending on a page. Undefined if tests passed or failed, because the headline says it. */
export function explanation(outcome: StepOutcome): Fragment | undefined {
  const { conclusion, counts } = outcome
  const isPlain = (conclusion === 'passed' && counts.failed === 0) || (conclusion === 'failed' && counts.failed > 0)
  return isPlain ? undefined : fragment`${sentence(outcome)}.`
}

function sentence(outcome: StepOutcome): Fragment {
  const { ending } = outcome
  const id = linkedRunId(outcome)
  const [TheRun, theRun] =
    id === undefined ? [fragment`The run`, fragment`the run`] : [fragment`Run ${id}`, fragment`run ${id}`]
  switch (ending.kind) {
    case 'finished':
      return fragment`${TheRun} ${endOfRun(ending.run, outcome)}`
    case 'started':
      return fragment`This step does not wait for ${theRun}`
    case 'wait-timeout':
      return fragment`${TheRun} ${waitTimeoutText(ending, outcome)}${cancellationText(outcome)}`
    case 'aborted':
      return fragment`${causeOfAbort(ending.cause)} ${momentOfAbort(outcome, theRun)}${cancellationText(outcome)}`
    case 'start-failed':
      return fragment`${startFailedText(outcome)}: ${failureClause(ending.failure, 'start')}${cancellationText(outcome)}`
    case 'poll-failed':
      return fragment`The status of ${theRun} is unavailable: ${failureClause(ending.failure, 'poll')}${cancellationText(outcome)}`
  }
}

/** What the event is about, as a part of a sentence. */
export function untestedHeadText(untested: UntestedHead): Fragment {
  switch (untested.kind) {
    case 'branch':
      return quote(untested.name, BRANCH_LIMIT_CHARS)
    case 'pull-request':
      return fragment`the head of pull request ${String(untested.number)}`
    case 'commit-of-fork':
      return fragment`a commit of a fork`
  }
}

function linkedRunId({ runId, runUrl }: StepOutcome): Fragment | undefined {
  if (runId === undefined) return undefined
  return runUrl === undefined ? fragment`${runId}` : link(runUrl, fragment`${runId}`)
}

function endOfRun(run: Run, { conclusion, success, counts, otherBranch, subject }: StepOutcome): Fragment {
  const finished = fragment`finished as ${run.rawStatus}`
  const tally = tallyOf(run, counts)
  switch (conclusion) {
    case 'passed':
      if (counts.failed === 0) return fragment`${finished}: ${tally}`
      return fragment`${finished} although ${tally}; the run's status decides`
    case 'no-tests': {
      const advice = success
        ? fragment`${'pass-with-no-tests'} allows that`
        : fragment`if that is expected, set the input ${'pass-with-no-tests'} to ${'true'}`
      return fragment`${finished}, but ${nothingRan(run, counts.total)}; ${advice}`
    }
    case 'timed-out':
      return fragment`${finished} (it exceeded the service's time limit): ${tally}`
    case 'cancelled':
      return fragment`${finished} (cancelled at the service, not by this step): ${tally}`
    case 'interrupted':
      return fragment`${finished} (interrupted by the service): ${tally}`
    case 'error':
      if (run.status === 'PASSED' && otherBranch !== undefined) {
        const asked = quote(subject.parameters.branch ?? '', BRANCH_LIMIT_CHARS)
        return fragment`${finished}, but the service tested the branch ${quote(otherBranch, BRANCH_LIMIT_CHARS)} and this step asked for ${asked}, so the tests of ${asked} are not known to have passed; set the input ${'branch'} to the name that the service uses, or ask the operators of the service`
      }
      if (run.status !== 'UNKNOWN')
        return fragment`has the status ${run.rawStatus}, which is not a final status: ${tally}`
      return fragment`finished with the status ${quote(run.rawStatus, TITLE_LIMIT_CHARS)}, which this version of the action does not know and treats as a failure: ${tally}`
    default:
      return fragment`${finished}: ${tally}`
  }
}

/** Whether the run stopped early, so that results may be missing. */
export function isIncomplete({ run, counts }: StepOutcome): boolean {
  return run !== undefined && counts.total > 0 && run.status !== 'PASSED' && run.status !== 'FAILED'
}

function tallyOf(run: Run, counts: Counts): Fragment {
  const { total, passed, failed } = counts
  if (run.testCases === undefined) return fragment`the service sent no results`
  if (total === 0) return fragment`no test case is listed`
  const cases = total === 1 ? fragment`test case` : fragment`test cases`
  if (failed > 0) return fragment`${failed} of ${total} ${cases} failed (${firstTitles(run.testCases, failed)})`
  const andRest = rest(counts)
  if (run.status === 'PASSED') return fragment`${passed} of ${total} ${cases} passed${andRest}`
  const none = total === 1 ? fragment`its one test case did not fail` : fragment`none of ${total} test cases failed`
  return fragment`${none}, ${passed} passed${andRest}`
}

function firstTitles(testCases: NonNullable<Run['testCases']>, failed: number): Fragment {
  const titles = casesWith(FAILING, testCases)
    .slice(0, TITLES_NAMED)
    .map((testCase) => quote(titleOf(testCase, TITLE_LIMIT_CHARS), TITLE_LIMIT_CHARS))
  const more = failed > TITLES_NAMED ? fragment` and ${failed - TITLES_NAMED} more` : NONE
  return fragment`${join(titles, fragment`, `)}${more}`
}

function nothingRan(run: Run, total: number): Fragment {
  if (run.testCases === undefined) return fragment`the service sent no results, so nothing shows that a test ran`
  if (total === 0) return fragment`it lists no test case`
  return total === 1 ? fragment`its one test case did not run` : fragment`none of its ${total} test cases ran`
}

function startFailedText({ cancellation }: StepOutcome): Fragment {
  if (cancellation.kind === 'no-run') return fragment`The run could not be started`
  if (cancellation.kind === 'id-unknown') return fragment`The start request returned no run id`
  return fragment`The start request returned no valid run id`
}

function waitTimeoutText(
  { limit, failure }: Extract<Ending, { kind: 'wait-timeout' }>,
  outcome: StepOutcome,
): Fragment {
  const within = fragment`${durationText(limit.ms)} (${limit.input})`
  const what =
    limit.input === 'queue-timeout-minutes'
      ? fragment`never began: it was still queued after ${within}`
      : fragment`did not finish within ${within}${statusesSeen(outcome)}`
  return failure === undefined ? what : fragment`${what}; its last status request failed: ${failureReason(failure)}`
}

function statusesSeen({ run, queuedMs = 0 }: StepOutcome): Fragment {
  const last = run === undefined || isFinished(run) ? undefined : run
  if (queuedMs < NOTEWORTHY_QUEUE_MS)
    return last === undefined ? NONE : fragment`; its last status was ${last.rawStatus}`
  const queued = fragment`; it was queued for ${durationText(queuedMs)}`
  if (last === undefined) return queued
  return last.status === 'QUEUED' ? fragment`${queued} and never began` : fragment`${queued}, then ${last.rawStatus}`
}

function causeOfAbort(cause: AbortCause): Fragment {
  switch (cause) {
    case 'folder emptied':
      return fragment`The runner's temporary folder was emptied, as at the end of a job,`
    case 'log closed':
      return fragment`The runner stopped reading the log of this step`
    default:
      return fragment`The workflow was cancelled, or the step exceeded its time limit,`
  }
}

function momentOfAbort({ run, runId, cancellation }: StepOutcome, theRun: Fragment): Fragment {
  if (run !== undefined && !isFinished(run)) return fragment`while ${theRun} was ${run.rawStatus}`
  if (run !== undefined || runId !== undefined) return fragment`while it waited for ${theRun}`
  return cancellation.kind === 'no-run' ? fragment`before a run was started` : fragment`while a run was being started`
}

/** Whether the step cancelled the run, and whether the run may still be running. */
function cancellationText(outcome: StepOutcome): Fragment {
  const { ending, cancellation, runId } = outcome
  const isUnknownRun = ending.kind === 'poll-failed' && isNotFound(ending.failure)
  switch (cancellation.kind) {
    case 'not-wanted':
      if (runId === undefined || isUnknownRun) return NONE
      return fragment`; the run was not cancelled and may still be running`
    case 'no-run':
      return NONE
    case 'id-unknown':
      return fragment`; a run may have been started and cannot be looked up`
    case 'not-supported':
      return fragment`; the run may still be running because the test-suite workflow has no cancel`
    case 'cancelled':
      return fragment`; the run was cancelled`
    case 'already-finished':
      return fragment`; the run had already finished as ${cancellation.run.rawStatus}`
    case 'not-found':
      return isUnknownRun ? NONE : fragment`; the service does not know the run any more`
    case 'failed': {
      const reason = cancellation.failure && failureReason(cancellation.failure)
      const isSaid = 'failure' in ending && isSameFailure(cancellation.failure, ending.failure)
      const why = reason === undefined || isSaid ? NONE : fragment` (${reason})`
      return fragment`; the run could not be cancelled and may still be running${why}`
    }
  }
}

/** The counts that are not zero, and the time. Undefined if there is nothing to count yet. */
export function countsText({ run, counts, waitedMs }: StepOutcome): Fragment | undefined {
  if (run === undefined || (run.testCases === undefined && !isFinished(run))) return undefined
  const { passed, failed, flaky, skipped, other, byOutcome } = counts
  const kinds = [
    ...some(byOutcome['timed-out'], fragment`timed out`),
    ...some(byOutcome.interrupted, fragment`interrupted`),
  ]
  const parts = [
    ...some(failed, fragment`failed${inBrackets(kinds)}`),
    ...some(passed, fragment`passed${inBrackets(some(flaky, fragment`flaky`))}`),
    ...some(skipped, fragment`skipped`),
    ...some(other, fragment`other`),
  ]
  if (parts.length === 0) parts.push(run.testCases === undefined ? fragment`No results` : fragment`No test cases`)
  const runMs = runDurationMs(run)
  const what = runMs === undefined ? fragment`waited` : fragment`run time`
  return joinWithDots([...parts, fragment`${what} ${durationText(runMs ?? waitedMs)}`])
}

function some(count: number, word: Fragment): Fragment[] {
  return count > 0 ? [fragment`${count} ${word}`] : []
}

function inBrackets(parts: readonly Fragment[]): Fragment {
  return parts.length === 0 ? NONE : fragment` (${join(parts, fragment`, `)})`
}

/** What was tested, and where. If another step started the run, only what the service says about it. */
export function factsText(outcome: StepOutcome): Fragment {
  const { subject } = outcome
  const { target } = subject
  const { environment, frameworkProject, autofix } = subject.parameters
  const isSuite = target.kind === 'test-suite'
  const facts = [isSuite ? fragment`Test suite ${target.testSuiteId}` : fragment`Project ${target.projectId}`]
  if (environment !== undefined) facts.push(fragment`Environment ${environment}`)
  const tested = testedBranch(outcome)
  const caveat = isSuite ? fragment` (metadata: the service may test another)` : NONE
  if (tested !== undefined) facts.push(fragment`Branch ${tested}${caveat}`)
  if (frameworkProject !== undefined) facts.push(fragment`Framework project ${frameworkProject}`)
  const runId = linkedRunId(outcome)
  if (runId !== undefined) facts.push(fragment`Run ${runId}`)
  if (autofix !== undefined) facts.push(autofix ? fragment`Auto-fix on` : fragment`Auto-fix off`)
  return joinWithDots(facts)
}

/** The two branches, if they differ. Undefined if the verdict is about a PASSED run, because it then names both. */
export function differingBranches({ otherBranch, subject, ending }: StepOutcome) {
  const asked = subject.parameters.branch
  if (otherBranch === undefined || asked === undefined) return undefined
  if (ending.kind === 'finished' && ending.run.status === 'PASSED') return undefined
  return { tested: otherBranch, asked }
}

export function otherBranchWarning(outcome: StepOutcome): LogLine | undefined {
  const branches = differingBranches(outcome)
  if (branches === undefined) return undefined
  const { tested, asked } = branches
  return logLine`Run ${outcome.runId ?? ''} is of the branch ${quote(tested, BRANCH_LIMIT_CHARS)}, as the service says, and this step asked for ${quote(asked, BRANCH_LIMIT_CHARS)}. Check which branches the service has of this project.`
}

export function testedBranch({ run, subject }: StepOutcome): string | Untrusted | undefined {
  return run?.branchName ?? subject.parameters.branch
}

export function joinWithDots(parts: readonly Fragment[]): Fragment {
  return join(parts, fragment` · `)
}

function join(parts: readonly Fragment[], separator: Fragment): Fragment {
  const [first = NONE, ...others] = parts
  return others.reduce((all, part) => fragment`${all}${separator}${part}`, first)
}
