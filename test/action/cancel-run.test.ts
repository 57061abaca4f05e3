import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StepCancelled } from '../../src/action/abort.ts'
import { type CancelOptions, cancelRun } from '../../src/action/cancel-run.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import type { Cancellation } from '../../src/outcome/verdict.ts'
import { aRun } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  answer,
  FakeService,
  failure,
  noConnection,
  PASSED,
  type Reply,
  RUNNING,
  silence,
} from '../support/fake-service.ts'

const LONG_AGO_MS = Number.NEGATIVE_INFINITY
const NEVER = new AbortController().signal
const LISTED = answer(true)
const NOT_LISTED = answer(false)
const CANCELLED = aRun({ status: 'CANCELLED' })
const LOST: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
const BROKEN: Failure = { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') }
const NOT_FOUND: Failure = { kind: 'status', status: 404 }

type Setting = Partial<Pick<CancelOptions, 'limitMs' | 'startedAtMs'>> & {
  readonly cancel: readonly Reply<boolean>[]
  readonly get?: readonly Reply<Run>[]
  readonly runId?: string
  readonly signalAtMs?: number
  readonly signalName?: 'SIGINT' | 'SIGTERM'
}

interface Cancelling {
  readonly end: Cancellation
  readonly endedMs: number
  readonly cancelsMs: readonly number[]
  readonly looksMs: readonly number[]
}

async function cancel({
  cancel,
  get,
  runId = 'run-1',
  signalAtMs,
  signalName = 'SIGINT',
  ...options
}: Setting): Promise<Cancelling> {
  const clock = new FakeClock()
  const service = new FakeService(clock, { cancel, ...(get === undefined ? {} : { get }) })
  const controller = new AbortController()
  if (signalAtMs !== undefined) {
    clock.at(signalAtMs, () => controller.abort(new StepCancelled(signalName, clock.now())))
  }
  const end = await clock.run(
    cancelRun(service, runId, {
      clock,
      random: () => 0.5,
      limitMs: 15_000,
      startedAtMs: LONG_AGO_MS,
      abort: controller.signal,
      ...options,
    }),
  )
  return { end, endedMs: clock.now(), cancelsMs: service.timesMs('cancel'), looksMs: service.timesMs('get') }
}

test('a workflow without a cancel says so', async () => {
  const clock = new FakeClock()
  const options = { clock, random: () => 0.5, limitMs: 15_000, abort: NEVER }
  expect(await cancelRun(new FakeService(clock, {}), 'run-1', options)).toEqual({ kind: 'not-supported' })
})

test('a cancel is done when the service lists the run, and nothing more is asked', async () => {
  const { end, cancelsMs, looksMs } = await cancel({ cancel: [LISTED] })
  expect(end).toEqual({ kind: 'cancelled' })
  expect(cancelsMs).toEqual([0])
  expect(looksMs).toEqual([])
})

describe('a run that is over already', () => {
  test.each<[string, Reply<boolean>]>([
    ['an empty list', NOT_LISTED],
    ...[400, 409, 410, 422].map((status): [string, Reply<boolean>] => [
      `${status}`,
      failure({ kind: 'status', status }),
    ]),
  ])('is told by %s, and one look tells its end', async (_, reply) => {
    const { end, cancelsMs, looksMs } = await cancel({ cancel: [reply], get: [answer(PASSED)] })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
    expect(cancelsMs).toHaveLength(1)
    expect(looksMs).toHaveLength(1)
  })

  test('is told by 404, and its end where it can still be read', async () => {
    const { end } = await cancel({ cancel: [failure(NOT_FOUND)], get: [answer(PASSED)] })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
  })

  test('is told by 404 where a look says so too', async () => {
    const { end, cancelsMs } = await cancel({ cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] })
    expect(end).toEqual({ kind: 'already-finished' })
    expect(cancelsMs).toEqual([0])
  })

  test.each<Reply<Run>>([
    failure({ kind: 'status', status: 500 }),
    failure(LOST),
  ])('is not told by 404 alone where it cannot be read: the fourth is believed, and told', async (look) => {
    const { end, cancelsMs } = await cancel({ cancel: [failure(NOT_FOUND)], get: [look] })
    expect(end).toEqual({ kind: 'failed', failure: NOT_FOUND })
    expect(cancelsMs).toHaveLength(4)
  })

  test('by somebody else’s cancel is not taken for ours', async () => {
    const { end } = await cancel({ cancel: [NOT_LISTED], get: [answer(CANCELLED)] })
    expect(end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })
})

describe('a run that was just started', () => {
  test('is not over because of a 404 in its first 15 s', async () => {
    const replies = [failure(NOT_FOUND), failure(NOT_FOUND), LISTED]
    const { end } = await cancel({ cancel: replies, get: [failure(NOT_FOUND)], startedAtMs: 0 })
    expect(end).toEqual({ kind: 'cancelled' })
  })

  test('is what a run counts as whose start is not known: post may come right after it', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, { cancel: [failure(NOT_FOUND), LISTED], get: [failure(NOT_FOUND)] })
    await clock.run(clock.sleep(100_000))
    const end = cancelRun(service, 'run-1', { clock, random: () => 0.5, limitMs: 60_000, abort: NEVER })
    expect(await clock.run(end)).toEqual({ kind: 'cancelled' })
  })

  test('is over when 404 is still the answer after that', async () => {
    const { end, endedMs } = await cancel({
      cancel: [failure(NOT_FOUND)],
      get: [failure(NOT_FOUND)],
      startedAtMs: 0,
      limitMs: 60_000,
    })
    expect(end).toEqual({ kind: 'already-finished' })
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
  })

  test('is not over because of a 404 that was asked for in its first 15 s and came later', async () => {
    const { end } = await cancel({
      cancel: [failure(NOT_FOUND, 16_000), LISTED],
      get: [silence],
      startedAtMs: 0,
      limitMs: 60_000,
    })
    expect(end).toEqual({ kind: 'cancelled' })
  })

  test('is left as not cancelled where the deadline comes first', async () => {
    const { end } = await cancel({
      cancel: [failure(NOT_FOUND)],
      get: [failure(NOT_FOUND)],
      startedAtMs: 0,
      limitMs: 6_700,
    })
    expect(end).toEqual({ kind: 'failed', failure: NOT_FOUND })
  })
})

describe('a run that goes on', () => {
  test('is not cancelled by an empty list: it is tried again', async () => {
    const { end, cancelsMs } = await cancel({ cancel: [NOT_LISTED, NOT_LISTED, LISTED], get: [answer(RUNNING)] })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(cancelsMs).toHaveLength(3)
  })

  test('is not cancelled where the list stays empty until the deadline', async () => {
    const { end, endedMs } = await cancel({ cancel: [NOT_LISTED], get: [answer(RUNNING)] })
    expect(end).toEqual({ kind: 'failed' })
    expect(endedMs).toBeGreaterThan(14_000)
    expect(endedMs).toBeLessThanOrEqual(15_001)
  })

  test('is not over because of a 404 where a poll shows it; the fourth 404 is believed, and told', async () => {
    const found = await cancel({ cancel: [failure(NOT_FOUND), failure(NOT_FOUND), LISTED], get: [answer(RUNNING)] })
    expect(found.end).toEqual({ kind: 'cancelled' })
    const never = await cancel({ cancel: [failure(NOT_FOUND)], get: [answer(RUNNING)] })
    expect(never.end).toEqual({ kind: 'failed', failure: NOT_FOUND })
    expect(never.cancelsMs).toHaveLength(4)
  })

  test.each<[string, Reply<Run>]>([
    ['that there is no such run', failure(NOT_FOUND)],
    ['a status of the future', answer(aRun({ status: 'PAUSED', finishedAt: undefined }))],
  ])('is believed over at the third refusal where a look says %s', async (_, look) => {
    const refusal = failure({ kind: 'status', status: 400 })
    const { end, cancelsMs } = await cancel({ cancel: [refusal], get: [look] })
    expect(end).toEqual({ kind: 'already-finished' })
    expect(cancelsMs).toHaveLength(3)
  })

  test('is not believed over because of refusals where no look can tell: one of them may yet be taken', async () => {
    const refusal = failure({ kind: 'status', status: 409 })
    const blind = [failure({ kind: 'status', status: 500 })]
    expect((await cancel({ cancel: [refusal, refusal, refusal, LISTED], get: blind })).end.kind).toBe('cancelled')
    expect((await cancel({ cancel: [refusal], get: blind })).end.kind).toBe('failed')
  })

  test('ends while it is tried, and its end is told', async () => {
    const replies = [answer(RUNNING), answer(RUNNING), answer(PASSED)]
    const { end } = await cancel({ cancel: [failure({ kind: 'status', status: 409 })], get: replies })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
  })

  test('is tried again where neither the cancel nor the look is of use', async () => {
    const { end } = await cancel({ cancel: [NOT_LISTED, LISTED], get: [failure({ kind: 'status', status: 500 })] })
    expect(end).toEqual({ kind: 'cancelled' })
  })
})

describe('a cancel whose answer is lost', () => {
  test.each<Failure>([
    LOST,
    { kind: 'status', status: 500 },
    { kind: 'status', status: 408 },
  ])('has done it where the next one finds the run cancelled: $kind $status', async (loss) => {
    const { end } = await cancel({ cancel: [failure(loss), NOT_LISTED], get: [answer(CANCELLED)] })
    expect(end).toEqual({ kind: 'cancelled', run: CANCELLED })
  })

  test('has done it where the answer is broken and a look finds the run cancelled', async () => {
    const { end, cancelsMs } = await cancel({ cancel: [failure(BROKEN)], get: [answer(CANCELLED)] })
    expect(end).toEqual({ kind: 'cancelled', run: CANCELLED })
    expect(cancelsMs).toHaveLength(1)
  })

  test('has not done it where the next one finds another end', async () => {
    const { end } = await cancel({ cancel: [failure(LOST), NOT_LISTED], get: [answer(PASSED)] })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
  })

  test('cannot have done it where it was never sent', async () => {
    const refused: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED' }
    const { end } = await cancel({ cancel: [failure(refused), NOT_LISTED], get: [answer(CANCELLED)] })
    expect(end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })
})

describe('a cancel that fails', () => {
  const transient: readonly Reply<boolean>[] = [
    failure({ kind: 'not-sent', reason: 'connect ECONNREFUSED' }),
    failure({ kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' }),
    failure(LOST),
    failure(BROKEN),
    ...[408, 425, 429, 500, 502, 503, 504].map((status) => failure({ kind: 'status', status })),
    failure({ kind: 'status', status: 503, retryAfterMs: 3_000 }),
    silence,
    noConnection,
  ]

  test('is tried again: any one fault leaves time for another try', async () => {
    for (const fault of transient) {
      for (const limitMs of [15_000, 6_700, 2_050]) {
        const { end } = await cancel({ cancel: [fault, LISTED], get: [answer(RUNNING)], limitMs })
        expect(end).toEqual({ kind: 'cancelled' })
      }
    }
  })

  test('is tried until the deadline and tells the last failure, whatever the failures are', async () => {
    const replies = fc.array(fc.constantFrom(...transient, NOT_LISTED), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(replies, fc.integer({ min: 1, max: 60_000 }), async (cancels, limitMs) => {
        const { end, endedMs, cancelsMs } = await cancel({ cancel: cancels, get: [answer(RUNNING)], limitMs })
        expect(end.kind).toBe('failed')
        expect(endedMs).toBeLessThanOrEqual(limitMs + 2)
        expect(cancelsMs.length).toBeGreaterThan(0)
      }),
    )
  })

  test('is not repeated in a hurry: the pauses grow', async () => {
    const { cancelsMs } = await cancel({ cancel: [failure({ kind: 'status', status: 500 })], limitMs: 60_000 })
    const pausesMs = cancelsMs.slice(1).map((atMs, index) => atMs - (cancelsMs[index] ?? 0))
    expect(pausesMs[0]).toBeGreaterThanOrEqual(250)
    expect(pausesMs[2]).toBeGreaterThan(pausesMs[0] ?? 0)
    expect(Math.max(...pausesMs)).toBeLessThanOrEqual(10_000)
    expect(cancelsMs.length).toBeLessThan(15)
  })

  test('gets a last try shortly before the deadline where the service asks for more time than there is', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 3_600_000 }
    const { end, cancelsMs } = await cancel({ cancel: [failure(busy), LISTED] })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(cancelsMs).toEqual([0, 14_000])
  })

  test.each([401, 403])('with %i is not tried again: the key will not get better', async (status) => {
    const { end, cancelsMs } = await cancel({ cancel: [failure({ kind: 'status', status })] })
    expect(end).toEqual({ kind: 'failed', failure: { kind: 'status', status } })
    expect(cancelsMs).toEqual([0])
  })
})

describe('time', () => {
  test('none left: nothing is sent', async () => {
    const { end, cancelsMs } = await cancel({ cancel: [LISTED], limitMs: 0 })
    expect(end).toEqual({ kind: 'failed' })
    expect(cancelsMs).toEqual([])
  })

  test.each([
    ['SIGINT', 6_700],
    ['SIGTERM', 2_050],
  ] as const)('%s leaves it %i ms, whatever it had before', async (signalName, leftMs) => {
    const never = await cancel({ cancel: [silence], signalAtMs: 3_000, signalName, limitMs: 60_000 })
    expect(never.end.kind).toBe('failed')
    expect(never.endedMs).toBeLessThanOrEqual(3_000 + leftMs + 1)
    expect(never.endedMs).toBeGreaterThan(3_000 + leftMs - 200)
    const late = await cancel({ cancel: [silence], signalAtMs: 14_900, signalName })
    expect(late.endedMs).toBeGreaterThan(15_000)
  })

  test('a signal drops what hangs, in a request as in a pause, and tries at once again', async () => {
    const inRequest = await cancel({ cancel: [silence, LISTED], signalAtMs: 3_000 })
    expect(inRequest).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
    const inLook = await cancel({ cancel: [NOT_LISTED, LISTED], get: [silence], signalAtMs: 3_000 })
    expect(inLook).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 3_000] })
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 3_600_000 }
    const inPause = await cancel({ cancel: [failure(busy), LISTED], signalAtMs: 3_000 })
    expect(inPause).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
  })

  test('a signal makes nobody forget who cancelled the run', async () => {
    const cancelled = [answer(CANCELLED)]
    const ours = await cancel({ cancel: [failure(LOST), NOT_LISTED], get: cancelled, signalAtMs: 100 })
    expect(ours.end).toEqual({ kind: 'cancelled', run: CANCELLED })
    const refused = failure({ kind: 'not-sent', reason: 'connect ECONNREFUSED' })
    const others = await cancel({ cancel: [refused, NOT_LISTED], get: cancelled, signalAtMs: 100 })
    expect(others.end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })
})

describe('an id that no path can carry', () => {
  test('is cancelled like any other, and never looked up', async () => {
    const { end, looksMs } = await cancel({ cancel: [NOT_LISTED, LISTED], runId: '..' })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(looksMs).toEqual([])
  })

  test('counts as over with 404, and otherwise not', async () => {
    expect((await cancel({ cancel: [failure(NOT_FOUND)], runId: 'a?b' })).end).toEqual({ kind: 'already-finished' })
    expect((await cancel({ cancel: [NOT_LISTED], runId: 'a?b' })).end).toEqual({ kind: 'failed' })
  })
})

test('what is not a failure of the service is not swallowed', async () => {
  const fault = new Error('a fault of our own')
  const give = () => {
    throw fault
  }
  await expect(cancel({ cancel: [{ afterMs: 0, give }] })).rejects.toBe(fault)
  await expect(cancel({ cancel: [NOT_LISTED], get: [{ afterMs: 0, give }] })).rejects.toBe(fault)
})
