import { isNotFound, isSameFailure } from '../outcome/failure.ts'
import { type Counts, isFinished, isSameBranch, type Run, runDurationMs } from '../outcome/run.ts'
import {
  type AbortCause,
  type Ending,
  isDoubtfulPass,
  type StepOutcome,
  type UnknownStatuses,
  type UntestedHead,
} from '../outcome/step-outcome.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, firstLineOf, fragment, type LogLine, link, logLine, quote, render } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { casesWith, FAILING, titleOf } from './case-table.ts'
import { failureAdvice, failureReason, UNKNOWN_RUN } from './failure-text.ts'

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
/** The name of the entry for the run itself in files that list test cases. */
export const RUN_ENTRY = 'The run itself'
const WITHOUT_RESULT = fragment`without a result`

interface Headline {
  readonly sign: Fragment
  readonly title: Fragment
  /** Follows the title without a space, for example `: 3 of 40`. */
  readonly counts: Fragment
}

export function headline(outcome: StepOutcome): Headline {
  const { conclusion, ending, success, counts, unknown } = outcome
  const { total, passed, failed } = counts
  const [n, result] = failed > 0 ? [failed, fragment`failed`] : [passed, fragment`passed`]
  const tally = total === 0 ? NONE : fragment`: ${n} of ${total} ${result}`
  const head = (sign: Fragment, title: Fragment, text = tally): Headline => ({ sign, title, counts: text })
  switch (conclusion) {
    case 'passed':
      if (failed > 0) return head(WARNING, fragment`Run passed, with failed tests`, fragment`: ${failed} of ${total}`)
      if (unknown.count > 0)
        return head(WARNING, fragment`Run passed, with unknown statuses`, fragment`: ${unknown.count} of ${total}`)
      // Without the skipped test case, `15 of 16` would look like one failure.
      return head(PASS, fragment`Tests passed`, fragment`: ${passed} of ${total}${rest(counts)}`)
    case 'failed':
      if (failed === 0) {
        if (outcome.run?.status === 'PASSED')
          return head(FAIL, fragment`Unknown statuses`, fragment`: ${unknown.count} of ${total}`)
        return head(FAIL, fragment`Run failed`, total === 0 ? NONE : fragment`, although ${noneFailed(total)}`)
      }
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
  if (ending.kind === 'poll-failed') return fragment`Run status could not be read`
  if (run?.status === 'PASSED') return fragment`Another branch was tested`
  if (ending.kind !== 'start-failed') return fragment`Run ended with an unknown status`
  if (cancellation.kind === 'no-run') return fragment`Run not started`
  return cancellation.kind === 'id-unknown' ? fragment`Run may have been started` : fragment`Invalid run id`
}

function rest({ flaky, skipped, other }: Counts): Fragment {
  const others = [NONE, ...some(skipped, fragment`skipped`), ...some(other, WITHOUT_RESULT)]
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

/** The verdict with the run's id and page, its status, the counts and the first failing titles, and what to do. */
export function verdictSentence(outcome: StepOutcome): LogLine {
  return logLine`${verdict(outcome, 'log')}`
}

/** The verdict on a page. Undefined if tests passed or failed, because the headline says it. */
export function explanation(outcome: StepOutcome): Fragment | undefined {
  const { conclusion, counts, run } = outcome
  const isPlainPass = conclusion === 'passed' && !isDoubtfulPass(outcome)
  const isPlainFailure = conclusion === 'failed' && run?.status !== 'PASSED' && counts.failed > 0
  if (isPlainPass || isPlainFailure) return undefined
  // A page has the counts above, and a table of the test cases. The job summary has the whole message of the run. The
  // comment has no message, because nobody masks secrets in a comment.
  return verdict(outcome, 'page')
}

/** One sentence says what happened. Others say what was done about the run, and what the user can do. */
function verdict(outcome: StepOutcome, where: 'log' | 'page'): Fragment {
  const { ending } = outcome
  const id = linkedRunId(outcome)
  const [TheRun, theRun] =
    id === undefined ? [fragment`The run`, fragment`the run`] : [fragment`Run ${id}`, fragment`run ${id}`]
  const cancelled = cancellationText(outcome)
  switch (ending.kind) {
    case 'finished':
      return fragment`${TheRun} ${endOfRun(ending.run, outcome, where)}`
    case 'started':
      return fragment`This step does not wait for ${theRun}, so it does not know whether the tests pass.`
    case 'wait-timeout':
      return fragment`${TheRun} ${waitTimeoutText(ending, outcome)}${cancelled}`
    case 'aborted':
      return fragment`${textOfAbort(ending.cause, momentOfAbort(outcome, theRun))}${cancelled}`
    case 'start-failed':
      return fragment`${startFailedText(outcome)}, because ${failureReason(ending.failure)}.${cancelled}${failureAdvice(ending.failure, 'start')}`
    case 'poll-failed':
      return fragment`The status of ${theRun} could not be read, because ${failureReason(ending.failure)}.${cancelled}${failureAdvice(ending.failure, 'poll')}`
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

function endOfRun(run: Run, outcome: StepOutcome, where: 'log' | 'page'): Fragment {
  const { conclusion, success, counts, otherBranch } = outcome
  const finished = fragment`finished as ${run.rawStatus}`
  const message = where === 'log' ? messageOfRun(run) : NONE
  const result = where === 'log' ? fragment`${message}${tallyOf(run, counts)}` : NONE
  switch (conclusion) {
    case 'passed':
      if (!isDoubtfulPass(outcome)) return fragment`${finished}${result}.`
      return fragment`${finished}, although ${doubt(run, outcome)}. The step succeeds, because the run's status decides.`
    case 'no-tests': {
      const advice = success
        ? fragment`The input ${'pass-with-no-tests'} allows that.`
        : fragment`If that is expected, set the input ${'pass-with-no-tests'} to ${'true'}.`
      const unknown = outcome.unknown.count === 0 ? NONE : fragment` ${unknownCases(outcome.unknown, counts.total)}.`
      return fragment`${finished}, but ${nothingRan(run, counts.total)}.${unknown} ${advice}`
    }
    case 'timed-out':
      return fragment`exceeded the service's time limit and ${finished}${result}.`
    case 'cancelled':
      return fragment`${finished} (cancelled at the service, not by this step)${result}.`
    case 'interrupted':
      return fragment`${finished} (interrupted by the service)${result}.`
    case 'error': {
      if (run.status !== 'PASSED' || otherBranch === undefined)
        return fragment`finished with the status ${quote(run.rawStatus, TITLE_LIMIT_CHARS)}${result}. This version of the action does not know this status, so the step fails. Update the action.`
      const { tested, asked } = quoted(otherBranch)
      return fragment`${finished}, but the service tested the branch ${tested}, and this step asked for ${asked}. So the tests of ${asked} are not known to have passed. If the service has another name for ${asked}, set the input ${'branch'} to that name. Otherwise ask the operators of the service.`
    }
    default:
      if (run.status === 'PASSED')
        return fragment`${finished}, although ${doubt(run, outcome)}. The step fails, because the input ${'strict'} is ${'true'}.`
      if (counts.failed > 0) return fragment`${finished}${result}.`
      return fragment`${finished}${message}${withoutFailedCase(run, counts)}.${run.message === undefined ? LOOK_UP : NONE}`
  }
}

/** Whether the run stopped early, so that results may be missing. */
export function isIncomplete({ run, counts }: StepOutcome): boolean {
  return run !== undefined && counts.total > 0 && run.status !== 'PASSED' && run.status !== 'FAILED'
}

const LOOK_UP = fragment` Look up the run at the service to find the reason.`
/** The limit of the service's own sentences. */
const RUN_MESSAGE_LIMIT_CHARS = 1_000

function messageOfRun({ message }: Run): Fragment {
  if (message === undefined) return NONE
  return fragment` with the message ${quote(firstLineOf(message), RUN_MESSAGE_LIMIT_CHARS)}`
}

function tallyOf(run: Run, counts: Counts): Fragment {
  const { total, passed, failed } = counts
  if (run.testCases === undefined) return fragment`, and the service sent no results`
  if (total === 0) return fragment`, and no test case is listed`
  if (failed > 0) return fragment`: ${failedCases(run, counts)}`
  const none = run.status === 'PASSED' ? NONE : fragment`, none failed`
  return fragment`: ${passed} of ${total} ${casesOf(total)} passed${rest(counts)}${none}`
}

function failedCases({ testCases = [] }: Run, { total, failed }: Counts): Fragment {
  return fragment`${failed} of ${total} ${casesOf(total)} failed (${firstTitles(testCases, failed)})`
}

/** Why a PASSED run is in doubt. */
function doubt(run: Run, { counts, unknown }: StepOutcome): Fragment {
  const parts = [
    ...(counts.failed > 0 ? [failedCases(run, counts)] : []),
    ...(unknown.count > 0 ? [unknownCases(unknown, counts.total)] : []),
  ]
  return join(parts, fragment`, and `)
}

function unknownCases({ count, statuses }: UnknownStatuses, total: number): Fragment {
  const names = statuses.map((status) => quote(status, TITLE_LIMIT_CHARS))
  const have = count === 1 ? fragment`has` : fragment`have`
  return fragment`${count} of ${total} ${casesOf(total)} ${have} a status that this version of the action does not know (${join(names, fragment`, `)})`
}

function withoutFailedCase(run: Run, counts: Counts): Fragment {
  if (counts.total === 0) return tallyOf(run, counts)
  return fragment`, although ${noneFailed(counts.total)} (${counts.passed} passed${rest(counts)})`
}

function noneFailed(total: number): Fragment {
  return total === 1 ? fragment`its one test case did not fail` : fragment`none of its ${total} test cases failed`
}

function casesOf(total: number): Fragment {
  return total === 1 ? fragment`test case` : fragment`test cases`
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
  const within = fragment`${durationText(limit.ms)} (the input ${limit.input})`
  const what =
    limit.input === 'queue-timeout-minutes'
      ? fragment`never began. It was still queued after ${within}.`
      : fragment`did not finish within ${within}.${statusesSeen(outcome)}`
  return failure === undefined
    ? what
    : fragment`${what} Its last status request failed, because ${failureReason(failure)}.`
}

function statusesSeen({ run, queuedMs = 0 }: StepOutcome): Fragment {
  const last = run === undefined || isFinished(run) ? undefined : run
  const queued = queuedMs < NOTEWORTHY_QUEUE_MS ? NONE : fragment` It was queued for ${durationText(queuedMs)}`
  if (queued !== NONE && last?.status === 'QUEUED') return fragment`${queued} and never began.`
  const status = last === undefined ? NONE : fragment` Its last status was ${last.rawStatus}.`
  return queued === NONE ? status : fragment`${queued}.${status}`
}

function textOfAbort(cause: AbortCause, moment: Fragment): Fragment {
  switch (cause) {
    case 'folder emptied':
      return fragment`The runner's temporary folder was emptied ${moment}. The runner does this at the end of a job, so this step assumed that the job had ended.`
    case 'log closed':
      return fragment`The runner stopped reading the log of this step ${moment}.`
    default:
      return fragment`The workflow was cancelled, or the step exceeded its time limit, ${moment}.`
  }
}

function momentOfAbort({ run, runId, cancellation }: StepOutcome, theRun: Fragment): Fragment {
  if (run !== undefined && !isFinished(run)) return fragment`while ${theRun} was ${run.rawStatus}`
  if (run !== undefined || runId !== undefined) return fragment`while this step waited for ${theRun}`
  if (cancellation.kind === 'no-run') return fragment`before this step started a run`
  return fragment`while this step was starting a run`
}

/** Whether the step cancelled the run, and whether the run may still be running. Sentences, or nothing. */
function cancellationText(outcome: StepOutcome): Fragment {
  const { ending, cancellation, runId } = outcome
  const isUnknownRun = ending.kind === 'poll-failed' && isNotFound(ending.failure)
  switch (cancellation.kind) {
    case 'not-wanted':
      if (runId === undefined || isUnknownRun) return NONE
      return fragment` This step did not cancel the run, because the input ${'cancel-on-abort'} does not ask for that. The run may still be running.`
    case 'no-run':
      return NONE
    case 'id-unknown':
      return fragment` ${UNKNOWN_RUN}`
    case 'not-supported':
      return fragment` The run may still be running, because the action cannot cancel runs of test suites.`
    case 'cancelled':
      return fragment` This step cancelled the run.`
    case 'already-finished':
      return fragment` The run had already finished as ${cancellation.run.rawStatus}.`
    case 'not-found':
      return isUnknownRun ? NONE : fragment` The service does not know the run any more.`
    case 'failed': {
      const { failure } = cancellation
      const isSaid = 'failure' in ending && isSameFailure(failure, ending.failure)
      const why = failure === undefined || isSaid ? NONE : fragment`, because ${failureReason(failure)}`
      return fragment` This step could not cancel the run${why}. The run may still be running. ${afterFailedCancel(outcome)}`
    }
  }
}

/** If the job is over, post may never run. If the id is unusable, it may be too long for the record. */
function afterFailedCancel({ ending, runId }: StepOutcome): Fragment {
  const isJobOver = ending.kind === 'aborted' && (ending.cause === 'folder emptied' || ending.cause === 'log closed')
  return isJobOver || runId === undefined
    ? fragment`If the run should not go on, cancel it at the service.`
    : fragment`The post step tries again to cancel the run.`
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
    ...some(other, WITHOUT_RESULT),
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
  const { subject, run } = outcome
  const { target, commitName, parameters } = subject
  const { environment, frameworkProject, autofix } = parameters
  const isSuite = target.kind === 'test-suite'
  const facts = [isSuite ? fragment`Test suite ${target.testSuiteId}` : fragment`Project ${target.projectId}`]
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

/** Undefined if the branches agree, and after a PASSED run, because the verdict then names both branches. */
export function differingBranches({ otherBranch, ending }: StepOutcome) {
  const isInVerdict = ending.kind === 'finished' && ending.run.status === 'PASSED'
  return otherBranch === undefined || isInVerdict ? undefined : quoted(otherBranch)
}

function quoted({ tested, asked }: NonNullable<StepOutcome['otherBranch']>) {
  return { tested: quote(tested, BRANCH_LIMIT_CHARS), asked: quote(asked, BRANCH_LIMIT_CHARS) }
}

export function otherBranchWarning(outcome: StepOutcome): LogLine | undefined {
  const branches = differingBranches(outcome)
  if (branches === undefined) return undefined
  const { tested, asked } = branches
  return logLine`Run ${outcome.runId ?? ''}: the service says that it tested ${tested}, and this step asked for ${asked}. Check whether ${asked} is pushed. If the service has another name for ${asked}, set the input branch to that name.`
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
