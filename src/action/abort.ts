import type { AbortCause, Ending } from '../model/outcome.ts'

/** How long main tries to cancel a run. If the step is aborted, `StepAborted.cancelDeadlineMs` applies instead. */
export const CANCEL_LIMIT_MS = 15_000

/** How long post waits for a main that it has asked to stop. Then post acts itself. */
export const POST_WAITS_FOR_MAIN_MS = 40_000

/** Times, counted from the abort. They end before the runner sends SIGKILL, and before post acts itself. */
interface Allowance {
  /** How long main waits for the response to a start in flight. */
  readonly startMs: number
  /** How long main or post tries to cancel a run whose id it knew before the abort. */
  readonly cancelMs: number
  /**
   * How long main tries to cancel a run whose id it learned after the abort, from the response to a start in flight. It also
   * holds for a post that was aborted before it began to cancel.
   */
  readonly cancelLateIdMs: number
  /** When main must have exited. Between the cancel and the exit, main writes the outputs, the summary and the log. */
  readonly exitMs: number
}

/**
 * The runner sends SIGTERM 7.5 s after SIGINT, and SIGKILL 10 s after SIGINT. Main exits within 7 s, before SIGTERM. If a
 * start was in flight, only main can receive the run's id. Then main exits within 9.5 s, before SIGKILL.
 */
const AFTER_SIGINT: Allowance = { startMs: 9_000, cancelMs: 6_700, cancelLateIdMs: 9_200, exitMs: 7_000 }
/** If SIGTERM comes without a SIGINT before it, the runner sends SIGKILL 2.5 s later. */
const AFTER_SIGTERM: Allowance = { startMs: 1_800, cancelMs: 2_050, cancelLateIdMs: 2_050, exitMs: 2_200 }
/**
 * The runner sets no deadline. If post has asked main to stop, post acts itself after `POST_WAITS_FOR_MAIN_MS`. A start gets
 * the 30 s that every request gets.
 */
const WITHOUT_RUNNER_DEADLINE: Allowance = {
  startMs: 30_000,
  cancelMs: CANCEL_LIMIT_MS,
  cancelLateIdMs: POST_WAITS_FOR_MAIN_MS - 2_500,
  exitMs: POST_WAITS_FOR_MAIN_MS - 2_000,
}

function allowanceAfter(cause: AbortCause): Allowance {
  switch (cause) {
    case 'SIGINT':
      return AFTER_SIGINT
    case 'SIGTERM':
    case 'SIGBREAK':
    case 'SIGHUP':
      return AFTER_SIGTERM
    default:
      return WITHOUT_RUNNER_DEADLINE
  }
}

/**
 * The reason of main's AbortSignal, and of post's. It says what aborted the process, and how much time is left. The deadlines
 * are times of the clock's `now()`.
 */
export class StepAborted extends Error {
  override readonly name = 'StepAborted'
  override readonly cause: AbortCause
  readonly #sinceMs: number
  readonly #allowance: Allowance

  constructor(cause: AbortCause, nowMs: number) {
    super(`The step was aborted (${cause}).`)
    this.cause = cause
    this.#sinceMs = nowMs
    this.#allowance = allowanceAfter(cause)
  }

  get startDeadlineMs(): number {
    return this.#sinceMs + this.#allowance.startMs
  }

  /** `learnedMs` is when this process learned the run's id. */
  cancelDeadlineMs(learnedMs: number): number {
    const { cancelMs, cancelLateIdMs } = this.#allowance
    return this.#sinceMs + (learnedMs >= this.#sinceMs ? cancelLateIdMs : cancelMs)
  }

  get exitDeadlineMs(): number {
    return this.#sinceMs + this.#allowance.exitMs
  }
}

export function abortReason({ reason }: AbortSignal): StepAborted {
  if (reason instanceof StepAborted) return reason
  throw new TypeError('The step was aborted without a StepAborted as the reason', { cause: reason })
}

export function abortedEnding(signal: AbortSignal): Extract<Ending, { kind: 'aborted' }> {
  return { kind: 'aborted', cause: abortReason(signal).cause }
}
