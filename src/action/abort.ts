import type { AbortCause, Ending } from '../model/outcome.ts'

/** How long main tries to cancel a run. If the step is aborted, `StepAborted.cancelDeadlineMs` applies instead. */
export const CANCEL_LIMIT_MS = 15_000

/** The reason of main's AbortSignal, and of post's. The deadlines are times of the clock's `now()`. */
export class StepAborted extends Error {
  override readonly cause: AbortCause
  readonly exitDeadlineMs: number
  /** Until when main or post tries to cancel a run. */
  readonly cancelDeadlineMs: number
  /** Until when main awaits the response to a start in flight. */
  readonly startDeadlineMs: number

  constructor(cause: AbortCause, nowMs: number) {
    super(`The step was aborted (${cause}).`)
    this.cause = cause
    // GitHub's runner (its ProcessInvoker) sends three signals. Main must exit before the last. If it does not, post cancels the run.
    //
    //        0 ms  SIGINT            aborts the step
    //    7,500 ms  SIGTERM
    //    9,100 ms  startDeadlineMs   the cancel of a run whose id came late has 250 ms left
    //    9,350 ms  cancelDeadlineMs  the last lines of the log have 150 ms left
    //    9,500 ms  exitDeadlineMs    the other half a second is for a slow machine
    //   10,000 ms  SIGKILL
    this.exitDeadlineMs = nowMs + 9_500
    this.cancelDeadlineMs = this.exitDeadlineMs - 150
    this.startDeadlineMs = this.cancelDeadlineMs - 250
  }
}

export function abortReason({ reason }: AbortSignal): StepAborted {
  if (reason instanceof StepAborted) return reason
  throw new TypeError('The step was aborted without a StepAborted as the reason', { cause: reason })
}

/**
 * Whether GitHub's runner still reads what main writes: its log, its outputs and its summary. If not, main writes only to its log, because
 * the next job may already use the runner's folders.
 */
export function isReadByRunner(signal: AbortSignal): boolean {
  return !signal.aborted || abortReason(signal).cause !== 'end of job'
}

export function abortedEnding(signal: AbortSignal): Extract<Ending, { kind: 'aborted' }> {
  return { kind: 'aborted', cause: abortReason(signal).cause }
}
