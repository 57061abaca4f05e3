import type { Annotation, LogGroup } from '../github/outputs.ts'
import type { StepOutcome } from '../model/outcome.ts'
import { FAILING, locationOf, type TestCase } from '../model/run.ts'
import { durationText } from '../text/duration.ts'
import { commandProperty, type Fragment, fitsCommand, fragment, linesOf } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import { firstLineOf } from '../text/visible-text.ts'
import { casesOfKind, locationText, titleOf } from './cases.ts'
import { SENTENCE_LIMIT_CHARS } from './failure-text.ts'
import { casesOf, NONE, seeSummary } from './words.ts'

/** GitHub keeps ten annotations of a step: the verdict, these cases, and one about the other cases. */
const CASES_SHOWN = 8
const TITLE_LIMIT_CHARS = 500

/** The annotations after the verdict: the first failing test cases, then the number of the other failing test cases. */
export function annotations(outcome: StepOutcome, hasSummary: boolean): Annotation[] {
  const { failed } = outcome.counts
  const testCases = firstFailing(outcome)
  // The verdict names a single failing test case. An annotation adds something only if the service sent a reason.
  if (failed === 1 && !testCases.some(hasReason)) return []
  const shown = testCases.map((testCase): Annotation => {
    const location = locationOf(testCase)
    return {
      level: 'error',
      // For example: Test timed out.
      title: `Test ${testCase.kind.replace('-', ' ')}`,
      message: annotationMessage(testCase),
      file: location && commandProperty(location.filePath),
      line: location?.line,
    }
  })
  const more = failed - shown.length
  if (more === 0) return shown
  const message = fragment`${more} more ${casesOf(more)} failed.${seeSummary(hasSummary)}`
  return [...shown, { level: 'error', title: 'More failed tests', message }]
}

/**
 * The messages that the log would not have otherwise: those that are longer than the verdict or an annotation shows. If the log
 * has the output of the tests, it has their messages too.
 */
export function reasonGroups(outcome: StepOutcome, hasAnnotations: boolean): LogGroup[] {
  if (outcome.hasShownOutput) return []
  const ofCases = firstFailing(outcome).flatMap((testCase) => groupOfCase(testCase, hasAnnotations))
  return [...groupOfRun(outcome), ...ofCases]
}

function groupOfRun({ run }: StepOutcome): LogGroup[] {
  if (run?.message === undefined || isOneSentence(run.message)) return []
  return [{ name: fragment`The message of the run`, text: linesOf(run.message) }]
}

/** Whether the sentence of the verdict has the whole message. It has the first line. */
function isOneSentence(message: Untrusted): boolean {
  const text = String(message).trim()
  return text.length <= SENTENCE_LIMIT_CHARS && text === String(firstLineOf(message))
}

function groupOfCase(testCase: TestCase, hasAnnotations: boolean): LogGroup[] {
  const { message } = testCase
  if (message === undefined || (hasAnnotations && fitsCommand(annotationMessage(testCase)))) return []
  const location = locationText(testCase)
  const where = location === undefined ? NONE : fragment` (${location})`
  return [{ name: fragment`${titleOf(testCase, TITLE_LIMIT_CHARS)}${where}`, text: linesOf(message) }]
}

function firstFailing(outcome: StepOutcome): readonly TestCase[] {
  return casesOfKind(FAILING, outcome).slice(0, CASES_SHOWN)
}

function hasReason(testCase: TestCase): boolean {
  return testCase.message !== undefined || locationOf(testCase) !== undefined
}

function annotationMessage(testCase: TestCase): Fragment {
  const { rawStatus, durationMs, message } = testCase
  const title = titleOf(testCase, TITLE_LIMIT_CHARS)
  if (message !== undefined) return fragment`${title}\n${linesOf(message)}`
  const time = durationMs === undefined ? NONE : fragment` after ${durationText(durationMs)}`
  return fragment`${title}: ${rawStatus}${time}`
}
