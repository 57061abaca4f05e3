import type { EarlierCase, PastOfCase } from '../model/baseline.ts'
import type { StepOutcome } from '../model/outcome.ts'
import { CASE_KINDS, type TestCase } from '../model/run.ts'
import { type Fragment, fragment, untruncated } from '../text/safe-text.ts'
import { rawText, type Untrusted, untrusted } from '../text/untrusted.ts'
import { oneLine } from '../text/visible-text.ts'

/** All test cases, sorted by kind. Within one kind, new failures come first. Apart from that, the order is the service's. */
export function sortedCases({ run, past }: Pick<StepOutcome, 'run' | 'past'>): readonly TestCase[] {
  const testCases = run?.testCases ?? []
  const isNew = (testCase: TestCase) => past?.get(testCase)?.mark === 'new'
  return CASE_KINDS.flatMap((wanted) => {
    const ofKind = testCases.filter(({ kind }) => kind === wanted)
    return [...ofKind.filter(isNew), ...ofKind.filter((testCase) => !isNew(testCase))]
  })
}

/** For example `new`, `failed before` or `unstable: 3 of 10 runs`. Undefined for a case that is not compared with earlier runs. */
export function pastText(testCase: TestCase, { past }: Pick<StepOutcome, 'past'>): Fragment | undefined {
  const found = past?.get(testCase)
  if (found === undefined) return undefined
  if (testCase.kind === 'flaky')
    return found.runs === 0 ? undefined : fragment`failed or flaky in ${badRunsText(found)}`
  switch (found.mark) {
    case 'new':
      return fragment`new`
    case 'failed before':
      return fragment`failed before`
    case 'unstable':
      return fragment`unstable: ${badRunsText(found)}`
    case undefined:
      return undefined
  }
}

/** For example `3 of 10 runs`. */
function badRunsText({ badRuns, runs }: PastOfCase): Fragment {
  return fragment`${badRuns} of ${runs} ${runs === 1 ? fragment`run` : fragment`runs`}`
}

/** The cases that passed now, and failed or were flaky in an earlier run, each with how often. The most frequent come first. */
export function passedButBadBefore({ past }: Pick<StepOutcome, 'past'>): readonly CaseWithWords[] {
  // `past` has a passed case only if it was bad in an earlier run.
  const passed = [...(past ?? [])].filter(([{ kind }]) => kind === 'passed')
  return passed
    .sort(([, a], [, b]) => b.badRuns - a.badRuns || a.runs - b.runs)
    .map(([testCase, found]) => ({ testCase, words: badRunsText(found) }))
}

/** What a list shows beside a test case. */
export interface CaseWithWords {
  readonly testCase: EarlierCase
  readonly words?: Fragment | undefined
}

/** How many failures are new. Undefined without a baseline. */
export function countNew({ past }: StepOutcome): number | undefined {
  return past && [...past.values()].filter(({ mark }) => mark === 'new').length
}

/** The title in visible characters, or `(untitled)` if it has none. */
export function titleOf({ title }: Pick<TestCase, 'title'>): Untrusted {
  const visible = oneLine(title)
  return rawText(visible) === '' ? untrusted('(untitled)') : visible
}

/** The file of a test case, and the line of its failure. A run has a place too. */
export type Place = Pick<TestCase, 'filePath' | 'line'>

/** For example `e2e/pay.spec.ts:12`. Undefined without a usable path. */
export function placeText({ filePath, line }: Place): Fragment | undefined {
  if (filePath === undefined) return undefined
  return untruncated(line === undefined ? filePath : untrusted(`${rawText(filePath)}:${line}`))
}
