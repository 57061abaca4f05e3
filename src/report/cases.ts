import type { StepOutcome } from '../model/outcome.ts'
import { CASE_KINDS, type CaseKind, FAILING, locationOf, type TestCase } from '../model/run.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { visibleText } from '../text/visible-text.ts'

/** The kinds in the open table of the summary and in the comment. */
export const FAILING_OR_OTHER: readonly CaseKind[] = [...FAILING, 'other']

/** The test cases of these kinds, sorted by kind. Within one kind, new failures come first, and the order is the service's. */
export function casesOfKind(
  kinds: readonly CaseKind[],
  { run, newFailures }: Pick<StepOutcome, 'run' | 'newFailures'>,
): readonly TestCase[] {
  const wanted = CASE_KINDS.filter((kind) => kinds.includes(kind))
  return wanted.flatMap((kind) => {
    const ofKind = run?.testCases?.filter((testCase) => testCase.kind === kind) ?? []
    if (newFailures === undefined) return ofKind
    const isNew = (testCase: TestCase) => newFailures.has(testCase)
    return [...ofKind.filter(isNew), ...ofKind.filter((testCase) => !isNew(testCase))]
  })
}

/** Whether the test case failed in the baseline too. False without a baseline. */
export function hasFailedBefore(testCase: TestCase, { newFailures }: Pick<StepOutcome, 'newFailures'>): boolean {
  return newFailures !== undefined && FAILING.includes(testCase.kind) && !newFailures.has(testCase)
}

/** The title in visible characters, or `(untitled)` if it has none. */
export function titleOf({ title }: TestCase, limitChars?: number): Untrusted {
  const visible = visibleText(title, limitChars)
  return String(visible) === '' ? untrusted('(untitled)') : visible
}

/** The file and the line of a failure, such as `e2e/pay.spec.ts:12`. Undefined if the service sent no usable path. */
export function locationText(testCase: TestCase, limitChars?: number): Untrusted | undefined {
  const location = locationOf(testCase)
  if (location === undefined) return undefined
  const line = location.line === undefined ? '' : `:${location.line}`
  return untrusted(`${visibleText(location.filePath, limitChars)}${line}`)
}
