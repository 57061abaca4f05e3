import { randomUUID } from 'node:crypto'

/** The ends of a run that the interface names (section 2.1). */
export type RunEnd = 'PASSED' | 'FAILED' | 'TIMEDOUT' | 'CANCELLED' | 'INTERRUPTED'

/** The interface leaves a test case's statuses open; these are the ones that this service sends. */
export type TestCaseStatus = 'PASSED' | 'FLAKY' | 'FAILED' | 'TIMEDOUT' | 'INTERRUPTED' | 'SKIPPED'

export interface TestCase {
  readonly title: string
  readonly status: TestCaseStatus
  readonly durationMs: number
}

export interface RunOutcome {
  readonly status: RunEnd
  readonly testCases: readonly TestCase[]
}

type Phase =
  | { readonly status: 'QUEUED' }
  | { readonly status: 'RUNNING'; readonly startedAt: Date }
  | ({ readonly startedAt: Date | null; readonly finishedAt: Date } & RunOutcome)

/** What is known of one run: which it is, where it belongs and how far it has come. */
export interface Run {
  readonly runId: string
  readonly projectId: string
  /** Set for a run of the test-suite workflow. */
  readonly testSuiteId?: string
  /** Absent where the project's folder is on no branch. */
  readonly branchName?: string
  readonly phase: Phase
}

/** A run as its owner holds it: the phase moves only through `begin` and `end`. */
export interface OwnedRun extends Run {
  phase: Phase
}

export function queueRun(facts: Omit<Run, 'runId' | 'phase'>): OwnedRun {
  return { ...facts, runId: randomUUID(), phase: { status: 'QUEUED' } }
}

export function begin(run: OwnedRun, now: Date): void {
  if (run.phase.status !== 'QUEUED') throw new Error(`A run that is ${run.phase.status} cannot begin.`)
  run.phase = { status: 'RUNNING', startedAt: now }
}

/** Ends a run that is queued or running. A run ends once: false where it was over already and nothing changed. */
export function end(run: OwnedRun, outcome: RunOutcome, now: Date): boolean {
  const { phase } = run
  if (isOver(run)) return false
  run.phase = { ...outcome, startedAt: phase.status === 'RUNNING' ? phase.startedAt : null, finishedAt: now }
  return true
}

export function isOver(run: Run): boolean {
  return 'finishedAt' in run.phase
}

/** The run object of the interface (section 2.1). What is not known yet is left out, but for `startedAt`. */
export function describeRun({ phase, branchName }: Run): object {
  return {
    status: phase.status,
    startedAt: 'startedAt' in phase ? (phase.startedAt?.toISOString() ?? null) : null,
    ...('finishedAt' in phase ? { finishedAt: phase.finishedAt.toISOString() } : {}),
    ...(branchName === undefined ? {} : { branchName }),
    ...('testCases' in phase ? { results: { testCases: phase.testCases } } : {}),
  }
}
