import { isNotFound } from '../model/failure.ts'
import { type Ending, isDoubtfulPass, type StepOutcome } from '../model/outcome.ts'
import { FAILING, isFinished, type Run } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, quote } from '../text/safe-text.ts'
import { firstLineOf, visibleText } from '../text/visible-text.ts'
import { casesOfKind, titleOf } from './case-table.ts'
import { countsOf, linkedRunId, otherBranchText } from './facts.ts'
import { CANCEL_IT, failureAdvice, failureReason, RUN_WITHOUT_ID, SENTENCE_LIMIT_CHARS } from './failure-text.ts'
import { casesOf, inBrackets, join, NONE } from './words.ts'

// test/report/endings.test.ts tests the sentences on every ending.

const TITLES_NAMED = 3
const STATUSES_NAMED = 3
const TITLE_LIMIT_CHARS = 120

/**
 * The log shows the whole verdict. A page has a line of its own for the counts. The summary has a part of its own for the
 * message of the run, and the comment never shows it, because nobody masks a comment.
 */
type Medium = 'log' | 'page'

/** What happened, and then what was done about the run, and what the user can do. */
export function verdictText(outcome: StepOutcome, medium: Medium): Fragment {
  const { ending } = outcome
  const id = idOf(outcome)
  switch (ending.kind) {
    case 'finished':
      return sentencesOfFinished(ending.run, outcome, medium)
    case 'started':
      return fragment`This step does not wait for run ${id}, so it does not know whether the tests pass.`
    case 'wait-timeout':
      return fragment`${sentencesOfTimeout(ending, outcome)}${cancellationText(outcome, medium)} If the run needs more time, raise the input ${'timeout-minutes'}.`
    case 'aborted':
      return fragment`${sentencesOfAbort(ending, outcome)}${cancellationText(outcome, medium)}`
    case 'start-failed':
      return fragment`${startFailed(outcome)}, because ${failureReason(ending.failure)}.${failureAdvice(ending.failure, 'start')}${cancellationText(outcome, medium)}`
    case 'poll-failed':
      return fragment`The status of run ${id} could not be read, because ${failureReason(ending.failure)}.${failureAdvice(ending.failure, 'poll')}${cancellationText(outcome, medium)}`
  }
}

/** The run's id. It is known whenever the run has finished or the step has waited for it. */
function idOf(outcome: StepOutcome): Fragment {
  return linkedRunId(outcome) ?? NONE
}

function sentencesOfFinished(run: Run, outcome: StepOutcome, medium: Medium): Fragment {
  const { conclusion, counts, otherBranch } = outcome
  const id = idOf(outcome)
  const status = run.rawStatus
  const message = medium === 'log' ? withMessage(run) : NONE
  const results = medium === 'log' || run.status === 'PASSED' ? resultsOf(run, outcome) : NONE
  const lookUp = run.message === undefined ? fragment` Look up the run at the service to find the reason.` : NONE
  switch (conclusion) {
    case 'passed':
      return fragment`Run ${id} finished as ${status}${results}.${isDoubtfulPass(outcome) ? STATUS_DECIDES : NONE}`
    case 'failed':
      if (run.status === 'PASSED')
        return fragment`Run ${id} finished as ${status}${results}. The step fails, because the input ${'strict'} is ${'true'}.`
      return fragment`Run ${id} finished as ${status}${message}${results}.${counts.failed === 0 ? lookUp : NONE}`
    case 'no-tests':
      return fragment`Run ${id} finished as ${status}${results}. ${noTestsText(outcome)}`
    case 'timed-out':
      return fragment`Run ${id} exceeded the service's time limit and finished as ${status}${message}${results}.`
    case 'cancelled':
      return fragment`Run ${id} finished as ${status} (cancelled at the service, not by this step)${message}${results}. If nobody wanted that, re-run the job.`
    case 'interrupted':
      return fragment`Run ${id} finished as ${status} (interrupted by the service)${message}${results}.${lookUp}`
    default:
      if (run.status === 'PASSED' && otherBranch !== undefined)
        return fragment`Run ${id} finished as ${status}, but on another branch. ${otherBranchText(otherBranch)}`
      return fragment`Run ${id} finished with the status ${quote(status, TITLE_LIMIT_CHARS)}${message}${results}. The step fails, because this version of the action does not know this status. Update the action.`
  }
}

const STATUS_DECIDES = fragment` The step succeeds, because the run's status decides. If such a run must fail, set the input ${'strict'} to ${'true'}.`

function withMessage({ message }: Run): Fragment {
  if (message === undefined) return NONE
  return fragment` with the message ${quote(firstLineOf(message), SENTENCE_LIMIT_CHARS)}`
}

function resultsOf(run: Run, outcome: StepOutcome): Fragment {
  if (run.testCases === undefined) return fragment`, and the service sent no results`
  if (run.testCases.length === 0) return fragment`, and no test case is listed`
  if (isDoubtfulPass(outcome)) return fragment`, although ${doubts(outcome)}`
  if (run.status === 'PASSED') return fragment`: ${join(countsOf(outcome), fragment`, `)}`
  return fragment`: ${failedCases(outcome)}`
}

/** The first failing titles follow in brackets. If no test case failed, the other counts follow instead. */
function failedCases(outcome: StepOutcome): Fragment {
  const { run, counts } = outcome
  const { total, failed } = counts
  const titles = casesOfKind(FAILING, run?.testCases ?? [])
    .slice(0, TITLES_NAMED)
    .map((testCase) => quote(titleOf(testCase, TITLE_LIMIT_CHARS), TITLE_LIMIT_CHARS))
  const more = failed > TITLES_NAMED ? [fragment`and ${failed - TITLES_NAMED} more`] : []
  const rest = failed > 0 ? inBrackets([...titles, ...more]) : join([NONE, ...countsOf(outcome)], fragment`, `)
  return fragment`${failed} of ${total} ${casesOf(total)} failed${rest}`
}

/** Why a PASSED run is in doubt. */
function doubts(outcome: StepOutcome): Fragment {
  const { failed, other, total } = outcome.counts
  const unknown = fragment`the action knows no result of ${other} of ${total} ${casesOf(total)} (status ${unknownStatuses(outcome)})`
  return join([...(failed > 0 ? [failedCases(outcome)] : []), ...(other > 0 ? [unknown] : [])], fragment`, and `)
}

/** For example: “BLOCKED”, none. */
function unknownStatuses({ run }: StepOutcome): Fragment {
  const statuses = casesOfKind(['other'], run?.testCases ?? []).map(({ rawStatus }) =>
    visibleText(rawStatus, TITLE_LIMIT_CHARS),
  )
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

function startFailed({ cancellation }: StepOutcome): Fragment {
  if (cancellation.kind === 'no-run') return fragment`The run could not be started`
  return fragment`The start request returned no run id`
}

function sentencesOfTimeout(
  { limitMs, wasQueued, failure }: Extract<Ending, { kind: 'wait-timeout' }>,
  outcome: StepOutcome,
): Fragment {
  const id = idOf(outcome)
  const limit = fragment`${durationText(limitMs)} (the input ${'timeout-minutes'})`
  const failed =
    failure === undefined ? NONE : fragment` Its last status request failed, because ${failureReason(failure)}.`
  if (wasQueued) return fragment`Run ${id} was still ${'QUEUED'} after ${limit}.${failed}`
  const { run } = outcome
  const last = run === undefined || isFinished(run) ? NONE : fragment` Its last status was ${run.rawStatus}.`
  return fragment`Run ${id} did not finish within ${limit}.${last}${failed}`
}

function sentencesOfAbort({ cause }: Extract<Ending, { kind: 'aborted' }>, outcome: StepOutcome): Fragment {
  const when = momentOfAbort(outcome)
  switch (cause) {
    case 'RUNNER_TEMP emptied':
      return fragment`The runner's temporary folder was emptied ${when}. The runner does this at the end of a job, so this step assumed that the job had ended. If the job had not ended, another step emptied the folder.`
    case 'asked by post':
      return fragment`The job ended ${when}, so the post step asked this step to stop. In a container, no signal of the runner reaches this step.`
    case 'log closed':
      return fragment`The runner stopped reading the log of this step ${when}. This happens if the runner's process is killed, for example because no memory was left.`
    default:
      return fragment`The workflow was cancelled, or the step exceeded its time limit, ${when}. This limit is the keyword ${'timeout-minutes'} of the step or of its job, or GitHub's own limit for a job, and not the input.`
  }
}

function momentOfAbort(outcome: StepOutcome): Fragment {
  const { run, cancellation } = outcome
  const id = linkedRunId(outcome)
  if (id !== undefined && run !== undefined && !isFinished(run)) return fragment`while run ${id} was ${run.rawStatus}`
  if (id !== undefined) return fragment`while this step waited for run ${id}`
  if (cancellation.kind === 'no-run') return fragment`before this step started a run`
  return fragment`while this step was starting a run`
}

/** Whether the step cancelled the run, and whether the run may still be running. Sentences, or nothing. */
function cancellationText({ ending, cancellation, subject }: StepOutcome, medium: Medium): Fragment {
  const isRunNotFound = ending.kind === 'poll-failed' && isNotFound(ending.failure)
  switch (cancellation.kind) {
    case 'not-wanted': {
      if (isRunNotFound) return NONE
      const byDefault = subject.ownsRun ? NONE : fragment` (the default with ${'run-id'})`
      return fragment` This step did not cancel the run, because the input ${'cancel-on-abort'} is ${'false'}${byDefault}. The run may still be running. ${CANCEL_IT}`
    }
    case 'no-run':
      return NONE
    case 'id-unknown':
      return fragment` ${RUN_WITHOUT_ID}`
    case 'not-supported':
      return fragment` The run may still be running, because the action cannot cancel runs of test suites. ${CANCEL_IT}`
    case 'cancelled':
      return fragment` This step cancelled the run.`
    case 'already-finished':
      return fragment` The run had already finished as ${cancellation.run.rawStatus}${medium === 'log' ? withMessage(cancellation.run) : NONE}.`
    case 'not-found':
      return isRunNotFound ? NONE : fragment` The service does not know the run any more.`
    case 'failed': {
      const { failure } = cancellation
      const isJobOver = ending.kind === 'aborted' && ['RUNNER_TEMP emptied', 'log closed'].includes(ending.cause)
      const isSaid = 'failure' in ending && JSON.stringify(failure) === JSON.stringify(ending.failure)
      const why = isSaid ? NONE : fragment`, because ${failureReason(failure)}`
      // Post may not run if the job is over.
      const next = isJobOver ? CANCEL_IT : fragment`The post step tries again to cancel the run.`
      return fragment` This step could not cancel the run${why}. The run may still be running. ${next}`
    }
  }
}
