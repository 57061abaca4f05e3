import { type Failure, isNotFound } from '../model/failure.ts'
import type { Ending, StepOutcome } from '../model/outcome.ts'
import { type Counts, isFailing, isFinished, type TestCase } from '../model/run.ts'
import { code, type Fragment, fragment, quote, render } from '../text/safe-text.ts'
import { rawText } from '../text/untrusted.ts'
import { firstLineOf, oneLine } from '../text/visible-text.ts'
import { countsOf, newFailuresText, removedAndSkippedCounts } from './counts.ts'
import { failureAdvice, failureReason, notFoundAdvice, refusalAdvice, SENTENCE_LIMIT_CHARS } from './failure-text.ts'
import {
  CANCEL_IT,
  COMMA,
  casesOf,
  durationText,
  inBrackets,
  join,
  NONE,
  type Parts,
  RUN_WITHOUT_ID,
  SPACE,
} from './phrases.ts'
import { placeText, sortedCases, titleOf } from './test-case.ts'
import { linkedRunId } from './what-is-tested.ts'

const FAIL = fragment`❌`
const WARNING = fragment`⚠️`
const CANCELLED = fragment`🚫`

const MAY_BE_RUNNING = fragment`The run may still be running.`

const TITLES_NAMED = 3
const STATUSES_NAMED = 3
/** If the titles are long, fewer are named. An annotation has at most 4,000 characters, and what a person can do follows the titles. */
const TITLES_LIMIT_CHARS = 1_000

interface EndingText {
  readonly sign: Fragment
  /** Only words of ours, because the runner (seen in 2.336) masks no secrets in the title of an annotation. A test checks this. */
  readonly title: Fragment
  /** What happened: the beginning of the first sentence. */
  readonly what: Fragment
  /** What was done about the run, and what the user can do. Each is one sentence or more. */
  readonly next: readonly Fragment[]
}

// The first sentence of a verdict, for example:
//
//   Run 4f9e finished as FAILED: 3 of 40 test cases failed, 1 new.
//   Run 4f9e finished as FAILED with the message “no browser”, and no test case is listed.
//   Run 4f9e finished as PASSED, although 2 of 40 test cases failed.
//   Run 4f9e was still RUNNING after 1 h (the input timeout-minutes), and the run has the message “no browser”.
//
// `endingText` writes its beginning, up to the status or the reason. `messageAndResults` writes the rest.

/** The verdict in the log: what happened, with the message of the run and the results, and what the user can do. */
export function verdictSentences(outcome: StepOutcome): Fragment {
  const { what, next } = endingText(outcome)
  return join([fragment`${what}${messageAndResults(outcome)}.`, ...next], SPACE)
}

/** If the run has not finished, its results are not complete, and are not here. */
function messageAndResults(outcome: StepOutcome): Fragment {
  const message = outcome.run?.message
  const quoted = message && quote(firstLineOf(message), SENTENCE_LIMIT_CHARS)
  if (outcome.ending.kind !== 'finished') return quoted ? fragment`, and the run has the message ${quoted}` : NONE
  const withMessage = quoted ? fragment` with the message ${quoted}` : NONE
  return fragment`${withMessage}${join([resultsOf(outcome), ...removedAndSkippedCounts(outcome.comparison)], COMMA)}`
}

/**
 * What a page says below the headline and the counts. Undefined if these say everything. The message of the run is not here,
 * because the summary shows it apart, and the comment never shows it.
 */
export function pageSentences(outcome: StepOutcome): Fragment | undefined {
  const { what, next } = endingText(outcome)
  // After a finished run, the headline and the counts say what happened.
  if (outcome.ending.kind === 'finished' && next.length === 0) return undefined
  return join([fragment`${what}.`, ...next], SPACE)
}

/** How the log shows the verdict. A success is a warning if a test case failed, or has no known result. */
export function verdictLevel({ success, counts }: StepOutcome): 'error' | 'warning' | 'info' {
  if (!success) return 'error'
  return counts.failed + counts.other > 0 ? 'warning' : 'info'
}

export function endingText(outcome: StepOutcome): EndingText {
  const { reason, run, counts } = outcome
  const noReason =
    run?.message === undefined
      ? fragment`The service does not say why. Look up the run at the service to find the reason.`
      : undefined
  switch (reason.kind) {
    case 'passed':
      return finishedText(outcome, fragment`✅`, fragment`Tests passed`)
    case 'passed-with-doubts': {
      const title =
        counts.failed > 0 ? fragment`Run passed, with failed tests` : fragment`Run passed, with unknown results`
      const next = fragment`The step succeeds, because the run's status decides. If such a run must fail, set the input ${code('strict')} to ${code('true')}.`
      return finishedText(outcome, WARNING, title, next)
    }
    case 'strict': {
      const title = counts.failed > 0 ? fragment`Tests failed` : fragment`Unknown results`
      const next = fragment`The step fails, because the input ${code('strict')} is ${code('true')}.`
      return finishedText(outcome, FAIL, title, next)
    }
    case 'no-tests':
      return finishedText(outcome, FAIL, fragment`No tests ran`, noTestsAdvice(counts))
    case 'no-tests-allowed': {
      const next = fragment`The step succeeds, because the input ${code('pass-with-no-tests')} is ${code('true')}.`
      return finishedText(outcome, WARNING, fragment`No tests ran`, next)
    }
    case 'other-branch':
      return finishedText(outcome, FAIL, fragment`Another branch was tested`, otherBranchAdvice(outcome))
    case 'failed': {
      if (counts.failed > 0) return finishedText(outcome, FAIL, fragment`Tests failed`)
      // The service does not say the status of a test suite's run. It follows from the results.
      const isDerived = outcome.subject.target.kind === 'test-suite' && counts.other > 0
      const next = isDerived ? fragment`The step fails, because ${unknownResults(outcome)}.` : noReason
      return finishedText(outcome, FAIL, fragment`Run failed`, next)
    }
    case 'timed-out': {
      const next = fragment`It exceeded the service's own time limit.`
      return finishedText(outcome, fragment`⏱️`, fragment`Run timed out`, next)
    }
    case 'cancelled': {
      const next = fragment`It was cancelled at the service, not by this step. If nobody wanted that, re-run the job.`
      return finishedText(outcome, CANCELLED, fragment`Run cancelled`, next)
    }
    case 'interrupted':
      return finishedText(outcome, WARNING, fragment`Run interrupted`, noReason)
    case 'unknown-status': {
      const next = fragment`The step fails, because this version of the action does not know this status. Update the action.`
      return finishedText(outcome, FAIL, fragment`Run finished with an unknown status`, next)
    }
    case 'started': {
      const what = fragment`This step does not wait for run ${linkedRunId(outcome)}, so it does not know whether the tests pass`
      return textOf(fragment`▶️`, fragment`Run started`, what)
    }
    case 'wait-timeout':
      return waitTimeoutText(outcome, reason)
    case 'aborted':
      return abortText(outcome, reason)
    case 'start-failed':
      return startFailedText(outcome, reason)
    case 'poll-failed': {
      const { failure } = reason
      const what = fragment`The status of run ${linkedRunId(outcome)} could not be read, because ${failureReason(failure)}`
      const advice = isNotFound(failure) ? notFoundAdvice(outcome.subject.ownsRun) : failureAdvice(failure)
      return textOf(FAIL, fragment`Run status could not be read`, what, advice, ...cancellationText(outcome))
    }
  }
}

function textOf(sign: Fragment, title: Fragment, what: Fragment, ...next: Parts): EndingText {
  return { sign, title, what, next: next.filter((sentence) => sentence !== undefined) }
}

function finishedText(outcome: StepOutcome, sign: Fragment, title: Fragment, ...next: Parts): EndingText {
  return textOf(sign, title, fragment`Run ${linkedRunId(outcome)} finished as ${outcome.run?.rawStatus ?? ''}`, ...next)
}

type EndingOf<Kind extends Ending['kind']> = Extract<Ending, { kind: Kind }>

function waitTimeoutText(outcome: StepOutcome, ending: EndingOf<'wait-timeout'>): EndingText {
  const { limitMs, wasQueued, failure } = ending
  const title = wasQueued ? fragment`Run did not begin` : fragment`Run did not finish`
  // The sentence names no status if the last poll failed, or if main has cancelled the run and then read it as CANCELLED.
  const readStatus = failure === undefined ? unfinishedStatus(outcome) : undefined
  const status = wasQueued ? 'QUEUED' : readStatus
  const still = status === undefined ? fragment`had not finished` : fragment`was still ${status}`
  const what = fragment`Run ${linkedRunId(outcome)} ${still} after ${durationText(limitMs)} (the input ${code('timeout-minutes')})`
  const last = failure && fragment`Its last status request failed, because ${failureReason(failure)}.`
  const advice = fragment`If the run needs more time, raise the input ${code('timeout-minutes')}.`
  return textOf(fragment`⏱️`, title, what, last, ...cancellationText(outcome), advice)
}

function abortText(outcome: StepOutcome, { cause }: EndingOf<'aborted'>): EndingText {
  const title = fragment`Step cancelled`
  const when = momentOfAbort(outcome)
  const aboutRun = cancellationText(outcome)
  if (cause === 'system signal') {
    const what = fragment`The workflow was cancelled, or the step exceeded its time limit, ${when}`
    return textOf(CANCELLED, title, what, ...aboutRun)
  }
  const otherwise = fragment`If the job is still running, another step has probably removed the files of this step from the runner's temporary folder.`
  return textOf(CANCELLED, title, fragment`The job has ended ${when}`, otherwise, ...aboutRun)
}

function noRunId(failure: Failure): Fragment {
  return fragment`The start request returned no run id, because ${failureReason(failure)}`
}

function startFailedText(outcome: StepOutcome, { failure }: EndingOf<'start-failed'>): EndingText {
  const why = failureReason(failure)
  const next = [failureAdvice(failure), refusalAdvice(failure), ...cancellationText(outcome)]
  if (outcome.cancellation.kind !== 'id-unknown')
    return textOf(FAIL, fragment`Run not started`, fragment`The run could not be started, because ${why}`, ...next)
  return textOf(FAIL, fragment`Run may have been started`, noRunId(failure), ...next)
}

function otherBranchAdvice({ run, subject }: StepOutcome): Fragment {
  const tested = quote(run?.branchName ?? '')
  const asked = quote(subject.parameters.branch ?? '')
  return fragment`The service says that it tested the branch ${tested}, and this step asked for ${asked}. So nothing shows whether the tests of ${asked} pass. Check whether ${asked} is pushed. If the service has another name for ${asked}, set the input ${code('branch')} to that name. Otherwise ask the operators of the service.`
}

function noTestsAdvice({ other }: Counts): Fragment {
  const advice =
    other > 0
      ? fragment`Ask the operators of the service what the status of these test cases means.`
      : fragment`If that is expected, set the input ${code('pass-with-no-tests')} to ${code('true')}. Otherwise check which tests the service runs here.`
  return fragment`The step fails, because no test case is known to have run. ${advice}`
}

/** The results of a finished run in the first sentence. */
function resultsOf(outcome: StepOutcome): Fragment {
  const { run, counts } = outcome
  if (run?.testCases === undefined) return fragment`, and the service sent no results`
  if (run.testCases.length === 0) return fragment`, and no test case is listed`
  if (run.status !== 'PASSED') return fragment`: ${failedCases(outcome)}`
  if (counts.failed + counts.other > 0) return fragment`, although ${doubts(outcome)}`
  return fragment`: ${join(countsOf(counts), COMMA) ?? NONE}`
}

/** The first failing titles follow in brackets. If no test case failed, the other counts follow instead. */
function failedCases(outcome: StepOutcome): Fragment {
  const { total, failed } = outcome.counts
  const what = fragment`${failed} of ${total} ${casesOf(total)} failed`
  if (failed === 0) return join([what, ...countsOf(outcome.counts)], COMMA)
  const titles = sortedCases(outcome).filter(isFailing).slice(0, TITLES_NAMED).map(titleAndPlace)
  while (titles.length > 1 && render(join(titles, COMMA) ?? NONE).length > TITLES_LIMIT_CHARS) titles.pop()
  const more = failed > titles.length ? fragment`and ${failed - titles.length} more` : undefined
  return join([fragment`${what}${inBrackets([...titles, more])}`, newFailuresText(outcome)], COMMA)
}

/** For example: “pays by card” at e2e/pay.spec.ts:12. Two files may have cases of one title. */
function titleAndPlace(testCase: TestCase): Fragment {
  const place = placeText(testCase)
  const title = quote(titleOf(testCase))
  return place === undefined ? title : fragment`${title} at ${place}`
}

function doubts(outcome: StepOutcome): Fragment {
  const { failed, other } = outcome.counts
  const unknown = unknownResults(outcome)
  if (failed === 0) return unknown
  return join([failedCases(outcome), other > 0 ? unknown : undefined], fragment`, and `)
}

function unknownResults(outcome: StepOutcome): Fragment {
  const { other, total } = outcome.counts
  return fragment`the action knows no result of ${other} of ${total} ${casesOf(total)} (status ${unknownStatuses(outcome)})`
}

/** For example: “BLOCKED”, none. */
function unknownStatuses(outcome: StepOutcome): Fragment {
  const others = sortedCases(outcome).filter(({ kind }) => kind === 'other')
  const statuses = new Set(others.map(({ rawStatus }) => oneLine(rawStatus)))
  const named = [...statuses].map((status) => (rawText(status) === '' ? fragment`none` : quote(status)))
  return join(named.slice(0, STATUSES_NAMED), COMMA) ?? NONE
}

function unfinishedStatus({ run }: StepOutcome) {
  return run === undefined || isFinished(run) ? undefined : run.rawStatus
}

function momentOfAbort(outcome: StepOutcome): Fragment {
  if (outcome.cancellation.kind === 'id-unknown') return fragment`while this step was starting a run`
  if (outcome.runId === undefined) return fragment`before this step started a run`
  const [id, status] = [linkedRunId(outcome), unfinishedStatus(outcome)]
  return status === undefined ? fragment`while this step waited for run ${id}` : fragment`while run ${id} was ${status}`
}

/** Whether the step cancelled the run, and whether the run may still be running. */
function cancellationText({ ending, cancellation, run, runId, subject }: StepOutcome): readonly Fragment[] {
  // The sentence before says already that the service does not know the run.
  const isUnknown = ending.kind === 'poll-failed' && isNotFound(ending.failure)
  switch (cancellation.kind) {
    case 'none':
      return []
    case 'not-allowed': {
      if (isUnknown) return []
      const byDefault = subject.ownsRun ? NONE : fragment` (the default with ${code('run-id')})`
      const why = fragment`because the input ${code('cancel-on-abort')} is ${code('false')}${byDefault}`
      return [fragment`This step did not cancel the run, ${why}.`, MAY_BE_RUNNING, CANCEL_IT]
    }
    case 'not-supported': {
      if (isUnknown) return []
      const why = fragment`because the action cannot cancel runs of test suites`
      return [fragment`Run ${runId ?? ''} may still be running, ${why}.`, CANCEL_IT]
    }
    case 'cancelled':
      return [fragment`This step cancelled the run.`]
    case 'already-finished':
      return [fragment`The run had already finished as ${run?.rawStatus ?? ''}.`]
    case 'not-found':
      return isUnknown ? [] : [fragment`The service does not know the run any more.`]
    case 'id-unknown': {
      const { failure } = cancellation
      // After a failed start, the sentence before says it already. If main has given up the request, there is nothing more to say.
      const isSaid = ending.kind === 'start-failed' || failure.kind === 'aborted'
      return isSaid ? [RUN_WITHOUT_ID] : [fragment`${noRunId(failure)}.`, RUN_WITHOUT_ID]
    }
    case 'failed': {
      const why = failureReason(cancellation.failure)
      // Post may not run if the job has ended.
      const hasJobEnded = ending.kind === 'aborted' && ending.cause === 'end of job'
      const next = hasJobEnded ? CANCEL_IT : fragment`The post step tries again to cancel the run.`
      return [fragment`This step could not cancel the run, because ${why}.`, MAY_BE_RUNNING, next]
    }
  }
}
