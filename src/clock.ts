import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'

/** The time. All code that waits uses it, so that tests do not have to wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. Only differences have a meaning. */
  now(): number
  /** Wall-clock milliseconds since the epoch, for `Retry-After` dates. */
  epochMs(): number
  /** Resolves after `ms`, or when the signal aborts. It never rejects, so the caller must check the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  // Not `performance`, because Node would load a group of modules for it.
  now: () => process.uptime() * 1_000,
  epochMs: () => Date.now(),
  // An abort is the only reason for which `delay` rejects.
  sleep: (ms, signal) => delay(Math.max(0, ms), undefined, { signal }).catch(() => {}),
}

/**
 * Waits until Node has handled the system signals and the small responses that have arrived. Node looks for both once in each turn of the event
 * loop, and this turn may already have done so. After two turns, Node has handled them. A response of 1 MB takes some more turns.
 */
export async function pendingEvents(): Promise<void> {
  await turn()
  await turn()
}
