import { setImmediate as realTurn } from 'node:timers/promises'
import type { Clock } from '../../src/clock.ts'

/** If a real timer is set for longer, it fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** More than any test needs. So a loop without end fails at once. */
const MOST_TIMERS = 100_000

interface Timer {
  readonly atMs: number
  readonly ring: () => void
}

/**
 * Time that passes only when a test wants it. `run` lets the time jump from one timer to the next until a promise settles.
 * So an hour of polling takes a moment.
 */
export class FakeClock implements Clock {
  #nowMs = 0
  /** Sorted by time, and then by the order in which they were set. */
  readonly #timers: Timer[] = []

  now(): number {
    return this.#nowMs
  }

  epochMs(): number {
    return Date.UTC(2026, 0, 1) + this.#nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        forget()
        resolve()
      }
      // A real timer of 0 ms does not fire in the same event-loop turn either.
      const forget = this.at(this.#nowMs + Math.max(1, asTimer(ms)), wake)
      signal?.addEventListener('abort', wake)
    })
  }

  /** Calls back at a time of this clock, or never at Infinity. The returned function cancels the call. */
  at(atMs: number, callback: () => void): () => void {
    if (atMs === Number.POSITIVE_INFINITY) return () => {}
    const timer: Timer = { atMs: Math.max(this.#nowMs, atMs), ring: callback }
    const before = this.#timers.findLastIndex((other) => other.atMs <= timer.atMs)
    this.#timers.splice(before + 1, 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  /** Lets time pass until the promise settles. Fails if no timer is left that could settle it. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    const done = () => {
      settled = true
    }
    promise.then(done, done)
    let idleTurns = 0
    for (let rung = 0; rung <= MOST_TIMERS; ) {
      await realTurn()
      if (settled) return promise
      const next = this.#timers.shift()
      if (next === undefined) {
        // The work that a timer begins may take some event-loop turns.
        if (++idleTurns > 10) throw new Error('nothing is left to wait for, and the promise has not settled')
        continue
      }
      idleTurns = 0
      this.#nowMs = next.atMs
      next.ring()
      rung++
    }
    throw new Error(`${MOST_TIMERS} timers have rung, and the promise has not settled`)
  }
}

function asTimer(ms: number): number {
  if (Number.isNaN(ms) || ms > LONGEST_TIMER_MS) throw new Error(`a timer cannot be set for ${ms} ms`)
  return ms
}
