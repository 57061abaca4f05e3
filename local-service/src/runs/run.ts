import { randomUUID } from 'node:crypto'

/** The final statuses of a run. */
export type FinalStatus = 'PASSED' | 'FAILED' | 'TIMEDOUT' | 'CANCELLED' | 'INTERRUPTED'

/** The interface leaves the statuses of a test case open. This service sends these statuses. */
export type TestCaseStatus = 'PASSED' | 'FLAKY' | 'FAILED' | 'TIMEDOUT' | 'INTERRUPTED' | 'SKIPPED'

export interface TestCase {
  readonly title: string
  readonly status: TestCaseStatus
  readonly durationMs: number
  /** Why it did not pass. A flaky test has the message of its last failed attempt. */
  readonly message?: string | undefined
  /** Where it failed, from the root of the repository. If there is no repository, from the project's folder. */
  readonly filePath?: string | undefined
  readonly line?: number | undefined
}

const BAD_STATUSES: ReadonlySet<TestCaseStatus> = new Set(['FAILED', 'TIMEDOUT', 'INTERRUPTED'])

/** Whether a test case keeps its run from passing. */
export function isBad({ status }: TestCase): boolean {
  return BAD_STATUSES.has(status)
}

export interface RunOutcome {
  readonly status: FinalStatus
  readonly testCases: readonly TestCase[]
  /**
   * Why the run as a whole did not pass, if the test cases do not say it. It may quote an error of the framework, as messages of
   * test cases do. It never quotes other output, such as the output of `setup`, which may be secret.
   */
  readonly message?: string | undefined
}

/** Times are as the interface has them. */
type Phase =
  | { readonly status: 'QUEUED' }
  | { readonly status: 'RUNNING'; readonly startedAt: string }
  | ({ readonly startedAt: string | null; readonly finishedAt: string } & RunOutcome)

export interface Run {
  readonly runId: string
  readonly projectId: string
  /** Set for a run of the test-suite workflow. */
  readonly suite?: { readonly id: string; readonly name: string } | undefined
  /** Absent if the project's folder is on no branch. */
  readonly branchName?: string | undefined
  readonly phase: Phase
}

/** A run whose phase can change. Only `markRunning` and `finishRun` change its status. */
export interface OwnedRun extends Run {
  phase: Phase
}

export const CANCELLED: RunOutcome = { status: 'CANCELLED', testCases: [] }

export function interruptedBecause(message?: string): RunOutcome {
  return { status: 'INTERRUPTED', testCases: [], message }
}

export function queueRun(facts: Omit<Run, 'runId' | 'phase'>): OwnedRun {
  return { ...facts, runId: randomUUID(), phase: { status: 'QUEUED' } }
}

export function markRunning(run: OwnedRun): void {
  if (run.phase.status !== 'QUEUED') throw new Error(`A run that is ${run.phase.status} cannot start.`)
  run.phase = { status: 'RUNNING', startedAt: now() }
}

/** Finishes a run that is queued or running. If the run had already finished, returns false and changes nothing. */
export function finishRun(run: OwnedRun, { status, testCases, message }: RunOutcome): boolean {
  if (isFinished(run)) return false
  const startedAt = 'startedAt' in run.phase ? run.phase.startedAt : null
  run.phase = { status, testCases, message, startedAt, finishedAt: now() }
  return true
}

function now(): string {
  return new Date().toISOString()
}

export function isFinished(run: Run): boolean {
  return 'finishedAt' in run.phase
}

/** The run object of the interface. What is not known yet is left out, except `startedAt`. */
export function describeRun({ phase, branchName }: Run): object {
  return {
    status: phase.status,
    startedAt: 'startedAt' in phase ? phase.startedAt : null,
    ...('finishedAt' in phase ? { finishedAt: phase.finishedAt } : {}),
    ...(branchName === undefined ? {} : { branchName }),
    ...('testCases' in phase ? { results: { testCases: phase.testCases }, message: phase.message } : {}),
  }
}
