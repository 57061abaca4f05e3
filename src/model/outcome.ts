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

export type Cancellation =
  /** The run has finished, or the step leaves it running, because it does not wait or may not cancel. */
  | { readonly kind: 'not-wanted' }
  /** No run can have been started. */
  | { readonly kind: 'no-run' }
  /** A start may have started a run, but main has no id for it. The service's interface has no way to look it up. */
  | { readonly kind: 'id-unknown' }
  /** The test-suite workflow has no cancel. */
  | { readonly kind: 'not-supported' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'already-finished'; readonly run: FinishedRun }
  /** The service does not know the run, or no longer knows it. */
  | { readonly kind: 'not-found' }
  /** The run is not known to be cancelled. */
  | { readonly kind: 'failed'; readonly failure: Failure }

/** What aborts a step from outside. */
export type AbortCause =
  /** The runner cancels the step. It sends SIGINT and then SIGTERM. On Windows, SIGBREAK comes in place of SIGTERM. */
  | 'SIGINT'
  | 'SIGTERM'
  | 'SIGBREAK'
  /** The runner never sends SIGHUP. It counts as SIGTERM. */
  | 'SIGHUP'
  /** Post has asked main to stop, because the job ends and no signal of the runner has reached main. */
  | 'asked by post'
  /** The runner has emptied its temporary folder, as it does when the job ends. */
  | 'RUNNER_TEMP emptied'
  /** A line could not be written to the log. Nobody reads the log any more, because the runner's worker is dead. */
  | 'log closed'

/** What ended the step. */
export type Ending =
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
  | { readonly kind: 'aborted'; readonly cause: AbortCause }
  | { readonly kind: 'start-failed'; readonly failure: Failure }
  | { readonly kind: 'poll-failed'; readonly failure: Failure }

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

/** What happened in a step. */
export interface StepHistory {
  readonly ending: Ending
  /** The run as the service last described it. */
  readonly run?: Run | undefined
  /** Absent if no id is known. */
  readonly runId?: string | undefined
  readonly runUrl?: string | undefined
  readonly cancellation: Cancellation
  /** Whether the log has all the output of the tests. Absent unless the step saw the run finish. */
  readonly hasShownOutput?: boolean | undefined
  /** The time from the beginning of `performStep` until the outcome is known. */
  readonly tookMs: number
  readonly subject: StepSubject
}

/** Everything that reports say about a step. It is built once, and every report is a function of it. */
export interface StepOutcome extends StepHistory {
  readonly conclusion: Conclusion
  readonly success: boolean
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

/** Whether post must try again to cancel the run, or warn once more. */
export function needsPost({ cancellation }: StepOutcome): boolean {
  switch (cancellation.kind) {
    case 'failed':
    case 'id-unknown':
    case 'not-supported':
      return true
    case 'not-wanted':
    case 'no-run':
    case 'cancelled':
    case 'already-finished':
    case 'not-found':
      return false
  }
}

/** When a report is written. With `on-failure`, only if the step fails. */
export type When = 'always' | 'on-failure' | 'never'
