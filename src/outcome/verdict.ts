import type { Failure } from './failure.ts'
import { countTestCases, isTerminal, type Run } from './run.ts'

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

/** How the attempt to cancel the run ended. */
export type Cancellation =
  /** Nothing to cancel, or not ours to cancel. */
  | { readonly kind: 'not-wanted' }
  /** No run can have been started. */
  | { readonly kind: 'no-run' }
  /** A start went out and no id came back: there may be a run, and the interface has no way to look it up. */
  | { readonly kind: 'id-unknown' }
  /** The test-suite workflow has no cancel. */
  | { readonly kind: 'not-supported' }
  /** `run` is there where the answer to the cancel was lost and a look at the run told that it had been taken. */
  | { readonly kind: 'cancelled'; readonly run?: Run }
  /** It was over already; `run` tells which end it had, where that could be read. */
  | { readonly kind: 'already-finished'; readonly run?: Run }
  | { readonly kind: 'failed'; readonly failure?: Failure }

/** How the step's part in the run's life ended. `run` is what the service last said of it. */
export type Ending =
  | { readonly kind: 'finished'; readonly run: Run }
  /** `wait: false`. */
  | { readonly kind: 'started' }
  | {
      readonly kind: 'wait-timeout'
      readonly run?: Run
      readonly limitMs: number
      /** Of the last poll, where that could not be read either. */
      readonly failure?: Failure
      readonly cancellation: Cancellation
    }
  /** The workflow was cancelled or the step's time limit passed. */
  | { readonly kind: 'aborted'; readonly run?: Run; readonly cancellation: Cancellation }
  | {
      readonly kind: 'gave-up'
      readonly during: 'start' | 'wait'
      readonly run?: Run
      readonly failure: Failure
      readonly cancellation: Cancellation
    }

export interface Verdict {
  readonly conclusion: Conclusion
  /** The step succeeds. */
  readonly success: boolean
}

const CONCLUSION_OF_STATUS: Readonly<Record<Run['status'], Conclusion>> = {
  PASSED: 'passed',
  FAILED: 'failed',
  TIMEDOUT: 'timed-out',
  CANCELLED: 'cancelled',
  INTERRUPTED: 'interrupted',
  // Not the end of a run, or not one that this version knows: never green.
  QUEUED: 'error',
  RUNNING: 'error',
  UNKNOWN: 'error',
}

/** The gate. It fails closed: only a PASSED run in which a test case ran (or none had to) makes the step green. */
export function judge(ending: Ending, passWithNoTests: boolean): Verdict {
  switch (ending.kind) {
    case 'finished':
      return judgeFinishedRun(ending.run, passWithNoTests)
    case 'started':
      return { conclusion: 'started', success: true }
    case 'aborted':
      return { conclusion: 'cancelled', success: false }
    case 'wait-timeout': {
      const { cancellation } = ending
      // The run may have ended between the last poll and the cancel: then its true verdict counts.
      if (cancellation.kind === 'already-finished' && cancellation.run !== undefined && isTerminal(cancellation.run)) {
        return judgeFinishedRun(cancellation.run, passWithNoTests)
      }
      return { conclusion: 'wait-timeout', success: false }
    }
    case 'gave-up':
      return { conclusion: 'error', success: false }
  }
}

function judgeFinishedRun(run: Run, passWithNoTests: boolean): Verdict {
  const conclusion = CONCLUSION_OF_STATUS[run.status]
  if (conclusion !== 'passed') return { conclusion, success: false }
  if (countTestCases(run.testCases ?? []).ran > 0) return { conclusion, success: true }
  return { conclusion: 'no-tests', success: passWithNoTests }
}
