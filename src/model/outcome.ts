import type { Baseline, Comparison, Past } from './baseline.ts'
import type { Failure } from './failure.ts'
import type { Counts, Run, StartParameters, Target } from './run.ts'

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
  /** There was nothing to cancel: no run was started, the run had finished, or `wait` is false. */
  | { readonly kind: 'none' }
  /** The step may not cancel the run, because `cancel-on-abort` is false. */
  | { readonly kind: 'not-allowed' }
  /** The interface for test suites has no cancel. */
  | { readonly kind: 'not-supported' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'already-finished' }
  /** The service does not know the run, or no longer knows it. */
  | { readonly kind: 'not-found' }
  /** A start may have started a run, but main has no id for it. The service's interface has no way to look it up. The failure says why. */
  | { readonly kind: 'id-unknown'; readonly failure: Failure }
  /** The run is not known to be cancelled. */
  | { readonly kind: 'failed'; readonly failure: Failure }

/**
 * What aborts a step. `end of job` means that the runner does not listen to main any more. Main notices it in three ways: post asks main to
 * stop, main's file is gone (the runner empties its folder), or stdout is closed. Only in the first case does post surely run.
 */
export type AbortCause = 'system signal' | 'end of job'

export type Ending =
  /** The step saw the run finish. */
  | { readonly kind: 'finished' }
  /** The run was started, and the step does not wait for it. */
  | { readonly kind: 'started' }
  | {
      readonly kind: 'wait-timeout'
      readonly limitMs: number
      /** Whether the last poll said that the run was QUEUED. */
      readonly wasQueued: boolean
      /** Present if the last poll failed. */
      readonly failure?: Failure | undefined
    }
  | { readonly kind: 'aborted'; readonly cause: AbortCause }
  | { readonly kind: 'start-failed'; readonly failure: Failure }
  | { readonly kind: 'poll-failed'; readonly failure: Failure }

/** What is known about a step before its first request. */
export interface StepSubject {
  readonly target: Target
  /** Empty if the input `run-id` names the run. */
  readonly parameters: StartParameters
  /** False if the input `run-id` names the run. */
  readonly ownsRun: boolean
  /** The values of the matrix, which distinguish this step in reports. Empty without a matrix. */
  readonly matrix: string
  readonly baseline?: Baseline | undefined
  readonly job?: Job | undefined
  /** The address of the repository's files at the tested commit. Absent if nobody knows the commit. */
  readonly sourceUrl?: string | undefined
}

export interface Job {
  readonly name: string
  readonly url: string
}

/** What is known when the step has ended, before the verdict. */
export interface EndedStep {
  readonly subject: StepSubject
  readonly ending: Ending
  readonly cancellation: Cancellation
  /** Absent if no run was started, or if no response to the start had a valid id. */
  readonly runId?: string | undefined
  readonly runUrl?: string | undefined
  /** The run as the service last described it. Absent if it never did. If the ending is `finished`, this run has finished. */
  readonly run?: Run | undefined
}

/** Why the step succeeds or fails. If the run has finished, the reason comes from the run. Otherwise the reason is the ending. */
export type Reason = Exclude<Ending, { kind: 'finished' }> | { readonly kind: ReasonOfFinished }

export type ReasonOfFinished =
  | 'passed'
  /** The run passed, but test cases failed or have no known result. */
  | 'passed-with-doubts'
  /** The run passed with doubts, and the input `strict` is true. */
  | 'strict'
  /** The run passed, but no test case ran. */
  | 'no-tests'
  /** The run passed, no test case ran, and the input `pass-with-no-tests` is true. */
  | 'no-tests-allowed'
  /** The run passed, but its branch is not the one that this step asked for. */
  | 'other-branch'
  | 'failed'
  | 'timed-out'
  | 'cancelled'
  | 'interrupted'
  /** This version does not know the status of the run. */
  | 'unknown-status'

export interface Verdict {
  readonly conclusion: Conclusion
  readonly success: boolean
  readonly reason: Reason
}

/** Every report is a function of it. */
export interface StepOutcome extends EndedStep, Verdict {
  readonly counts: Counts
  /** How test cases did in the earlier runs. Absent if there is no baseline. */
  readonly past?: Past | undefined
  /** Absent if the baseline has no run that can be compared with this run. */
  readonly comparison?: Comparison | undefined
}

export type OutcomeWithRun = StepOutcome & { readonly runId: string; readonly run: Run }

/** Main reads a run by its id, so an outcome with a run has an id too. */
export function isOutcomeWithRun(outcome: StepOutcome): outcome is OutcomeWithRun {
  return outcome.run !== undefined
}
