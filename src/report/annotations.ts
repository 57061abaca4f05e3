import type { TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { durationText } from '../text/duration.ts'
import { fragment, type LogLine, logLine } from '../text/safe-text.ts'
import { casesWith, FAILING, titleOf } from './case-table.ts'

export interface Annotation {
  readonly level: 'error' | 'warning'
  /** Constant words: GitHub masks no secret in it. */
  readonly title: string
  readonly message: LogLine
}

/** GitHub keeps the first ten of a step: the verdict's own, these, and the line on the others. */
const CASES_SHOWN = 8
const TITLE_LIMIT_CHARS = 500

/** What follows the verdict's own annotation: the first failing test cases, then how many more there are, and where. */
export function annotations({ run, counts }: StepOutcome, hasSummary: boolean): Annotation[] {
  // The verdict names it.
  if (counts.failed === 1) return []
  const shown: Annotation[] = casesWith(FAILING, run?.testCases ?? [])
    .slice(0, CASES_SHOWN)
    .map((testCase) => ({
      level: 'error',
      // Test failed, timed out or interrupted.
      title: `Test ${testCase.outcome.replace('-', ' ')}`,
      message: messageOf(testCase),
    }))
  const more = counts.failed - shown.length
  if (more === 0) return shown
  const cases = more === 1 ? fragment`test case` : fragment`test cases`
  const where = hasSummary ? fragment`; the job summary lists what did not pass` : fragment``
  return [
    ...shown,
    { level: 'error', title: 'More failed tests', message: logLine`${more} more ${cases} failed${where}.` },
  ]
}

function messageOf(testCase: TestCase): LogLine {
  const { rawStatus, durationMs } = testCase
  const time = durationMs === undefined ? fragment`` : fragment` after ${durationText(durationMs)}`
  return logLine`${titleOf(testCase, TITLE_LIMIT_CHARS)}: ${rawStatus}${time}`
}
