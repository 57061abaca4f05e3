import type { Untrusted } from '../text/untrusted.ts'
import type { Failure } from './failure.ts'
import { type Counts, countTestCases, isSameBranch, type Run, type StartParameters, type Target } from './run.ts'

export type Conclusion =
  | 'passed'
  | 'failed'
  | 'timed-out'
  | 'cancelled'
  | 'interrupted'
  | 'no-tests'
  | 'wait-timeout'
  | 'error'
  | 'started'

export type Cancellation =
  /** Nothing to cancel, or not ours to cancel. */
  | { readonly kind: 'not-wanted' }
  /** No run can have been started. */
  | { readonly kind: 'no-run' }
  /** A start went out and no id came back: there may be a run, and the interface has no way to look it up. */
  | { readonly kind: 'id-unknown' }
  /** The test-suite workflow has no cancel. */
  | { readonly kind: 'not-supported' }
  /** `run` is there if the response to the cancel was lost and the run itself showed that it had been taken. */
  | { readonly kind: 'cancelled'; readonly run?: Run | undefined }
  | { readonly kind: 'already-finished'; readonly run: Run }
  /** The service does not know the run, or not any more. */
  | { readonly kind: 'not-found' }
  | { readonly kind: 'failed'; readonly failure?: Failure | undefined }

/**
 * What ends a step from outside. Post sends SIGHUP to a main that the runner's signals do not reach. The runner empties
 * its temporary folder when the job ends. A log that nobody reads means that the runner's worker is dead.
 */
export type AbortCause = 'SIGINT' | 'SIGTERM' | 'SIGBREAK' | 'SIGHUP' | 'folder emptied' | 'log closed'

export interface WaitLimit {
  readonly input: 'timeout-minutes' | 'queue-timeout-minutes'
  readonly ms: number
}

/** How the step's part in the run's life ended. */
export type Ending =
  | { readonly kind: 'finished'; readonly run: Run }
  | { readonly kind: 'started' }
  /** `failure` is that of the last poll, if it failed. */
  | { readonly kind: 'wait-timeout'; readonly limit: WaitLimit; readonly failure?: Failure | undefined }
  | { readonly kind: 'aborted'; readonly cause: AbortCause }
  | { readonly kind: 'start-failed'; readonly failure: Failure }
  | { readonly kind: 'poll-failed'; readonly failure: Failure }

export interface StepSubject {
  readonly target: Target
  /** Empty if the step did not start the run. */
  readonly parameters: StartParameters
  /** False if the step was given the run by `run-id`. */
  readonly ownsRun: boolean
  /** What the event is about, if the project's default branch is tested instead because the input `branch` is empty. */
  readonly untested?: UntestedHead | undefined
  /** Tell the steps of one job apart: `comment-key`, then the values of the matrix. */
  readonly labels: readonly string[]
  readonly job?: Job | undefined
}

/** What a workflow run is about. */
export type UntestedHead =
  | { readonly kind: 'branch'; readonly name: string }
  | { readonly kind: 'pull-request'; readonly number: number }
  | { readonly kind: 'commit-of-fork' }

export interface Job {
  readonly name: string
  readonly url: string
}

export interface StepFacts {
  /** What the service last said of the run; absent if it never did. */
  readonly run?: Run | undefined
  /** The run's id, if it is one that may be shown. */
  readonly runId?: string | undefined
  readonly runUrl?: string | undefined
  readonly cancellation: Cancellation
  /** How long the step waited, start included. */
  readonly waitedMs: number
  /** How long of that the run was seen to be QUEUED; absent if it never was. */
  readonly queuedMs?: number | undefined
  readonly subject: StepSubject
}

/** Everything there is to say about a step, whatever its end. Built once; whatever follows is a function of it. */
export interface StepOutcome extends StepFacts {
  readonly ending: Ending
  readonly conclusion: Conclusion
  readonly success: boolean
  /** The branch that the service says it tested, if this step asked for another one. */
  readonly otherBranch?: Untrusted | undefined
  /** Of the test cases of `run`; zeros if it has none. */
  readonly counts: Counts
}

const CONCLUSION_OF_STATUS: Readonly<Record<Run['status'], Conclusion>> = {
  PASSED: 'passed',
  FAILED: 'failed',
  TIMEDOUT: 'timed-out',
  CANCELLED: 'cancelled',
  INTERRUPTED: 'interrupted',
  // Not the end of a run, or not one that this version knows: the gate fails closed.
  QUEUED: 'error',
  RUNNING: 'error',
  UNKNOWN: 'error',
}

/**
 * The gate. It fails closed: the step succeeds only after a PASSED run of the branch that the step asked for, in which a
 * test case ran (or none had to).
 */
export function concludeStep(ending: Ending, facts: StepFacts, passWithNoTests: boolean): StepOutcome {
  const { cancellation } = facts
  const found = 'run' in cancellation ? cancellation.run : undefined
  // A run that finished between the last poll and the cancel has a true verdict, and it counts.
  const isFinishedAfterAll = ending.kind === 'wait-timeout' && cancellation.kind === 'already-finished'
  const actual: Ending = isFinishedAfterAll ? { kind: 'finished', run: cancellation.run } : ending
  const run = actual.kind === 'finished' ? actual.run : (found ?? facts.run)
  const counts = countTestCases(run?.testCases ?? [])
  const otherBranch = run && otherBranchOf(run, facts.subject)
  const seen = { ...facts, ending: actual, run, counts, otherBranch }
  return { ...seen, ...judge(seen, passWithNoTests) }
}

/** A run that another step started may be about any branch. A test suite's branch is metadata, and promises nothing. */
function otherBranchOf({ branchName }: Run, { target, ownsRun, parameters }: StepSubject): Untrusted | undefined {
  const { branch } = parameters
  if (!ownsRun || target.kind !== 'project' || branch === undefined || branchName === undefined) return undefined
  return isSameBranch(branchName, branch) ? undefined : branchName
}

function judge(
  { ending, counts, otherBranch }: Pick<StepOutcome, 'ending' | 'counts' | 'otherBranch'>,
  passWithNoTests: boolean,
): Pick<StepOutcome, 'conclusion' | 'success'> {
  switch (ending.kind) {
    case 'finished': {
      const conclusion = CONCLUSION_OF_STATUS[ending.run.status]
      if (conclusion !== 'passed') return { conclusion, success: false }
      if (otherBranch !== undefined) return { conclusion: 'error', success: false }
      const hasRun = counts.passed + counts.failed > 0
      return hasRun ? { conclusion, success: true } : { conclusion: 'no-tests', success: passWithNoTests }
    }
    case 'started':
      return { conclusion: 'started', success: true }
    case 'aborted':
      return { conclusion: 'cancelled', success: false }
    case 'wait-timeout':
      return { conclusion: 'wait-timeout', success: false }
    case 'start-failed':
    case 'poll-failed':
      return { conclusion: 'error', success: false }
  }
}

export function statusOf({ cancellation, run }: StepOutcome): Run['status'] | undefined {
  return cancellation.kind === 'cancelled' ? 'CANCELLED' : run?.status
}

/** Nothing is left to do about the run, for this step or for post. */
export function isDone({ cancellation }: StepOutcome): boolean {
  return cancellation.kind !== 'failed' && !needsManualCleanup(cancellation)
}

/** Only a person can do something about the run, if there is one: post can do no more than main. */
export function needsManualCleanup({ kind }: Cancellation): boolean {
  return kind === 'id-unknown' || kind === 'not-supported'
}
