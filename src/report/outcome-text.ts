import { isNotFound } from '../outcome/failure.ts'
import { type Counts, isTerminal, type Run } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { casesWith, FAILING } from './cases-by-outcome.ts'
import { durationText } from './duration.ts'
import { failureClause, failureReason } from './failure-text.ts'
import { type Fragment, fragment, quote } from './safe-text.ts'
import { shownTitle } from './visible-text.ts'

const TITLES_NAMED = 3
const TITLE_LIMIT_CHARS = 120

/**
 * What became of the run, whatever the end, as one sentence without its full stop. A log line stands alone and names
 * the run and the first failed test cases; elsewhere both stand beside the sentence already.
 */
export function outcomeText(result: StepOutcome, naming: 'with names' | 'without names'): Fragment {
  const withNames = naming === 'with names'
  switch (result.kind) {
    case 'finished':
      return fragment`${theRunAtStart(result, withNames)} ${endOfRun(result.run, result, withNames)}`
    case 'wait-timeout':
      return fragment`${waitTimeoutText(result, withNames)}${cancellationText(result)}`
    case 'aborted':
      return fragment`The workflow was cancelled, or the step reached its time limit, ${abortText(result, withNames)}${cancellationText(result)}`
    case 'start-failed':
      return fragment`${failedStart(result)}: ${failureClause(result.failure, 'start')}${cancellationText(result)}`
    case 'poll-failed':
      return fragment`${theRunAtStart(result, withNames)} could not be read: ${failureClause(result.failure, 'poll')}${cancellationText(result)}`
    case 'started':
      return fragment`${theRunAtStart(result, withNames)} was started and goes on; this step does not wait for it`
  }
}

function theRunAtStart({ runId }: StepOutcome, withNames: boolean): Fragment {
  return withNames && runId !== undefined ? fragment`Run ${runId}` : fragment`The run`
}

function theRun({ runId }: StepOutcome, withNames: boolean): Fragment {
  return withNames && runId !== undefined ? fragment`run ${runId}` : fragment`the run`
}

function endOfRun(run: Run, { conclusion, success, counts }: StepOutcome, withNames: boolean): Fragment {
  const tally = tallyOf(run, counts, withNames)
  const ended = fragment`ended ${run.rawStatus}`
  switch (conclusion) {
    case 'passed':
      if (counts.failed > 0) return fragment`${ended}, and that counts, although ${tally}`
      return fragment`${ended}: ${tally}`
    case 'no-tests': {
      const advice = success
        ? fragment`${'pass-with-no-tests'} allows that`
        : fragment`if that is expected, set the input ${'pass-with-no-tests'} to ${'true'}`
      return fragment`${ended}, but ${nothingRan(run, counts)}; ${advice}`
    }
    case 'timed-out':
      return fragment`${ended} (it reached its time limit at the service): ${tally}`
    case 'cancelled':
      return fragment`${ended} (at the service, not by this step): ${tally}`
    case 'interrupted':
      return fragment`${ended} (broken off at the service): ${tally}`
    case 'error':
      if (run.status !== 'UNKNOWN') return fragment`has the status ${run.rawStatus}, which is no end: ${tally}`
      return fragment`ended with the status ${quote(run.rawStatus, TITLE_LIMIT_CHARS)}, which this version of the action does not know and does not take for a pass: ${tally}`
    default:
      return fragment`${ended}: ${tally}`
  }
}

function tallyOf(run: Run, { total, passed, failed, skipped, other }: Counts, withNames: boolean): Fragment {
  if (run.testCases === undefined) return fragment`the service sent no results`
  if (total === 0) return fragment`no test case is listed`
  const cases = total === 1 ? fragment`test case` : fragment`test cases`
  if (failed === 0) {
    const andSkipped = skipped > 0 ? fragment`, ${skipped} skipped` : fragment``
    const andOther = other > 0 ? fragment`, ${other} of another status` : fragment``
    if (run.status === 'PASSED') return fragment`${passed} of ${total} ${cases} passed${andSkipped}${andOther}`
    const none = total === 1 ? fragment`its one test case did not fail` : fragment`none of ${total} test cases failed`
    return fragment`${none}, ${passed} passed${andSkipped}${andOther}`
  }
  const tally = fragment`${failed} of ${total} ${cases} failed`
  return withNames ? fragment`${tally} (${firstTitles(run.testCases)})` : tally
}

function firstTitles(testCases: NonNullable<Run['testCases']>): Fragment {
  const failing = casesWith(FAILING, testCases)
  const [first, ...others] = failing
    .slice(0, TITLES_NAMED)
    .map(({ title }) => fragment`${quote(shownTitle(title), TITLE_LIMIT_CHARS)}`)
  const titles = others.reduce((all, title) => fragment`${all}, ${title}`, first ?? fragment``)
  return failing.length > TITLES_NAMED ? fragment`${titles} and ${failing.length - TITLES_NAMED} more` : titles
}

function nothingRan(run: Run, { total }: Counts): Fragment {
  if (run.testCases === undefined) return fragment`the service sent no results, so nothing shows that a test ran`
  if (total === 0) return fragment`it lists no test case`
  return total === 1 ? fragment`its one test case did not run` : fragment`none of its ${total} test cases ran`
}

function failedStart({ cancellation }: StepOutcome): Fragment {
  return cancellation.kind === 'no-run'
    ? fragment`The run could not be started`
    : fragment`The start brought no id of a run`
}

function waitTimeoutText(result: Extract<StepOutcome, { kind: 'wait-timeout' }>, withNames: boolean): Fragment {
  const { limit, run, failure } = result
  const last = run === undefined ? fragment`` : fragment` (last status ${run.rawStatus})`
  const unread =
    failure === undefined ? fragment`` : fragment`; it could not be read in the end: ${failureReason(failure)}`
  return fragment`${theRunAtStart(result, withNames)} was not over after ${durationText(limit.ms)}, the limit set by ${limit.input}${last}${unread}`
}

function abortText(result: StepOutcome, withNames: boolean): Fragment {
  const { run, cancellation } = result
  if (run !== undefined) return fragment`while ${theRun(result, withNames)} was ${run.rawStatus}`
  if (result.runId !== undefined)
    return fragment`before the service had told the status of ${theRun(result, withNames)}`
  return cancellation.kind === 'id-unknown'
    ? fragment`while a run was being started`
    : fragment`before a run was started`
}

/** The service has just said that there is no such run. */
function isUnknownToService(outcome: StepOutcome): boolean {
  return outcome.kind === 'poll-failed' && isNotFound(outcome.failure)
}

/** What the step did about a run that it leaves, and what a person may have to do. */
function cancellationText(outcome: StepOutcome): Fragment {
  const { cancellation, run, runId } = outcome
  switch (cancellation.kind) {
    case 'not-wanted':
      if (runId === undefined || (run !== undefined && isTerminal(run)) || isUnknownToService(outcome))
        return fragment``
      return fragment`; the run was left as it is and may go on`
    case 'no-run':
      return fragment``
    case 'id-unknown':
      return fragment`; a run may have been started and cannot be looked up`
    case 'not-supported':
      return fragment`; the run may go on, for the test-suite workflow has no cancel`
    case 'cancelled':
      return fragment`; the run was cancelled`
    case 'already-finished':
      return fragment`; the run was over already, with the status ${cancellation.run.rawStatus}`
    case 'gone':
      return fragment`; the service does not know the run any more`
    case 'failed':
      if (cancellation.failure === undefined) return fragment`; the run could not be cancelled and may go on`
      return fragment`; the run could not be cancelled and may go on (${failureReason(cancellation.failure)})`
  }
}
