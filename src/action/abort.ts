/**
 * What ends a step: a signal of the runner (SIGHUP is the one of post, for a main that the runner does not reach), or
 * that the job is over and nobody told main.
 */
export type AbortCause = 'SIGINT' | 'SIGTERM' | 'SIGBREAK' | 'SIGHUP' | 'job over'

// How long, from the signal on, the response to a start in flight is awaited, and the cancel at the service tried: if no
// start was in flight, and if one was. The rest of the runner's time is for the outputs, the summary and the exit.

/** SIGKILL follows 10 s after SIGINT. */
const AFTER_SIGINT = { startMs: 9_000, cancelMs: 6_700, cancelAfterStartMs: 9_200 }
/** SIGKILL follows 2.5 s after a SIGTERM that comes first. */
const AFTER_SIGTERM = { startMs: 1_800, cancelMs: 2_050, cancelAfterStartMs: 2_050 }
/** Nobody kills main soon; post waits 40 s for it. A start has the time that any request has. */
const WITHOUT_DEADLINE = { startMs: 30_000, cancelMs: 15_000, cancelAfterStartMs: 38_000 }

const ALLOWANCES = {
  SIGINT: AFTER_SIGINT,
  SIGTERM: AFTER_SIGTERM,
  SIGBREAK: AFTER_SIGTERM,
  SIGHUP: WITHOUT_DEADLINE,
  'job over': WITHOUT_DEADLINE,
} satisfies Record<AbortCause, unknown>

/** Why and until when: the reason of the one AbortSignal that runs through the action. */
export class StepCancelled extends Error {
  override readonly name = 'StepCancelled'
  readonly end: AbortCause
  readonly #sinceMs: number

  constructor(end: AbortCause, nowMs: number) {
    super(`The step was cancelled (${end}).`)
    this.end = end
    this.#sinceMs = nowMs
  }

  /** Until when, on the clock's `now()`, the response to a start in flight may be awaited. */
  get startDeadlineMs(): number {
    return this.#sinceMs + ALLOWANCES[this.end].startMs
  }

  /** Until when the cancel of a run may be tried. */
  cancelDeadlineMs({ startedAtMs = Number.NEGATIVE_INFINITY }: { readonly startedAtMs?: number | undefined }): number {
    const { cancelMs, cancelAfterStartMs } = ALLOWANCES[this.end]
    return this.#sinceMs + (startedAtMs >= this.#sinceMs ? cancelAfterStartMs : cancelMs)
  }
}

export function cancelReason(signal: AbortSignal): StepCancelled {
  return signal.reason as StepCancelled
}
