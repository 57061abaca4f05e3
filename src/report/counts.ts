import type { Comparison } from '../model/baseline.ts'
import type { StepOutcome } from '../model/outcome.ts'
import { type Counts, isFinished, type Run, runDurationMs } from '../model/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { COMMA, casesOf, DOT, durationText, inBrackets, join, NONE, type Parts } from './phrases.ts'
import { countNew } from './test-case.ts'

/** A page's line of counts and times. Undefined if there is nothing to count yet. */
export function countsLine({ run, counts, comparison }: StepOutcome): Fragment | undefined {
  if (run === undefined || (run.testCases === undefined && !isFinished(run))) return undefined
  const nothing = run.testCases === undefined ? fragment`No results` : fragment`No test cases`
  const runMs = runDurationMs(run)
  const parts = [
    ...(counts.total === 0 ? [nothing] : countsOf(counts)),
    nonZero(comparison?.added.length, fragment`added`),
    ...removedAndSkippedCounts(comparison),
    testTime(run),
    runMs === undefined ? undefined : fragment`run time ${durationText(runMs)}`,
  ]
  return join(parts, DOT)
}

/** For example `3 removed` and `2 newly skipped`: what a green run does not show. Nothing without a comparable run. */
export function removedAndSkippedCounts(comparison: Comparison | undefined): Parts {
  return [
    nonZero(comparison?.removed.length, fragment`removed`),
    nonZero(comparison?.newlySkipped.length, fragment`newly skipped`),
  ]
}

/**
 * The sum of the durations of the test cases. It can differ from the run time: tests may run at once, and a run that only merges the reports of
 * shards takes a moment.
 * Undefined if no test case has a duration.
 */
function testTime({ testCases = [] }: Run): Fragment | undefined {
  if (testCases.every(({ durationMs }) => durationMs === undefined)) return undefined
  return fragment`test time ${durationText(testCases.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0))}`
}

/** The counts that are not zero, each with its word. Every test case is in one of them. */
export function countsOf(counts: Counts): Parts {
  const { failed, timedOut, interrupted, passed, flaky } = counts
  const kinds = [nonZero(timedOut, fragment`timed out`), nonZero(interrupted, fragment`interrupted`)]
  return [
    nonZero(failed, fragment`failed${inBrackets(kinds)}`),
    nonZero(passed, fragment`passed${inBrackets([nonZero(flaky, fragment`flaky`)])}`),
    ...notRunCounts(counts),
  ]
}

function notRunCounts({ skipped, other }: Counts): Parts {
  return [nonZero(skipped, fragment`skipped`), nonZero(other, fragment`without a known result`)]
}

/**
 * What follows the title of the headline, for example `: 3 of 40 (1 new)`, `: 2 of 5 failed` or `: 38 of 40, 2 skipped`. If a test case
 * did not run, this says so, because `38 of 40` alone looks like two failures.
 */
export function headlineCounts(outcome: StepOutcome): Fragment {
  const { conclusion, counts } = outcome
  const { total, failed, passed, other } = counts
  if (failed > 0) {
    // The title of these two conclusions says it: `Tests failed`, and `Run passed, with failed tests`.
    const word = conclusion === 'failed' || conclusion === 'passed' ? NONE : fragment` failed`
    return fragment`: ${failed} of ${total}${word}${inBrackets([newFailuresText(outcome)])}`
  }
  // If results are not known, the title says it: `Run passed, with unknown results`.
  if (conclusion !== 'passed' || other > 0) return NONE
  return join([fragment`: ${passed} of ${total}`, ...notRunCounts(counts)], COMMA)
}

/** How many failures are new, for example `1 new` or `none new`. Undefined without a baseline, and if no case failed. */
export function newFailuresText(outcome: StepOutcome): Fragment | undefined {
  const number = countNew(outcome)
  if (number === undefined || outcome.counts.failed === 0) return undefined
  return number === 0 ? fragment`none new` : fragment`${number} new`
}

/** A count with its word. Undefined if the count is zero. */
function nonZero(count: number | undefined, word: Fragment): Fragment | undefined {
  return count ? fragment`${count} ${word}` : undefined
}

/** `, 126 of 485 test cases done, 2 failed`. Empty if the service does not say how many are done. */
export function progressText({ progress }: Run): Fragment {
  const { total, passed, failed, skipped } = progress ?? {}
  if (passed === undefined && failed === undefined && skipped === undefined) return NONE
  const done = (passed ?? 0) + (failed ?? 0) + (skipped ?? 0)
  const ofTotal = total === undefined ? NONE : fragment` of ${total}`
  const failures = failed ? fragment`, ${failed} failed` : NONE
  return fragment`, ${done}${ofTotal} ${casesOf(total ?? done)} done${failures}`
}
