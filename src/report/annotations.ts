import type { Annotation } from '../github/outputs.ts'
import type { StepOutcome } from '../model/outcome.ts'
import { isFailing } from '../model/run.ts'
import { fragment, linesOf } from '../text/safe-text.ts'
import { casesOf } from './phrases.ts'
import { sortedCases, titleOf } from './test-case.ts'

/**
 * GitHub keeps ten annotations of a step (`_maxCountPerIssueType` in the runner's `ExecutionContext.cs`): the verdict, these cases, and one
 * about the other cases.
 */
const CASES_SHOWN = 8

/** The annotations after the verdict: the first failing test cases, then the number of the other failing test cases. */
export function annotations(outcome: StepOutcome): Annotation[] {
  const shown = sortedCases(outcome)
    .filter(isFailing)
    .slice(0, CASES_SHOWN)
    .map((testCase): Annotation => {
      const { kind, rawStatus, message, filePath: file, line } = testCase
      const title = titleOf(testCase)
      const text = message === undefined ? fragment`${title}: ${rawStatus}` : fragment`${title}\n${linesOf(message)}`
      // For example: Test timed out.
      return { level: 'error', title: `Test ${kind.replace('-', ' ')}`, message: text, file, line }
    })
  const more = outcome.counts.failed - shown.length
  if (more === 0) return shown
  const message = fragment`${more} more ${casesOf(more)} failed.`
  return [...shown, { level: 'error', title: 'More failed tests', message }]
}
