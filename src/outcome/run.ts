import type { Untrusted } from '../text/untrusted.ts'

/** The statuses of a run that the service's interface names (section 2.1). */
export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED'] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/** What the start request asks for: the fields that the user gave. Absent ones are not sent. */
export interface StartParameters {
  readonly branch?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProject?: string | undefined
  readonly runGroup?: string | undefined
  readonly envOverrides?: Readonly<Record<string, string>> | undefined
  readonly autofix?: boolean | undefined
}

/** Which of the service's two workflows the run belongs to, by the id that its paths carry. */
export type Target =
  | { readonly kind: 'project'; readonly projectId: string }
  | { readonly kind: 'test-suite'; readonly testSuiteId: string }

/** The result of one test case, in the order in which the report lists what did not pass. */
export const OUTCOMES = ['failed', 'timed-out', 'interrupted', 'other', 'flaky', 'skipped', 'passed'] as const

export type Outcome = (typeof OUTCOMES)[number]

export interface TestCase {
  readonly title: Untrusted
  /** As the service sent it; empty if it sent none. `outcome` is what it means. */
  readonly rawStatus: Untrusted
  readonly outcome: Outcome
  /** The case was executed: not skipped, queued, cancelled, or of a status that this version does not know. */
  readonly ran: boolean
  /** Absent in the test-suite workflow, which sends none, and for a case that was skipped. */
  readonly durationMs?: number | undefined
}

/** A run as one response of the service describes it. */
export interface Run {
  /** `UNKNOWN` stands for a status that this version does not know; `rawStatus` then says which. */
  readonly status: RunStatus | 'UNKNOWN'
  readonly rawStatus: Untrusted
  readonly startedAt?: Date | undefined
  readonly finishedAt?: Date | undefined
  /** The service has set a finishing time, even if `finishedAt` could not be read from it. */
  readonly hasFinishedAt: boolean
  readonly branchName?: Untrusted | undefined
  /** Absent if the service sent no usable results. */
  readonly testCases?: readonly TestCase[] | undefined
  /** The JSON that `testCases` came from, for `results.json`. */
  readonly responseText?: Untrusted | undefined
}

/** The run does not change any more. A status of the future is terminal once the run has a finishing time. */
export function isTerminal(run: Run): boolean {
  if (run.status === 'UNKNOWN') return run.hasFinishedAt
  return run.status !== 'QUEUED' && run.status !== 'RUNNING'
}

/** Milliseconds from `startedAt` to `finishedAt`; undefined if one is missing or they contradict each other. */
export function runDurationMs(run: Run): number | undefined {
  if (run.startedAt === undefined || run.finishedAt === undefined) return undefined
  const ms = run.finishedAt.getTime() - run.startedAt.getTime()
  return ms >= 0 ? ms : undefined
}

/** The statuses of a test case that ran. Every other one, known or not, is of a case that did not. */
const OUTCOME_OF_EXECUTED: ReadonlyMap<string, Outcome> = new Map([
  ['PASSED', 'passed'],
  ['FLAKY', 'flaky'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['TIMEDOUT', 'timed-out'],
  ['INTERRUPTED', 'interrupted'],
])

/** What a test case's status means. Statuses of the future are kept, as `other`. */
export function classifyTestCase(rawStatus: string): Pick<TestCase, 'outcome' | 'ran'> {
  const outcome = OUTCOME_OF_EXECUTED.get(rawStatus)
  if (outcome !== undefined) return { outcome, ran: true }
  return { outcome: rawStatus === 'SKIPPED' ? 'skipped' : 'other', ran: false }
}

export interface Counts {
  readonly total: number
  /** Flaky ones included: they passed in the end. */
  readonly passed: number
  /** Timed-out and interrupted ones included. */
  readonly failed: number
  readonly flaky: number
  readonly skipped: number
  readonly other: number
  readonly ran: number
  readonly byOutcome: Readonly<Record<Outcome, number>>
}

export function countTestCases(testCases: readonly TestCase[]): Counts {
  const byOutcome: Record<Outcome, number> = {
    failed: 0,
    'timed-out': 0,
    interrupted: 0,
    other: 0,
    flaky: 0,
    skipped: 0,
    passed: 0,
  }
  let ran = 0
  for (const testCase of testCases) {
    byOutcome[testCase.outcome]++
    if (testCase.ran) ran++
  }
  return {
    total: testCases.length,
    passed: byOutcome.passed + byOutcome.flaky,
    failed: byOutcome.failed + byOutcome['timed-out'] + byOutcome.interrupted,
    flaky: byOutcome.flaky,
    skipped: byOutcome.skipped,
    other: byOutcome.other,
    ran,
    byOutcome,
  }
}
