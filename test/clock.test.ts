import { describe, expect, it } from 'vitest'
import { pendingEvents, systemClock } from '../src/clock.ts'

const DAY_MS = 24 * 60 * 60_000

describe('a sleep', () => {
  it('ends when the signal aborts, and does not reject', async () => {
    const controller = new AbortController()
    const sleep = systemClock.sleep(DAY_MS, controller.signal)
    controller.abort(new Error('the step was aborted'))
    await expect(sleep).resolves.toBeUndefined()
  })

  it('ends at once if the signal has aborted', async () => {
    await expect(systemClock.sleep(DAY_MS, AbortSignal.abort())).resolves.toBeUndefined()
  })

  it('of a time that has passed ends at once', async () => {
    await expect(systemClock.sleep(-DAY_MS)).resolves.toBeUndefined()
  })
})

it.each([-1, 0, 0.5])('a time-out of %f ms aborts', async (ms) => {
  const signal = systemClock.timeout(ms)
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
})

it('a turn of the event loop handles all that waits in it', async () => {
  const handled: string[] = []
  setImmediate(() => {
    handled.push('one')
    setImmediate(() => handled.push('one that the first brought about'))
  })
  await pendingEvents()
  expect(handled).toEqual(['one', 'one that the first brought about'])
})
