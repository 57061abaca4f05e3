import type { RunOutcome } from '../execution/outcome.ts'

/** Times are as the interface has them. */
type Phase =
  | { readonly status: 'QUEUED' }
  | { readonly status: 'RUNNING'; readonly startedAt: string }
  | ({ readonly startedAt: string | null; readonly finishedAt: string } & RunOutcome)

export interface Run {
  readonly runId: string
  readonly projectId: string
  /** The name of the suite, for a run of the test-suite workflow. */
  readonly suite?: string | undefined
  /**
   * The branch that the request names, else the checked-out branch. If the request names the hash of the checked-out commit, it is this hash.
   * Absent if git cannot say what is checked out, or if the request names no branch and the folder is on no branch.
   */
  readonly branchName?: string | undefined
  /** Only `markRunning` and `finishRun` change it. */
  phase: Phase
}

/** The message of a run that was not finished when the service was told to stop. */
export const SERVICE_STOPPED = 'the service was stopped'

export function createRun(facts: Omit<Run, 'runId' | 'phase'>): Run {
  return { ...facts, runId: crypto.randomUUID(), phase: { status: 'QUEUED' } }
}

export function markRunning(run: Run): void {
  run.phase = { status: 'RUNNING', startedAt: new Date().toISOString() }
}

export function finishRun(run: Run, outcome: RunOutcome): void {
  const startedAt = 'startedAt' in run.phase ? run.phase.startedAt : null
  run.phase = { ...outcome, startedAt, finishedAt: new Date().toISOString() }
}

export function isFinished(run: Run): boolean {
  return 'finishedAt' in run.phase
}
