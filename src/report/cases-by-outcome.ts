import { OUTCOMES, type Outcome, type TestCase } from '../outcome/run.ts'

/** What counts as failed: the same three as `Counts.failed`, in the order of reports. */
export const FAILING: readonly Outcome[] = ['failed', 'timed-out', 'interrupted']

export const NOT_PASSED: readonly Outcome[] = [...FAILING, 'other']

/** The cases with one of these outcomes, one outcome after the other, each as the service sent them. */
export function casesWith(outcomes: readonly Outcome[], testCases: readonly TestCase[]): readonly TestCase[] {
  const wanted = OUTCOMES.filter((outcome) => outcomes.includes(outcome))
  return wanted.flatMap((outcome) => testCases.filter((testCase) => testCase.outcome === outcome))
}

/** The slowest first; of equals, the one that the service sent first. */
export function slowestCases(testCases: readonly TestCase[], count: number): readonly TestCase[] {
  const slowest: TestCase[] = []
  for (const testCase of testCases) {
    const ms = testCase.durationMs
    if (ms === undefined) continue
    const place = slowest.findIndex((other) => ms > (other.durationMs ?? 0))
    if (place === -1) slowest.push(testCase)
    else slowest.splice(place, 0, testCase)
    if (slowest.length > count) slowest.pop()
  }
  return slowest
}
