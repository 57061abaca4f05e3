import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'

/** Time, as the action knows it. The only way to wait. */
export interface Clock {
  /** Milliseconds on a clock that never goes back; its zero means nothing. */
  now(): number
  /** Wall-clock milliseconds since the epoch, for `Retry-After` dates. */
  epochMs(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects, so that the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A signal that aborts after `ms` and, unlike a sleep, does not keep the process up until then. */
  timeout(ms: number): AbortSignal
}

export const systemClock: Clock = {
  now: () => performance.now(),
  epochMs: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(Math.max(0, ms), undefined, signal === undefined ? undefined : { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  },
  // Whole milliseconds only are accepted.
  timeout: (ms) => AbortSignal.timeout(Math.max(0, Math.ceil(ms))),
}

/** Lets everything that already waits in the event loop run first. No time passes. */
export async function eventLoopTurn(): Promise<void> {
  await turn()
  // In the callback of a socket or a signal, the first turn may end before the other sockets are read.
  await turn()
}
