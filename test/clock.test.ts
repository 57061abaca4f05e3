import { expect, it } from 'vitest'
import { pendingEvents, systemClock } from '../src/clock.ts'

const DAY_MS = 24 * 60 * 60_000

it('a sleep ends when the signal aborts or if its time has passed, and never rejects', async () => {
  const controller = new AbortController()
  const sleeps = [
    systemClock.sleep(DAY_MS, controller.signal),
    systemClock.sleep(DAY_MS, AbortSignal.abort()),
    systemClock.sleep(-DAY_MS),
  ]
  controller.abort(new Error('the step was aborted'))
  expect(await Promise.all(sleeps)).toEqual([undefined, undefined, undefined])
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
