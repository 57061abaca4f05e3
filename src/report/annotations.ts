import type { TestCase } from '../outcome/run.ts'
import type { StepOutcome } from '../outcome/step-outcome.ts'
import { durationText } from '../text/duration.ts'
import { fragment, type LogLine, logLine } from '../text/safe-text.ts'
import { casesWith, FAILING, titleOf } from './case-table.ts'

export interface Annotation {
  readonly level: 'error' | 'warning'
  /** Only constant words, because the runner masks no secrets in titles. */
  readonly title: string
  readonly message: LogLine
}

/** GitHub keeps ten annotations of a step: the verdict, these cases, and one about the other cases. */
const CASES_SHOWN = 8
const TITLE_LIMIT_CHARS = 500

/** The annotations after the verdict: the first failing test cases, then the number of the other failing test cases. */
export function annotations({ run, counts }: StepOutcome, hasSummary: boolean): Annotation[] {
  // The verdict names a single failing test case.
  if (counts.failed === 1) return []
  const shown: Annotation[] = casesWith(FAILING, run?.testCases ?? [])
    .slice(0, CASES_SHOWN)
    .map((testCase) => ({
      level: 'error',
      // For example: Test timed out.
      title: `Test ${testCase.outcome.replace('-', ' ')}`,
      message: messageOf(testCase),
    }))
  const more = counts.failed - shown.length
  if (more === 0) return shown
  const cases = more === 1 ? fragment`test case` : fragment`test cases`
  const where = hasSummary ? fragment` See the job summary.` : fragment``
  return [
    ...shown,
    { level: 'error', title: 'More failed tests', message: logLine`${more} more ${cases} failed.${where}` },
  ]
}

function messageOf(testCase: TestCase): LogLine {
  const { rawStatus, durationMs } = testCase
  const time = durationMs === undefined ? fragment`` : fragment` after ${durationText(durationMs)}`
  return logLine`${titleOf(testCase, TITLE_LIMIT_CHARS)}: ${rawStatus}${time}`
}
