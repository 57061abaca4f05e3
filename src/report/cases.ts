import type { StepOutcome } from '../model/outcome.ts'
import { CASE_KINDS, type CaseKind, FAILING, locationOf, type TestCase } from '../model/run.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { visibleText } from '../text/visible-text.ts'

/** The kinds in the open table of the summary and in the comment. */
export const FAILING_OR_OTHER: readonly CaseKind[] = [...FAILING, 'other']

/** The test cases of these kinds, sorted by kind. Within one kind, new failures come first, and the order is the service's. */
export function casesOfKind(
  kinds: readonly CaseKind[],
  { run, past }: Pick<StepOutcome, 'run' | 'past'>,
): readonly TestCase[] {
  const wanted = CASE_KINDS.filter((kind) => kinds.includes(kind))
  return wanted.flatMap((kind) => {
    const ofKind = run?.testCases?.filter((testCase) => testCase.kind === kind) ?? []
    const isNew = (testCase: TestCase) => past?.get(testCase)?.mark === 'new'
    return [...ofKind.filter(isNew), ...ofKind.filter((testCase) => !isNew(testCase))]
  })
}

/** For example `new`, `failed before` or `unstable: 3 of 10 runs`. Undefined without a baseline, and for a case that passed before too. */
export function pastText(testCase: TestCase, { past }: Pick<StepOutcome, 'past'>): string | undefined {
  const found = past?.get(testCase)
  if (found === undefined) return undefined
  const ofRuns = `${found.badRuns} of ${found.runs} ${found.runs === 1 ? 'run' : 'runs'}`
  if (testCase.kind === 'flaky') return found.badRuns === 0 ? undefined : `failed or flaky in ${ofRuns}`
  return found.mark === 'unstable' ? `unstable: ${ofRuns}` : found.mark
}

/** How many failures are new. Undefined without a baseline. */
export function countNew({ past }: StepOutcome): number | undefined {
  return past && [...past.values()].filter(({ mark }) => mark === 'new').length
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
