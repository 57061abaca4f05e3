import { CASE_KINDS, type CaseKind, FAILING, type TestCase } from '../model/run.ts'
import { type Untrusted, untrusted } from '../text/untrusted.ts'
import { visibleText } from '../text/visible-text.ts'

/** The kinds in the open table of the summary and in the comment. */
export const FAILING_OR_OTHER: readonly CaseKind[] = [...FAILING, 'other']

/** The test cases of these kinds, sorted by kind. Within one kind, the order is the service's. */
export function casesOfKind(kinds: readonly CaseKind[], testCases: readonly TestCase[]): readonly TestCase[] {
  const wanted = CASE_KINDS.filter((kind) => kinds.includes(kind))
  return wanted.flatMap((kind) => testCases.filter((testCase) => testCase.kind === kind))
}

/** The title in visible characters, or `(untitled)` if it has none. */
export function titleOf({ title }: TestCase, limitChars?: number): Untrusted {
  const visible = visibleText(title, limitChars)
  return String(visible) === '' ? untrusted('(untitled)') : visible
}

/** The file and the line of a failure, such as `e2e/pay.spec.ts:12`. Undefined if the service sent no usable path. */
export function locationText({ location }: TestCase, limitChars?: number): Untrusted | undefined {
  if (location === undefined) return undefined
  const line = location.line === undefined ? '' : `:${location.line}`
  return untrusted(`${visibleText(location.filePath, limitChars)}${line}`)
}
