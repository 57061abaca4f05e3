import type { Clock } from '../../src/clock.ts'

/**
 * A clock for tests over real sockets. A pause takes no time, and a limit is reached only if the test says so. Sockets take
 * event-loop turns that no clock can count. So a clock that jumps to the next timer would end good requests.
 */
export class InstantClock implements Clock {
  readonly pausesMs: number[] = []
  /** Called in the middle of each pause. */
  during: () => void = () => {}
  #nowMs = 0
  readonly #timeouts: { readonly dueMs: number; readonly controller: AbortController }[] = []

  now(): number {
    return this.#nowMs
  }

  epochMs(): number {
    return 1_800_000_000_000 + this.#nowMs
  }

  async sleep(ms: number): Promise<void> {
    this.pausesMs.push(ms)
    this.during()
    this.pass(ms)
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController()
    this.#timeouts.push({ dueMs: this.#nowMs + ms, controller })
    return controller.signal
  }

  /** Lets time pass, and reaches the limits in this time. */
  pass(ms: number): void {
    this.#nowMs += ms
    for (const { dueMs, controller } of this.#timeouts) {
      if (dueMs <= this.#nowMs) controller.abort()
    }
  }
}
