import { isNotFound } from '../domain/errors.ts'
import { type Counts, countTestCases, isOver, type Run } from '../domain/run.ts'
import type { StepResult } from '../domain/step-result.ts'
import type { Cancellation, Ending } from '../domain/verdict.ts'
import { casesWith, FAILING } from './cases-by-outcome.ts'
import { durationText } from './duration.ts'
import { failureClause, failureReason } from './failure-sentence.ts'
import { type Phrase, phrase, quote } from './inert.ts'
import { shownTitle } from './visible-text.ts'

const TITLES_NAMED = 3
const TITLE_LIMIT_CHARS = 120

/**
 * What became of the run, whatever the end, as one sentence without its full stop. A log line stands alone and names
 * the run and the first failed test cases; elsewhere both stand beside the sentence already.
 */
export function whatHappened(result: StepResult, naming: 'with names' | 'without names'): Phrase {
  const withNames = naming === 'with names'
  const { ending } = result
  const run = decidingRun(result)
  if (run !== undefined) return phrase`${theRunAtStart(result, withNames)} ${endOfRun(run, result, withNames)}`
  switch (ending.kind) {
    case 'wait-timeout':
      return phrase`${endOfPatience(ending, result, withNames)}${fateOfRun(ending.cancellation, result)}`
    case 'aborted':
      return phrase`The workflow was cancelled, or the step reached its time limit, ${stage(ending, result, withNames)}${fateOfRun(ending.cancellation, result)}`
    case 'gave-up': {
      const what =
        ending.during === 'start' ? failedStart(ending) : phrase`${theRunAtStart(result, withNames)} could not be read`
      return phrase`${what}: ${failureClause(ending.failure, ending.during === 'start' ? 'start' : 'poll')}${fateOfRun(ending.cancellation, result)}`
    }
    default:
      return phrase`${theRunAtStart(result, withNames)} was started and goes on; this step does not wait for it`
  }
}

/** The run whose end decided the step; undefined where the step ended without one. */
export function decidingRun({ ending, verdict }: StepResult): Run | undefined {
  if (ending.kind === 'finished') return ending.run
  if (ending.kind !== 'wait-timeout' || verdict.conclusion === 'wait-timeout') return undefined
  return ending.cancellation.kind === 'already-over' ? ending.cancellation.run : undefined
}

function theRunAtStart({ runId }: StepResult, withNames: boolean): Phrase {
  return withNames && runId !== undefined ? phrase`Run ${runId}` : phrase`The run`
}

function theRun({ runId }: StepResult, withNames: boolean): Phrase {
  return withNames && runId !== undefined ? phrase`run ${runId}` : phrase`the run`
}

function endOfRun(run: Run, { verdict }: StepResult, withNames: boolean): Phrase {
  const counts = countTestCases(run.testCases ?? [])
  const tally = tallyOf(run, counts, withNames)
  const ended = phrase`ended ${run.statusText}`
  switch (verdict.conclusion) {
    case 'passed':
      if (counts.failed > 0) return phrase`${ended}, and that counts, although ${tally}`
      return phrase`${ended}: ${tally}`
    case 'no-tests': {
      const advice = verdict.green
        ? phrase`${'pass-with-no-tests'} allows that`
        : phrase`if that is expected, set the input ${'pass-with-no-tests'} to ${'true'}`
      return phrase`${ended}, but ${nothingRan(run, counts)}; ${advice}`
    }
    case 'timed-out':
      return phrase`${ended} (it reached its time limit at the service): ${tally}`
    case 'cancelled':
      return phrase`${ended} (at the service, not by this step): ${tally}`
    case 'interrupted':
      return phrase`${ended} (broken off at the service): ${tally}`
    case 'error':
      if (run.status !== 'UNKNOWN') return phrase`has the status ${run.statusText}, which is no end: ${tally}`
      return phrase`ended with the status ${quote(run.statusText, TITLE_LIMIT_CHARS)}, which this version of the action does not know and does not take for a pass: ${tally}`
    default:
      return phrase`${ended}: ${tally}`
  }
}

function tallyOf(run: Run, { total, passed, failed, skipped, other }: Counts, withNames: boolean): Phrase {
  if (run.testCases === undefined) return phrase`the service sent no results`
  if (total === 0) return phrase`no test case is listed`
  const cases = total === 1 ? phrase`test case` : phrase`test cases`
  if (failed === 0) {
    const andSkipped = skipped > 0 ? phrase`, ${skipped} skipped` : phrase``
    const andOther = other > 0 ? phrase`, ${other} of another status` : phrase``
    if (run.status === 'PASSED') return phrase`${passed} of ${total} ${cases} passed${andSkipped}${andOther}`
    const none = total === 1 ? phrase`its one test case did not fail` : phrase`none of ${total} test cases failed`
    return phrase`${none}, ${passed} passed${andSkipped}${andOther}`
  }
  const tally = phrase`${failed} of ${total} ${cases} failed`
  return withNames ? phrase`${tally} (${firstTitles(run.testCases)})` : tally
}

function firstTitles(testCases: NonNullable<Run['testCases']>): Phrase {
  const failing = casesWith(FAILING, testCases)
  const [first, ...others] = failing
    .slice(0, TITLES_NAMED)
    .map(({ title }) => phrase`${quote(shownTitle(title), TITLE_LIMIT_CHARS)}`)
  const titles = others.reduce((all, title) => phrase`${all}, ${title}`, first ?? phrase``)
  return failing.length > TITLES_NAMED ? phrase`${titles} and ${failing.length - TITLES_NAMED} more` : titles
}

function nothingRan(run: Run, { total }: Counts): Phrase {
  if (run.testCases === undefined) return phrase`the service sent no results, so nothing shows that a test ran`
  if (total === 0) return phrase`it lists no test case`
  return total === 1 ? phrase`its one test case did not run` : phrase`none of its ${total} test cases ran`
}

function failedStart({ cancellation }: { readonly cancellation: Cancellation }): Phrase {
  return cancellation.kind === 'no-run'
    ? phrase`The run could not be started`
    : phrase`The start brought no id of a run`
}

function endOfPatience(
  { limitMs, run, failure }: Extract<Ending, { kind: 'wait-timeout' }>,
  result: StepResult,
  withNames: boolean,
): Phrase {
  const last = run === undefined ? phrase`` : phrase` (last status ${run.statusText})`
  const unread = failure === undefined ? phrase`` : phrase`; it could not be read in the end: ${failureReason(failure)}`
  return phrase`${theRunAtStart(result, withNames)} was not over after ${durationText(limitMs)}, the limit set by ${'timeout-minutes'}${last}${unread}`
}

function stage(
  { run, cancellation }: Extract<Ending, { kind: 'aborted' }>,
  result: StepResult,
  withNames: boolean,
): Phrase {
  if (run !== undefined) return phrase`while ${theRun(result, withNames)} was ${run.statusText}`
  if (result.runId !== undefined) return phrase`before the service had told the status of ${theRun(result, withNames)}`
  return cancellation.kind === 'id-unknown' ? phrase`while a run was being started` : phrase`before a run was started`
}

/** The service has just said that there is no such run. */
function isUnknownToService(ending: Ending): boolean {
  return ending.kind === 'gave-up' && isNotFound(ending.failure)
}

/** What the step did about a run that it leaves, and what a person may have to do. */
function fateOfRun(cancellation: Cancellation, { run, runId, ending }: StepResult): Phrase {
  switch (cancellation.kind) {
    case 'not-wanted':
      if (runId === undefined || (run !== undefined && isOver(run)) || isUnknownToService(ending)) return phrase``
      return phrase`; the run was left as it is and may go on`
    case 'no-run':
      return phrase``
    case 'id-unknown':
      return phrase`; a run may have been started and cannot be looked up`
    case 'not-supported':
      return phrase`; the run may go on, for the test-suite workflow has no cancel`
    case 'cancelled':
      return phrase`; the run was cancelled`
    case 'already-over':
      if (cancellation.run === undefined) return phrase`; the run was over already`
      return phrase`; the run was over already, with the status ${cancellation.run.statusText}`
    case 'failed':
      if (cancellation.failure === undefined) return phrase`; the run could not be cancelled and may go on`
      return phrase`; the run could not be cancelled and may go on (${failureReason(cancellation.failure)})`
  }
}
