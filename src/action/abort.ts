import type { AbortCause, Ending } from '../outcome/step-outcome.ts'

/** How long main tries to cancel a run. If the step is aborted, `StepAborted.cancelDeadlineMs` applies instead. */
export const CANCEL_LIMIT_MS = 15_000

/** How long post waits for a main that it has asked to stop. Then post acts itself. */
export const POST_WAITS_FOR_MAIN_MS = 40_000

/**
 * Times, counted from the abort. They end before the runner sends SIGKILL and before post acts itself, so that main can still write the
 * outputs and the summary, and exit.
 */
interface Allowance {
  /** How long main waits for the response to a start in flight. */
  readonly startMs: number
  /** How long main or post tries to cancel a run whose id it knew before the abort. */
  readonly cancelMs: number
  /**
   * How long main tries to cancel a run whose id it learned after the abort, from the response to a start in flight. Post
   * uses it if post was aborted before it began to cancel.
   */
  readonly cancelLateIdMs: number
}

/**
 * The runner sends SIGTERM 7.5 s after SIGINT, and SIGKILL 10 s after SIGINT. Main exits within 7 s, before SIGTERM. If a
 * start was in flight, only main can receive the run's id. Then main exits within 9.5 s, before SIGKILL.
 */
const AFTER_SIGINT: Allowance = { startMs: 9_000, cancelMs: 6_700, cancelLateIdMs: 9_200 }
/** If SIGTERM comes without a SIGINT before it, the runner sends SIGKILL 2.5 s later. */
const AFTER_SIGTERM: Allowance = { startMs: 1_800, cancelMs: 2_050, cancelLateIdMs: 2_050 }
/**
 * The runner sets no deadline. If post has asked main to stop, post acts itself after `POST_WAITS_FOR_MAIN_MS`. A start gets
 * the 30 s that every request gets.
 */
const WITHOUT_RUNNER_DEADLINE: Allowance = {
  startMs: 30_000,
  cancelMs: CANCEL_LIMIT_MS,
  cancelLateIdMs: POST_WAITS_FOR_MAIN_MS - 2_500,
}

const ALLOWANCES = {
  SIGINT: AFTER_SIGINT,
  SIGTERM: AFTER_SIGTERM,
  SIGBREAK: AFTER_SIGTERM,
  SIGHUP: AFTER_SIGTERM,
  'asked by post': WITHOUT_RUNNER_DEADLINE,
  'RUNNER_TEMP emptied': WITHOUT_RUNNER_DEADLINE,
  'log closed': WITHOUT_RUNNER_DEADLINE,
} satisfies Record<AbortCause, Allowance>

/** The reason of main's AbortSignal, and of post's. It says what aborted the process, and how much time is left. */
export class StepAborted extends Error {
  override readonly name = 'StepAborted'
  override readonly cause: AbortCause
  readonly #sinceMs: number

  constructor(cause: AbortCause, nowMs: number) {
    super(`The step was aborted (${cause}).`)
    this.cause = cause
    this.#sinceMs = nowMs
  }

  /** The time of the clock's `now()` until which main waits for the response to a start in flight. */
  get startDeadlineMs(): number {
    return this.#sinceMs + ALLOWANCES[this.cause].startMs
  }

  /**
   * The time until which main or post tries to cancel a run whose id it knows since `knownSinceMs`. If `knownSinceMs` is
   * absent, the input `run-id` names the run, so its id was known before the abort.
   */
  cancelDeadlineMs(knownSinceMs = Number.NEGATIVE_INFINITY): number {
    const { cancelMs, cancelLateIdMs } = ALLOWANCES[this.cause]
    return this.#sinceMs + (knownSinceMs >= this.#sinceMs ? cancelLateIdMs : cancelMs)
  }
}

export function abortReason({ reason }: AbortSignal): StepAborted {
  if (reason instanceof StepAborted) return reason
  throw new TypeError('The step was aborted without a StepAborted as the reason', { cause: reason })
}

export function abortedEnding(signal: AbortSignal): Extract<Ending, { kind: 'aborted' }> {
  return { kind: 'aborted', cause: abortReason(signal).cause }
}
