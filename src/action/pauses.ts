import type { Failure } from '../model/failure.ts'
import type { Fragment } from '../text/safe-text.ts'
import type { RunWorld } from './world.ts'

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/**
 * The pause before the next try: 0.5 to 1 s after the first failed try, 1 to 2 s after the second, and so on, up to 7.5 to 15 s. Within
 * these limits it is random, so that many steps do not try again at the same time. If the service asks for a longer pause, the pause has
 * that length.
 */
export function pauseMs(failedTries: number, failure: Failure, random: () => number): number {
  const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1)) * (0.5 + random() / 2)
  return Math.max(backoffMs, askedPauseMs(failure))
}

export function askedPauseMs(failure: Failure): number {
  return failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
}

export const LINE_INTERVAL_MS = 60_000

/** Pauses during which the log gets a line when one is due, but at most one a minute. */
export class LoggedPauses {
  readonly #world: Pick<RunWorld, 'clock' | 'log' | 'signal'>
  #nextLineMs: number

  constructor(world: Pick<RunWorld, 'clock' | 'log' | 'signal'>, firstLineMs: number) {
    this.#world = world
    this.#nextLineMs = firstLineMs
  }

  /** Pauses until this time, or until the step is aborted. */
  async until(endMs: number, line: () => Fragment): Promise<void> {
    const { clock, signal } = this.#world
    // Also if no pause is left, because a slow read of the output may have taken all of it.
    this.#logIfDue(line)
    while (!signal.aborted && clock.now() < endMs) {
      await clock.sleep(Math.min(this.#nextLineMs, endMs) - clock.now(), signal)
      // A timer may end up to 1 ms early, so only the clock says what is due. At the end of a pause, the line waits for the next one.
      if (clock.now() < endMs) this.#logIfDue(line)
    }
  }

  #logIfDue(line: () => Fragment): void {
    const { clock, log, signal } = this.#world
    if (signal.aborted || clock.now() < this.#nextLineMs) return
    log.info(line())
    this.#nextLineMs = clock.now() + LINE_INTERVAL_MS
  }
}
