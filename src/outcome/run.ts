import type { Untrusted } from './untrusted.ts'

/** The statuses of a run that the service's interface names (section 2.1). */
export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED'] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/** What became of one test case, in the order in which the report lists what did not pass. */
export const OUTCOMES = ['failed', 'timed-out', 'interrupted', 'other', 'flaky', 'skipped', 'passed'] as const

export type Outcome = (typeof OUTCOMES)[number]

export interface TestCase {
  readonly title: Untrusted
  /** As the service sent it; `outcome` is what it means. */
  readonly status: Untrusted
  readonly outcome: Outcome
  /** The case was reached at all: not skipped, queued or cancelled. */
  readonly ran: boolean
  /** Absent in the test-suite workflow, which sends none. */
  readonly durationMs?: number
}

/** A run as one answer of the service tells it. */
export interface Run {
  /** `UNKNOWN` stands for a status that this version does not know; `rawStatus` then says which. */
  readonly status: RunStatus | 'UNKNOWN'
  readonly rawStatus: Untrusted
  readonly startedAt?: Date
  readonly finishedAt?: Date
  /** The service has set a finishing time, which `finishedAt` has where it could be read. */
  readonly hasFinishedAt: boolean
  readonly branchName?: Untrusted
  /** Absent when the service sent no results. */
  readonly testCases?: readonly TestCase[]
  /** The decoded JSON of the answer, untouched, for `results.json`. */
  readonly raw: unknown
}

/** The run will not change any more. A status of the future counts as over once the run has a finishing time. */
export function isTerminal(run: Run): boolean {
  if (run.status === 'UNKNOWN') return run.hasFinishedAt
  return run.status !== 'QUEUED' && run.status !== 'RUNNING'
}

/** Milliseconds from `startedAt` to `finishedAt`; undefined where one is missing or they contradict each other. */
export function runDurationMs(run: Run): number | undefined {
  if (run.startedAt === undefined || run.finishedAt === undefined) return undefined
  const ms = run.finishedAt.getTime() - run.startedAt.getTime()
  return ms >= 0 ? ms : undefined
}

const OUTCOME_OF_STATUS: ReadonlyMap<string, Outcome> = new Map([
  ['PASSED', 'passed'],
  ['FLAKY', 'flaky'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['TIMEDOUT', 'timed-out'],
  ['INTERRUPTED', 'interrupted'],
  ['SKIPPED', 'skipped'],
])

const STATUSES_OF_CASES_THAT_DID_NOT_RUN = new Set(['SKIPPED', 'QUEUED', 'RUNNING', 'RETRYING', 'CANCELLED'])

/** What a test case's status means. Statuses of the future are kept, as `other`. */
export function judgeTestCase(status: string): Pick<TestCase, 'outcome' | 'ran'> {
  return {
    outcome: OUTCOME_OF_STATUS.get(status) ?? 'other',
    ran: !STATUSES_OF_CASES_THAT_DID_NOT_RUN.has(status),
  }
}

export type OutcomeCounts = Readonly<Record<Outcome, number>>

export interface Counts {
  readonly total: number
  /** Flaky ones included: they passed in the end. */
  readonly passed: number
  /** Timed-out and interrupted ones included. */
  readonly failed: number
  readonly skipped: number
  readonly other: number
  readonly ran: number
  readonly byOutcome: OutcomeCounts
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
    skipped: byOutcome.skipped,
    other: byOutcome.other,
    ran,
    byOutcome,
  }
}
