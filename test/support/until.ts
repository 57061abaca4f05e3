import { setTimeout as delay } from 'node:timers/promises'

/** Less than the time limit of a test. So the test fails with the message of this wait. */
const LIMIT_MS = 120_000
const POLL_MS = 20

/** Waits until a condition gives a true value, and returns this value. If it takes too long, the error says what is missing. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = String(condition),
): Promise<Exclude<T, false | undefined>> {
  const deadlineMs = performance.now() + LIMIT_MS
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | undefined>
    if (performance.now() > deadlineMs) throw new Error(`Not within ${LIMIT_MS / 1000} s: ${what}`)
    await delay(POLL_MS)
  }
}
