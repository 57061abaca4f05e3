import { describe, expect, test } from 'vitest'
import type { ServiceError } from '../../src/outcome/failure.ts'
import { FakeClock } from './fake-clock.ts'
import { type RequestTimeline, simulateRequest } from './simulated-request.ts'

// The simulated requests must do what http.test.ts expects of the real ones. The tests of action/ notice most of it; this is
// what they do not notice.

const NEVER = Number.POSITIVE_INFINITY

async function outcomeOf(
  timeline: Partial<RequestTimeline<string>>,
  options: { readonly abortMs?: number; readonly abortUntilSentMs?: number } = {},
) {
  const clock = new FakeClock()
  let isServed = false
  const serve = () => {
    isServed = true
    return 'served'
  }
  const { abortMs = NEVER, abortUntilSentMs = NEVER } = options
  const request = simulateRequest(
    clock,
    { signal: abortAt(clock, abortMs), signalUntilSent: abortAt(clock, abortUntilSentMs) },
    { sentAfterMs: 100, servedAfterMs: 200, serve, respondsAfterMs: 300, ...timeline },
  )
  const end = await clock.run(
    request.then(
      (value) => value,
      (error) => (error as ServiceError).failure?.kind ?? error,
    ),
  )
  const endedMs = clock.now()
  await clock.run(clock.sleep(100_000))
  return { end, endedMs, isServed }
}

function abortAt(clock: FakeClock, atMs: number): AbortSignal {
  const controller = new AbortController()
  if (atMs <= 0) controller.abort()
  else clock.at(atMs, () => controller.abort())
  return controller.signal
}

test('without a connection nothing is served', async () => {
  const refusal = { kind: 'not-sent', reason: 'refused' } as const
  expect(await outcomeOf({ refusal })).toEqual({ end: 'not-sent', endedMs: 100, isServed: false })
  expect(await outcomeOf({ sentAfterMs: NEVER })).toEqual({ end: 'not-sent', endedMs: 30_000, isServed: false })
})

describe('the signal', () => {
  test('ends a request before it begins, before it is sent and after that', async () => {
    expect(await outcomeOf({}, { abortMs: 0 })).toEqual({ end: 'aborted', endedMs: 0, isServed: false })
    expect(await outcomeOf({}, { abortMs: 50 })).toEqual({ end: 'aborted', endedMs: 50, isServed: false })
    // It is on its way, and cannot be called back.
    expect(await outcomeOf({}, { abortMs: 150 })).toEqual({ end: 'aborted', endedMs: 150, isServed: true })
  })

  test('that holds until the request is sent ends it only until then', async () => {
    expect(await outcomeOf({}, { abortUntilSentMs: 0 })).toEqual({ end: 'not-sent', endedMs: 0, isServed: false })
    expect(await outcomeOf({}, { abortUntilSentMs: 50 })).toEqual({ end: 'not-sent', endedMs: 50, isServed: false })
    expect(await outcomeOf({}, { abortUntilSentMs: 150 })).toEqual({ end: 'served', endedMs: 300, isServed: true })
  })
})
