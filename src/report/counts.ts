import type { StepOutcome } from '../model/outcome.ts'
import { type Counts, isFinished, runDurationMs } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { inBrackets, join, joinWithDots, NONE } from './words.ts'

// test/report/counts.test.ts and test/report/endings.test.ts test these texts.

/** A page's line of counts, and the time. Undefined if there is nothing to count yet. */
export function countsLine({ run, counts, tookMs }: StepOutcome): Fragment | undefined {
  if (run === undefined || (run.testCases === undefined && !isFinished(run))) return undefined
  const parts = countsOf(counts)
  if (parts.length === 0) parts.push(run.testCases === undefined ? fragment`No results` : fragment`No test cases`)
  const runMs = runDurationMs(run)
  const what = runMs === undefined ? fragment`waited` : fragment`run time`
  return joinWithDots([...parts, fragment`${what} ${durationText(runMs ?? tookMs)}`])
}

/** The counts that are not zero, each with its word. Every test case is in one of them. */
export function countsOf(counts: Counts): Fragment[] {
  const { failed, passed, flaky, byKind } = counts
  const kinds = [
    ...nonZero(byKind['timed-out'], fragment`timed out`),
    ...nonZero(byKind.interrupted, fragment`interrupted`),
  ]
  return [
    ...nonZero(failed, fragment`failed${inBrackets(kinds)}`),
    ...nonZero(passed, fragment`passed${inBrackets(nonZero(flaky, fragment`flaky`))}`),
    ...notRunCounts(counts),
  ]
}

function notRunCounts({ skipped, other }: Counts): Fragment[] {
  return [...nonZero(skipped, fragment`skipped`), ...nonZero(other, fragment`without a known result`)]
}

// For headlines: each follows a title without a space. Empty if no test case is listed.

/** For example `: 3 of 40`. */
export function ofTotal(count: number, { total }: Counts): Fragment {
  return total === 0 ? NONE : fragment`: ${count} of ${total}`
}

/** For example `: 3 of 40`, with a baseline `: 3 of 40 (1 new)`. */
export function failedOfTotal(outcome: StepOutcome): Fragment {
  return fragment`${ofTotal(outcome.counts.failed, outcome.counts)}${inBrackets(newFailuresText(outcome))}`
}

/** For example `: 3 of 40 failed`, with a baseline `: 3 of 40 failed (1 new)`. If no test case failed, `: 40 of 40 passed`. */
export function failedOrPassed(outcome: StepOutcome): Fragment {
  const { counts } = outcome
  const { total, passed, failed } = counts
  if (total === 0) return NONE
  if (failed === 0) return fragment`${ofTotal(passed, counts)} passed`
  return fragment`${ofTotal(failed, counts)} failed${inBrackets(newFailuresText(outcome))}`
}

/** How many failures are new, for example `1 new` or `none new`. Empty without a baseline. */
export function newFailuresText({ newFailures }: StepOutcome): readonly Fragment[] {
  if (newFailures === undefined) return []
  return [newFailures.size === 0 ? fragment`none new` : fragment`${newFailures.size} new`]
}

/**
 * For example `: 38 of 40 (1 flaky), 2 skipped`. If a test case did not run, this says so, because `38 of 40` alone looks like
 * two failures.
 */
export function passedOfTotal(counts: Counts): Fragment {
  const flaky = inBrackets(nonZero(counts.flaky, fragment`flaky`))
  return join([fragment`${ofTotal(counts.passed, counts)}${flaky}`, ...notRunCounts(counts)], fragment`, `)
}

/** A count with its word. Nothing if the count is zero. */
function nonZero(count: number, word: Fragment): Fragment[] {
  return count > 0 ? [fragment`${count} ${word}`] : []
}
