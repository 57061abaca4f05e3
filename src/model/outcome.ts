import type { Untrusted } from '../text/untrusted.ts'
import type { Baseline } from './baseline.ts'
import type { Failure } from './failure.ts'
import type { Counts, FinishedRun, Run, StartParameters, Target, TestCase } from './run.ts'

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

/** What became of a run whose id main knows. */
export type RunCancellation =
  /** The run has finished, or the step leaves it running, because it does not wait or may not cancel. */
  | { readonly kind: 'not-wanted' }
  /** The test-suite workflow has no cancel. */
  | { readonly kind: 'not-supported' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'already-finished'; readonly run: FinishedRun }
  /** The service does not know the run, or no longer knows it. */
  | { readonly kind: 'not-found' }
  /** The run is not known to be cancelled. */
  | { readonly kind: 'failed'; readonly failure: Failure }

/** If main knows no id, nothing can be cancelled. */
type NoRunCancellation =
  /** No run can have been started. */
  | { readonly kind: 'no-run' }
  /** A start may have started a run, but main has no id for it. The service's interface has no way to look it up. */
  | { readonly kind: 'id-unknown' }

export type Cancellation = RunCancellation | NoRunCancellation

/** What aborts a step from outside: a signal of the runner, or the end of the job if no signal has reached main. */
export type AbortCause = 'signal' | 'job ended'

interface Aborted {
  readonly kind: 'aborted'
  readonly cause: AbortCause
}

/** What ended a step that knows its run. */
export type RunEnding =
  | { readonly kind: 'finished'; readonly run: FinishedRun }
  | { readonly kind: 'started' }
  | {
      readonly kind: 'wait-timeout'
      readonly limitMs: number
      /** Whether the run was QUEUED when it was last read. */
      readonly wasQueued: boolean
      /** Present if the last poll failed. */
      readonly failure?: Failure | undefined
    }
  | Aborted
  | { readonly kind: 'poll-failed'; readonly failure: Failure }

/** What ended a step that knows no run. */
export type NoRunEnding = Aborted | { readonly kind: 'start-failed'; readonly failure: Failure }

export type Ending = RunEnding | NoRunEnding

/** What is known about a step before its first request: what it tests, and what tells it from other steps in reports. */
export interface StepSubject {
  readonly target: Target
  /** Empty if the input `run-id` names the run. */
  readonly parameters: StartParameters
  /** False if the input `run-id` names the run. */
  readonly ownsRun: boolean
  /**
   * The branch or the tag of `parameters.branch`, if that is the hash of the workflow's own commit, or of the head of the
   * event's pull request.
   */
  readonly commitName?: string | undefined
  /** `comment-key` and the values of the matrix. They distinguish this step in reports. */
  readonly labels: readonly string[]
  /** Absent if the user gave none, or if it cannot be read. */
  readonly baseline?: Baseline | undefined
  readonly job?: Job | undefined
}

export interface Job {
  readonly name: string
  readonly url: string
}

/** What happened if main knows the run's id: it started the run, or the input `run-id` names it. */
export interface RunHistory {
  readonly ending: RunEnding
  readonly cancellation: RunCancellation
  readonly runId: string
  readonly runUrl?: string | undefined
  /** The run as the service last described it. Absent if it never did. */
  readonly run?: Run | undefined
}

/** What happened if main knows no id: no run was started, or the response to the start had no id. */
export interface NoRunHistory {
  readonly ending: NoRunEnding
  readonly cancellation: NoRunCancellation
  readonly runId?: undefined
  readonly runUrl?: undefined
  readonly run?: undefined
}

/** What happened in a step. */
export type StepHistory = (RunHistory | NoRunHistory) & {
  /** The time from the beginning of `performStep` until the outcome is known. */
  readonly tookMs: number
  readonly subject: StepSubject
}

/** Everything that reports say about a step. It is built once, and every report is a function of it. */
export type StepOutcome = StepHistory & Verdict & RunFacts

export type RunOutcome = Extract<StepOutcome, RunHistory>
export type NoRunOutcome = Extract<StepOutcome, NoRunHistory>

/** The outcome of a step that has read its run. The report files are about such a run. */
export type ReadRunOutcome = RunOutcome & { readonly run: Run }

export function hasReadRun(outcome: StepOutcome): outcome is ReadRunOutcome {
  return outcome.run !== undefined
}

/** What decides the verdict after a PASSED run. */
export type PassedReason =
  /** The service says that it tested another branch. */
  | 'other branch'
  /** No test case ran. The user says whether the step then succeeds. */
  | 'no tests'
  /** A test case failed or has no known result, and the user wants that the step then fails. */
  | 'strict'
  /** A test case failed or has no known result, and the run's status decides. */
  | 'doubts'
  /** No test case failed, and all results are known. */
  | 'no doubts'

export interface Verdict {
  /** `ending` means that the ending alone decides: the run did not pass, or the step did not see it finish. */
  readonly reason: PassedReason | 'ending'
  readonly conclusion: Conclusion
  readonly success: boolean
}

/** What the verdict and the reports take from the run. */
export interface RunFacts {
  /** Both branches, if the service says that it tested another branch than this step asked for. */
  readonly otherBranch?: { readonly tested: Untrusted; readonly asked: string } | undefined
  /** The failing test cases that did not fail in the baseline. Absent if there is no baseline. */
  readonly newFailures?: ReadonlySet<TestCase> | undefined
  /** The counts of `run`'s test cases. All are zero if it has none. */
  readonly counts: Counts
}

/** The run's status. If the service confirmed the cancel, it is CANCELLED, even if nobody has read the run since then. */
export function statusOf({ cancellation, run }: StepOutcome): Run['status'] | undefined {
  return cancellation.kind === 'cancelled' ? 'CANCELLED' : run?.status
}

/** When a report is written. With `on-failure`, only if the step fails. */
export type When = 'always' | 'on-failure' | 'never'
