import type { AbortCause, Ending } from '../model/outcome.ts'

/** How long main tries to cancel a run. If the step is aborted, `StepAborted.cancelDeadlineMs` applies instead. */
export const CANCEL_LIMIT_MS = 15_000

/** How long post waits for a main that it has asked to stop. Then post acts itself. */
export const POST_WAITS_FOR_MAIN_MS = 40_000

/** How long after an abort main must have exited. After that, the runner sends SIGKILL, or post acts itself. */
const EXIT_LIMIT_MS: Readonly<Record<AbortCause, number>> = {
  // The runner sends SIGTERM 7.5 s after SIGINT. Main ignores this second signal. After 10 s, the runner sends SIGKILL.
  SIGINT: 9_500,
  // If no SIGINT came before, the runner sends SIGKILL 2.5 s later.
  SIGTERM: 2_200,
  SIGBREAK: 2_200,
  SIGHUP: 2_200,
  'asked by post': POST_WAITS_FOR_MAIN_MS - 2_000,
  'RUNNER_TEMP emptied': POST_WAITS_FOR_MAIN_MS - 2_000,
  'log closed': POST_WAITS_FOR_MAIN_MS - 2_000,
}

/** What main needs after the cancel, to write the outputs, the summary and the log. */
export const EXIT_MS = 150
/** If a start is in flight, main stops waiting for it so long before `cancelDeadlineMs` that a cancel still has this time. */
const CANCEL_MS = 250

/**
 * The reason of main's AbortSignal, and of post's. It says what aborted the process, and how much time is left. The deadlines
 * are times of the clock's `now()`.
 */
export class StepAborted extends Error {
  override readonly name = 'StepAborted'
  override readonly cause: AbortCause
  readonly exitDeadlineMs: number
  /** Until when main or post tries to cancel a run. */
  readonly cancelDeadlineMs: number
  /** Until when main awaits the response to a start in flight. */
  readonly startDeadlineMs: number

  constructor(cause: AbortCause, nowMs: number) {
    super(`The step was aborted (${cause}).`)
    this.cause = cause
    this.exitDeadlineMs = nowMs + EXIT_LIMIT_MS[cause]
    this.cancelDeadlineMs = this.exitDeadlineMs - EXIT_MS
    this.startDeadlineMs = this.cancelDeadlineMs - CANCEL_MS
  }
}

export function abortReason({ reason }: AbortSignal): StepAborted {
  if (reason instanceof StepAborted) return reason
  throw new TypeError('The step was aborted without a StepAborted as the reason', { cause: reason })
}

export function abortedEnding(signal: AbortSignal): Extract<Ending, { kind: 'aborted' }> {
  return { kind: 'aborted', cause: abortReason(signal).cause }
}
