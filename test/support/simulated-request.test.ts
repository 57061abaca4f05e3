import { expect, test } from 'vitest'
import { isFailure } from '../../src/outcome/failure.ts'
import { FakeClock } from './fake-clock.ts'
import { type RequestTimeline, simulateRequest } from './simulated-request.ts'

// The simulated requests must do what transport.test.ts expects of the real requests. The tests of action/ notice most
// differences. These tests check the rest.

const NEVER = Number.POSITIVE_INFINITY

async function outcomeOf(
  timeline: Partial<RequestTimeline<string>>,
  options: { readonly abortMs?: number; readonly graceMs?: number } = {},
) {
  const clock = new FakeClock()
  let isServed = false
  const serve = () => {
    isServed = true
    return 'served'
  }
  const { abortMs = NEVER, graceMs = 0 } = options
  const request = simulateRequest(
    clock,
    { signal: abortAt(clock, abortMs), graceIfSentMs: () => graceMs },
    { sentAfterMs: 100, servedAfterMs: 200, serve, respondsAfterMs: 300, ...timeline },
  )
  const response = await clock.run(request)
  const end = isFailure(response) ? response.kind : response
  const endedMs = clock.now()
  await clock.run(clock.sleep(100_000))
  return [end, endedMs, isServed]
}

function abortAt(clock: FakeClock, atMs: number): AbortSignal {
  const controller = new AbortController()
  if (atMs <= 0) controller.abort()
  else clock.at(atMs, () => controller.abort())
  return controller.signal
}

test('without a connection, the service takes no request', async () => {
  const refusal = { kind: 'not-sent', reason: 'refused' } as const
  expect(await outcomeOf({ refusal })).toEqual(['not-sent', 100, false])
  expect(await outcomeOf({ sentAfterMs: NEVER })).toEqual(['not-sent', 30_000, false])
})

test.each([
  [{ abortMs: 0, graceMs: 150 }, ['not-sent', 0, false]],
  [{ abortMs: 50, graceMs: 150 }, ['not-sent', 50, false]],
  // The request is on its way, and nothing can stop it.
  [{ abortMs: 150 }, ['aborted', 150, true]],
  [{ abortMs: 150, graceMs: 149 }, ['aborted', 299, true]],
  [{ abortMs: 150, graceMs: 151 }, ['served', 300, true]],
])('a signal ends a request that was not sent, or whose grace is over: %j', async (signals, expected) => {
  expect(await outcomeOf({}, signals)).toEqual(expected)
})
