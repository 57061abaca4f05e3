import type { Failure } from '../model/failure.ts'
import type { Fragment } from '../text/safe-text.ts'
import type { RunWorld } from './world.ts'

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/** It doubles each time. Its upper half is random, so that many steps do not try again at the same time. */
export function pauseMs(failedTries: number, failure: Failure, random: () => number): number {
  const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1)) * (0.5 + random() / 2)
  return Math.max(backoffMs, askedPauseMs(failure))
}

export function askedPauseMs(failure: Failure): number {
  return failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
}

const LINE_INTERVAL_MS = 60_000

/** Pauses that write about one line a minute to the log. A failure has a line at once, unless one had a line in the last minute. */
export class LoggedPauses {
  readonly #world: Pick<RunWorld, 'clock' | 'log' | 'signal'>
  #lastLineMs: number
  #lastFailureLineMs = Number.NEGATIVE_INFINITY

  constructor(world: Pick<RunWorld, 'clock' | 'log' | 'signal'>) {
    this.#world = world
    this.#lastLineMs = world.clock.now()
  }

  async afterResponse(untilMs: number, line: () => Fragment): Promise<void> {
    while (await this.#sleepUntilLineIsDue(this.#lastLineMs + LINE_INTERVAL_MS, untilMs)) this.#write(line)
  }

  async afterFailure(untilMs: number, line: () => Fragment): Promise<void> {
    while (await this.#sleepUntilLineIsDue(this.#lastFailureLineMs + LINE_INTERVAL_MS, untilMs)) {
      this.#write(line)
      this.#lastFailureLineMs = this.#lastLineMs
    }
  }

  /** Returns false if the pause ends before the line is due, or if the step is aborted. */
  async #sleepUntilLineIsDue(lineMs: number, untilMs: number): Promise<boolean> {
    const { clock, signal } = this.#world
    const endMs = Math.min(lineMs, untilMs)
    if (clock.now() < endMs) await clock.sleep(endMs - clock.now(), signal)
    return !signal.aborted && clock.now() < untilMs
  }

  #write(line: () => Fragment): void {
    this.#world.log.info(line())
    this.#lastLineMs = this.#world.clock.now()
  }
}
