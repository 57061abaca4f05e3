import { type Failure, isNotFound } from '../model/failure.ts'
import type { AbortCause, Ending, NoRunOutcome, PassedReason, RunOutcome, StepOutcome } from '../model/outcome.ts'
import { FAILING, type FinishedRun, isFinished, type Run } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, quote, render } from '../text/safe-text.ts'
import { firstLineOf, visibleText } from '../text/visible-text.ts'
import { casesOfKind, titleOf } from './cases.ts'
import { countsOf, failedOfTotal, failedOrPassed, newFailuresText, ofTotal, passedOfTotal } from './counts.ts'
import { linkedRunId, otherBranchText } from './facts.ts'
import { failureAdvice, failureReason, notFoundAdvice, SENTENCE_LIMIT_CHARS } from './failure-text.ts'
import { CANCEL_IT, casesOf, inBrackets, join, NONE, RUN_WITHOUT_ID } from './words.ts'

// How each ending is worded. test/report/endings.test.ts tests all of it on every ending.

const PASS = fragment`✅`
const FAIL = fragment`❌`
const WARNING = fragment`⚠️`
const CLOCK = fragment`⏱️`
const STOP = fragment`🚫`
const START = fragment`▶️`

const TITLES_NAMED = 3
const STATUSES_NAMED = 3
const TITLE_LIMIT_CHARS = 120

interface EndingText {
  readonly sign: Fragment
  /** Only constant words, because the runner masks no secrets in the title of an annotation. */
  readonly title: Fragment
  /** Follows the title without a space, for example `: 3 of 40`. */
  readonly suffix: Fragment
  /** What happened, and then what was done about the run, and what the user can do. The log shows all of it. */
  readonly sentences: Fragment
  /**
   * What a page says below the headline and the counts. Undefined if these say everything. The summary has a part of its own for
   * the message of the run. The comment never shows this message, because nobody masks a comment.
   */
  readonly pageSentences: Fragment | undefined
}

export function endingText(outcome: StepOutcome): EndingText {
  return outcome.runId === undefined ? textWithoutRun(outcome) : textOfRun(outcome)
}

/** The sentences are the same in the log and on a page. */
function plainText(sign: Fragment, title: Fragment, suffix: Fragment, sentences: Fragment): EndingText {
  return { sign, title, suffix, sentences, pageSentences: sentences }
}

function textWithoutRun({ ending, cancellation }: NoRunOutcome): EndingText {
  const mayRun = cancellation.kind === 'id-unknown'
  const next = mayRun ? fragment` ${RUN_WITHOUT_ID}` : NONE
  switch (ending.kind) {
    case 'aborted': {
      const when = mayRun ? fragment`while this step was starting a run` : fragment`before this step started a run`
      return plainText(STOP, fragment`Step cancelled`, NONE, fragment`${sentencesOfAbort(ending.cause, when)}${next}`)
    }
    case 'start-failed': {
      const what = mayRun ? fragment`The start request returned no run id` : fragment`The run could not be started`
      const why = fragment`${failureReason(ending.failure)}.${failureAdvice(ending.failure, 'start')}`
      const title = mayRun ? fragment`Run may have been started` : fragment`Run not started`
      return plainText(FAIL, title, NONE, fragment`${what}, because ${why}${next}`)
    }
  }
}

function textOfRun(outcome: RunOutcome): EndingText {
  const { ending, reason } = outcome
  /** `what` happened. What was done about the run follows, and then what the user can do. */
  const unfinishedText = (
    sign: Fragment,
    title: Fragment,
    suffix: Fragment,
    what: Fragment,
    next = NONE,
  ): EndingText => {
    const sentences = (cancellation: Fragment) => fragment`${what}${cancellation}${next}`
    return {
      sign,
      title,
      suffix,
      sentences: sentences(cancellationText(outcome, { showsMessage: true })),
      pageSentences: sentences(cancellationText(outcome, { showsMessage: false })),
    }
  }
  switch (ending.kind) {
    case 'finished': {
      const { run } = ending
      return reason === 'ending' ? textOfFinished(run, outcome) : textOfPassed(run, reason, outcome)
    }
    case 'started': {
      const what = fragment`This step does not wait for run ${linkedRunId(outcome)}, so it does not know whether the tests pass.`
      return plainText(START, fragment`Run started`, NONE, what)
    }
    case 'wait-timeout': {
      const title = ending.wasQueued ? fragment`Run did not begin` : fragment`Run did not finish`
      const suffix = fragment` within ${durationText(ending.limitMs)}${failedOrPassed(outcome)}`
      const next = fragment` If the run needs more time, raise the input ${'timeout-minutes'}.`
      return unfinishedText(CLOCK, title, suffix, sentencesOfTimeout(ending, outcome), next)
    }
    case 'aborted': {
      const what = sentencesOfAbort(ending.cause, momentOfAbort(outcome))
      return unfinishedText(STOP, fragment`Step cancelled`, failedOrPassed(outcome), what)
    }
    case 'poll-failed': {
      const { failure } = ending
      const advice = isNotFound(failure) ? notFoundAdvice(outcome.subject.ownsRun) : failureAdvice(failure, 'poll')
      const what = fragment`The status of run ${linkedRunId(outcome)} could not be read, because ${failureReason(failure)}.${advice}`
      return unfinishedText(FAIL, fragment`Run status could not be read`, failedOrPassed(outcome), what)
    }
  }
}

function withMessage({ message }: Run): Fragment {
  return message === undefined ? NONE : fragment` with the message ${quote(firstLineOf(message), SENTENCE_LIMIT_CHARS)}`
}

/** How the log shows the verdict. A success is a warning if a test case failed, or has no known result. */
export function verdictLevel({ success, counts }: StepOutcome): 'error' | 'warning' | 'info' {
  if (!success) return 'error'
  return counts.failed + counts.other > 0 ? 'warning' : 'info'
}

function textOfFinished(run: FinishedRun, outcome: RunOutcome): EndingText {
  const { counts } = outcome
  const results = resultsOf(run, outcome)
  const finishedText = (
    sign: Fragment,
    title: Fragment,
    suffix: Fragment,
    what: Fragment,
    next = NONE,
  ): EndingText => ({
    sign,
    title,
    suffix,
    sentences: fragment`${what}${withMessage(run)}${results}.${next}`,
    pageSentences: fragment`${what}.${next}`,
  })
  const finished = fragment`Run ${linkedRunId(outcome)} finished as ${run.rawStatus}`
  const lookUp = run.message === undefined ? fragment` Look up the run at the service to find the reason.` : NONE
  switch (run.status) {
    // A PASSED run is not worded here, because its verdict has a reason of its own.
    case 'PASSED':
    case 'FAILED': {
      if (counts.failed > 0)
        return {
          ...finishedText(FAIL, fragment`Tests failed`, failedOfTotal(outcome), finished),
          pageSentences: undefined,
        }
      const although = counts.total === 0 ? NONE : fragment`, although no test case failed`
      const failed = finishedText(FAIL, fragment`Run failed`, although, finished, lookUp)
      // The message says why. The headline says all the rest.
      return run.message === undefined ? failed : { ...failed, pageSentences: undefined }
    }
    case 'TIMEDOUT': {
      const what = fragment`Run ${linkedRunId(outcome)} exceeded the service's time limit and finished as ${run.rawStatus}`
      return finishedText(CLOCK, fragment`Run timed out`, failedOrPassed(outcome), what)
    }
    case 'CANCELLED': {
      const what = fragment`${finished} (cancelled at the service, not by this step)`
      const next = fragment` If nobody wanted that, re-run the job.`
      return finishedText(STOP, fragment`Run cancelled`, failedOrPassed(outcome), what, next)
    }
    case 'INTERRUPTED': {
      const what = fragment`${finished} (interrupted by the service)`
      return finishedText(WARNING, fragment`Run interrupted`, failedOrPassed(outcome), what, lookUp)
    }
    case 'UNKNOWN': {
      const title = fragment`Run finished with an unknown status`
      const what = fragment`Run ${linkedRunId(outcome)} finished with the status ${quote(run.rawStatus, TITLE_LIMIT_CHARS)}`
      const next = fragment` The step fails, because this version of the action does not know this status. Update the action.`
      return finishedText(FAIL, title, failedOrPassed(outcome), what, next)
    }
  }
}

/** The service says PASSED. `reason` says what decided then. */
function textOfPassed(run: FinishedRun, reason: PassedReason, outcome: RunOutcome): EndingText {
  const { counts, success } = outcome
  const { failed, other } = counts
  const finished = fragment`Run ${linkedRunId(outcome)} finished as ${run.rawStatus}`
  const results = fragment`${finished}${resultsOf(run, outcome)}.`
  const doubtsOfTotal = failed > 0 ? failedOfTotal(outcome) : ofTotal(other, counts)
  switch (reason) {
    case 'other branch': {
      // The counts say nothing about the branch that was asked for.
      const sentences = fragment`${finished}, but on another branch. ${otherBranchText(outcome) ?? NONE}`
      return plainText(FAIL, fragment`Another branch was tested`, NONE, sentences)
    }
    case 'no tests':
      return plainText(
        success ? WARNING : FAIL,
        fragment`No tests ran`,
        ofTotal(0, counts),
        fragment`${results} ${noTestsText(outcome)}`,
      )
    case 'strict': {
      const title = failed > 0 ? fragment`Tests failed` : fragment`Unknown results`
      const sentences = fragment`${results} The step fails, because the input ${'strict'} is ${'true'}.`
      return plainText(FAIL, title, doubtsOfTotal, sentences)
    }
    case 'doubts': {
      const title = failed > 0 ? fragment`Run passed, with failed tests` : fragment`Run passed, with unknown results`
      const sentences = fragment`${results} The step succeeds, because the run's status decides. If such a run must fail, set the input ${'strict'} to ${'true'}.`
      return plainText(WARNING, title, doubtsOfTotal, sentences)
    }
    case 'no doubts':
      return { ...plainText(PASS, fragment`Tests passed`, passedOfTotal(counts), results), pageSentences: undefined }
  }
}

function resultsOf(run: FinishedRun, outcome: StepOutcome): Fragment {
  const { counts } = outcome
  if (run.testCases === undefined) return fragment`, and the service sent no results`
  if (run.testCases.length === 0) return fragment`, and no test case is listed`
  if (run.status !== 'PASSED') return fragment`: ${failedCases(outcome)}`
  if (counts.failed + counts.other > 0) return fragment`, although ${doubts(outcome)}`
  return fragment`: ${join(countsOf(counts), fragment`, `)}`
}

/** The first failing titles follow in brackets. If no test case failed, the other counts follow instead. */
function failedCases(outcome: StepOutcome): Fragment {
  const { total, failed } = outcome.counts
  const what = fragment`${failed} of ${total} ${casesOf(total)} failed`
  if (failed === 0) return join([what, ...countsOf(outcome.counts)], fragment`, `)
  const titles = casesOfKind(FAILING, outcome)
    .slice(0, TITLES_NAMED)
    .map((testCase) => quote(titleOf(testCase, TITLE_LIMIT_CHARS), TITLE_LIMIT_CHARS))
  const more = failed > TITLES_NAMED ? [fragment`and ${failed - TITLES_NAMED} more`] : []
  const named = fragment`${what}${inBrackets([...titles, ...more])}`
  return join([named, ...newFailuresText(outcome)], fragment`, `)
}

/** Why a PASSED run is in doubt. */
function doubts(outcome: StepOutcome): Fragment {
  const { failed, other, total } = outcome.counts
  const unknown = fragment`the action knows no result of ${other} of ${total} ${casesOf(total)} (status ${unknownStatuses(outcome)})`
  return join([...(failed > 0 ? [failedCases(outcome)] : []), ...(other > 0 ? [unknown] : [])], fragment`, and `)
}

/** For example: “BLOCKED”, none. */
function unknownStatuses(outcome: StepOutcome): Fragment {
  const statuses = casesOfKind(['other'], outcome).map(({ rawStatus }) => visibleText(rawStatus, TITLE_LIMIT_CHARS))
  const first = [...new Set(statuses)].slice(0, STATUSES_NAMED)
  return join(
    first.map((status) => (String(status) === '' ? fragment`none` : quote(status, TITLE_LIMIT_CHARS))),
    fragment`, `,
  )
}

function noTestsText({ success, counts }: StepOutcome): Fragment {
  if (success) return fragment`The step succeeds, because the input ${'pass-with-no-tests'} is ${'true'}.`
  const advice =
    counts.other > 0
      ? fragment`Ask the operators of the service what the status of these test cases means.`
      : fragment`If that is expected, set the input ${'pass-with-no-tests'} to ${'true'}. Otherwise check which tests the service runs here.`
  return fragment`The step fails, because no test case is known to have run. ${advice}`
}

function sentencesOfTimeout(
  { limitMs, wasQueued, failure }: Extract<Ending, { kind: 'wait-timeout' }>,
  outcome: RunOutcome,
): Fragment {
  const id = linkedRunId(outcome)
  const limit = fragment`${durationText(limitMs)} (the input ${'timeout-minutes'})`
  const failed =
    failure === undefined ? NONE : fragment` Its last status request failed, because ${failureReason(failure)}.`
  if (wasQueued) return fragment`Run ${id} was still ${'QUEUED'} after ${limit}.${failed}`
  const { run } = outcome
  const last = run === undefined || isFinished(run) ? NONE : fragment` Its last status was ${run.rawStatus}.`
  return fragment`Run ${id} did not finish within ${limit}.${last}${failed}`
}

function sentencesOfAbort(cause: AbortCause, when: Fragment): Fragment {
  switch (cause) {
    case 'job ended':
      return fragment`The job has ended ${when}. If the job goes on, another step has removed the files of this step from the runner's temporary folder.`
    case 'signal':
      return fragment`The workflow was cancelled, or the step exceeded its time limit, ${when}.`
  }
}

function momentOfAbort(outcome: RunOutcome): Fragment {
  const { run } = outcome
  const id = linkedRunId(outcome)
  if (run !== undefined && !isFinished(run)) return fragment`while run ${id} was ${run.rawStatus}`
  return fragment`while this step waited for run ${id}`
}

/** Whether the step cancelled the run, and whether the run may still be running. Sentences, or nothing. */
function cancellationText(
  { ending, cancellation, subject }: RunOutcome,
  { showsMessage }: { readonly showsMessage: boolean },
): Fragment {
  const pollFailure = ending.kind === 'poll-failed' ? ending.failure : undefined
  const isRunNotFound = pollFailure !== undefined && isNotFound(pollFailure)
  switch (cancellation.kind) {
    case 'not-wanted': {
      if (isRunNotFound) return NONE
      const byDefault = subject.ownsRun ? NONE : fragment` (the default with ${'run-id'})`
      return fragment` This step did not cancel the run, because the input ${'cancel-on-abort'} is ${'false'}${byDefault}. The run may still be running. ${CANCEL_IT}`
    }
    case 'not-supported':
      return fragment` The run may still be running, because the action cannot cancel runs of test suites. ${CANCEL_IT}`
    case 'cancelled':
      return fragment` This step cancelled the run.`
    case 'already-finished': {
      const { run } = cancellation
      return fragment` The run had already finished as ${run.rawStatus}${showsMessage ? withMessage(run) : NONE}.`
    }
    case 'not-found':
      return isRunNotFound ? NONE : fragment` The service does not know the run any more.`
    case 'failed': {
      const why = reasonOfCancelFailure(cancellation.failure, ending)
      const hasJobEnded = ending.kind === 'aborted' && ending.cause === 'job ended'
      // Post may not run if the job is over.
      const next = hasJobEnded ? CANCEL_IT : fragment`The post step tries again to cancel the run.`
      return fragment` This step could not cancel the run${why}. The run may still be running. ${next}`
    }
  }
}

/** Nothing if the sentence before has said it. */
function reasonOfCancelFailure(failure: Failure, ending: Ending): Fragment {
  const reason = failureReason(failure)
  const before = 'failure' in ending && ending.failure !== undefined ? failureReason(ending.failure) : NONE
  return render(reason) === render(before) ? NONE : fragment`, because ${reason}`
}
