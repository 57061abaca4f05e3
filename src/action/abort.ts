import type { AbortCause } from '../outcome/step-outcome.ts'

// How long after the abort main awaits the response to a start in flight, and tries to cancel the run at the service:
// if no start was in flight, and if one was. The rest of the runner's time is for the outputs, the summary and the exit.

/** SIGKILL follows 10 s after SIGINT. */
const AFTER_SIGINT = { startMs: 9_000, cancelMs: 6_700, cancelAfterStartMs: 9_200 }
/** SIGKILL follows 2.5 s after a SIGTERM that comes first. */
const AFTER_SIGTERM = { startMs: 1_800, cancelMs: 2_050, cancelAfterStartMs: 2_050 }
/** Nobody kills main soon, and post waits 40 s for it. A start has the time that any request has. */
const WITHOUT_DEADLINE = { startMs: 30_000, cancelMs: 15_000, cancelAfterStartMs: 38_000 }

const ALLOWANCES = {
  SIGINT: AFTER_SIGINT,
  SIGTERM: AFTER_SIGTERM,
  SIGBREAK: AFTER_SIGTERM,
  SIGHUP: WITHOUT_DEADLINE,
  'folder emptied': WITHOUT_DEADLINE,
  'log closed': WITHOUT_DEADLINE,
} satisfies Record<AbortCause, unknown>

/** Why and until when: the reason of the one AbortSignal that runs through the action. */
export class StepCancelled extends Error {
  override readonly name = 'StepCancelled'
  readonly by: AbortCause
  readonly #sinceMs: number

  constructor(by: AbortCause, nowMs: number) {
    super(`The step was cancelled (${by}).`)
    this.by = by
    this.#sinceMs = nowMs
  }

  /** The job has ended: the next job may own the runner's folders already. */
  get isJobOver(): boolean {
    return this.by === 'folder emptied' || this.by === 'log closed'
  }

  /** Until when, on the clock's `now()`, the response to a start in flight may be awaited. */
  get startDeadlineMs(): number {
    return this.#sinceMs + ALLOWANCES[this.by].startMs
  }

  /** Until when the cancel of a run may be tried. @param knownSinceMs since when this process knows of the run */
  cancelDeadlineMs(knownSinceMs = Number.NEGATIVE_INFINITY): number {
    const { cancelMs, cancelAfterStartMs } = ALLOWANCES[this.by]
    return this.#sinceMs + (knownSinceMs >= this.#sinceMs ? cancelAfterStartMs : cancelMs)
  }
}

/** Why the signal has aborted. */
export function cancelReason({ reason }: AbortSignal): StepCancelled {
  if (reason instanceof StepCancelled) return reason
  throw new TypeError('The step was aborted without a StepCancelled as the reason', { cause: reason })
}
