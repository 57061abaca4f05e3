import type { AbortCause } from '../outcome/step-outcome.ts'

/** How long main tries to cancel a run. If a signal came, the deadline of `StepCancelled` applies instead. */
export const CANCEL_LIMIT_MS = 15_000

/**
 * Time limits after a signal, counted from the signal. The rest of the runner's time is for the outputs, the summary
 * and the exit.
 */
interface Allowance {
  /** How long main waits for the response to a start in flight. */
  readonly startMs: number
  /** How long main tries to cancel a run whose id it knew before the signal. */
  readonly cancelMs: number
  /** How long main tries to cancel a run whose id came after the signal. */
  readonly cancelAfterStartMs: number
}

/**
 * SIGTERM comes 7.5 s after SIGINT, and SIGKILL 10 s after SIGINT. If the run's id came only after SIGINT, the cancel may
 * last until 9.2 s.
 */
const AFTER_SIGINT: Allowance = { startMs: 9_000, cancelMs: 6_700, cancelAfterStartMs: 9_200 }
/** If SIGTERM comes without a SIGINT before it, the runner sends SIGKILL 2.5 s later. */
const AFTER_SIGTERM: Allowance = { startMs: 1_800, cancelMs: 2_050, cancelAfterStartMs: 2_050 }
/** Post waits 40 s for main, and no SIGKILL comes sooner. A start gets the 30 s that every request gets. */
const WITHOUT_DEADLINE: Allowance = { startMs: 30_000, cancelMs: CANCEL_LIMIT_MS, cancelAfterStartMs: 38_000 }

const ALLOWANCES = {
  SIGINT: AFTER_SIGINT,
  SIGTERM: AFTER_SIGTERM,
  SIGBREAK: AFTER_SIGTERM,
  SIGHUP: WITHOUT_DEADLINE,
  'folder emptied': WITHOUT_DEADLINE,
  'log closed': WITHOUT_DEADLINE,
} satisfies Record<AbortCause, Allowance>

/** The reason of the step's AbortSignal: what cancelled the step, and how much time is left. */
export class StepCancelled extends Error {
  override readonly name = 'StepCancelled'
  readonly by: AbortCause
  readonly #sinceMs: number

  constructor(by: AbortCause, nowMs: number) {
    super(`The step was cancelled (${by}).`)
    this.by = by
    this.#sinceMs = nowMs
  }

  /** The time of the clock's `now()` until which main waits for the response to a start in flight. */
  get startDeadlineMs(): number {
    return this.#sinceMs + ALLOWANCES[this.by].startMs
  }

  /** The time until which main tries to cancel a run. `knownSinceMs` is the time at which main learned of the run. */
  cancelDeadlineMs(knownSinceMs = Number.NEGATIVE_INFINITY): number {
    const { cancelMs, cancelAfterStartMs } = ALLOWANCES[this.by]
    return this.#sinceMs + (knownSinceMs >= this.#sinceMs ? cancelAfterStartMs : cancelMs)
  }
}

export function cancelReason({ reason }: AbortSignal): StepCancelled {
  if (reason instanceof StepCancelled) return reason
  throw new TypeError('The step was aborted without a StepCancelled as the reason', { cause: reason })
}
