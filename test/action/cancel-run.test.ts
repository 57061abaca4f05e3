import { describe, expect, test } from 'vitest'
import { StepAborted } from '../../src/action/abort.ts'
import { type CancelOptions, cancelRun } from '../../src/action/cancel-run.ts'
import { givenRun, type RunHandle, startedRun } from '../../src/action/run-handle.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aRun } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  giving,
  noConnection,
  noResponse,
  PASSED,
  QUEUED,
  type Reply,
  RUNNING,
  response,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const LISTED = response(true)
const NOT_LISTED = response(false)
const CANCELLED = aRun({ status: 'CANCELLED' })
const LOST: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
const INVALID: Failure = { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') }
const NOT_FOUND: Failure = { kind: 'status', status: 404 }
const CONFLICT: Failure = { kind: 'status', status: 409 }

interface Setting extends Partial<Pick<CancelOptions, 'deadlineMs'>> {
  /** By default, the run that `run-id` names. */
  readonly handle?: RunHandle
  readonly cancel: readonly Reply<boolean>[]
  readonly get?: readonly Reply<Run>[]
  readonly signalAtMs?: number
  readonly signalName?: 'SIGINT' | 'SIGTERM'
}

async function cancel({
  cancel,
  get,
  signalAtMs,
  signalName = 'SIGINT',
  handle = givenRun('run-1'),
  deadlineMs = 15_000,
}: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, { cancel, get: get ?? [] })
  const seen: string[] = []
  const controller = new AbortController()
  if (signalAtMs !== undefined) {
    clock.at(signalAtMs, () => controller.abort(new StepAborted(signalName, clock.now())))
  }
  const end = await clock.run(
    cancelRun(
      handle,
      { deadlineMs, onRun: (run) => seen.push(run.status) },
      { ...new FakeWorld(clock, service), random: () => 0.5, signal: controller.signal },
    ),
  )
  return { end, endedMs: clock.now(), cancelsMs: service.timesMs('cancel'), looksMs: service.timesMs('get'), seen }
}

test('a workflow without a cancel says so', async () => {
  const clock = new FakeClock()
  const world = new FakeWorld(clock, new FakeService(clock, {}))
  expect(await cancelRun(givenRun('run-1'), { deadlineMs: 15_000 }, world)).toEqual({ kind: 'not-supported' })
})

test('a cancel is complete when the service lists the run, and no request follows', async () => {
  expect(await cancel({ cancel: [LISTED] })).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0], looksMs: [] })
})

test('a cancel is complete also if a signal comes with the response, and no request follows', async () => {
  const clock = new FakeClock()
  let cancels = 0
  const cancelAndSignal = async () => {
    cancels++
    world.signalAt(clock.now())
    return true
  }
  const world = new FakeWorld(clock, Object.assign(new FakeService(clock, {}), { cancel: cancelAndSignal }))
  expect(await cancelRun(givenRun('run-1'), { deadlineMs: 15_000 }, world)).toEqual({ kind: 'cancelled' })
  expect(cancels).toBe(1)
})

describe('a run that has already finished', () => {
  test.each<[string, Reply<boolean>]>([
    ['an empty list', NOT_LISTED],
    ['a 404', failure(NOT_FOUND)],
    ['a 409', failure(CONFLICT)],
    ['an invalid response', failure(INVALID)],
  ])('is found by reading the run after %s', async (_, reply) => {
    const { end, cancelsMs, looksMs, seen } = await cancel({ cancel: [reply], get: [response(PASSED)] })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
    expect(cancelsMs).toHaveLength(1)
    expect(looksMs).toHaveLength(1)
    expect(seen).toEqual(['PASSED'])
  })

  test('as cancelled by somebody else does not count as our cancel', async () => {
    const { end } = await cancel({ cancel: [NOT_LISTED], get: [response(CANCELLED)] })
    expect(end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })
})

describe('a run that the service refuses to cancel', () => {
  test('does not count as cancelled by this step if somebody else cancels it later', async () => {
    const { end } = await cancel({ cancel: [failure(CONFLICT)], get: [response(RUNNING), response(CANCELLED)] })
    expect(end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })

  test('is reported with the refusal, and not with the failure of reading the run', async () => {
    const { end } = await cancel({ cancel: [failure(CONFLICT)], get: [failure({ kind: 'status', status: 500 })] })
    expect(end).toEqual({ kind: 'failed', failure: CONFLICT })
  })
})

describe('a run that the service does not know', () => {
  const unknown = { cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] }

  test('does not exist any more', async () => {
    const { end, cancelsMs } = await cancel(unknown)
    expect(end).toEqual({ kind: 'not-found' })
    expect(cancelsMs).toEqual([0])
  })

  test('does not exist any more if the response after the grace period is 404', async () => {
    const { end, endedMs } = await cancel({ ...unknown, handle: startedRun('run-1', 0), deadlineMs: 60_000 })
    expect(end).toEqual({ kind: 'not-found' })
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
  })

  test('may still exist if the 404 is the response to a request of the grace period, however late it comes', async () => {
    const { end } = await cancel({
      cancel: [failure(NOT_FOUND), LISTED],
      get: [failure(NOT_FOUND, 16_000)],
      handle: startedRun('run-1', 0),
      deadlineMs: 60_000,
    })
    expect(end).toEqual({ kind: 'cancelled' })
  })

  test('counts as not cancelled if the deadline comes first', async () => {
    const { end } = await cancel({ ...unknown, handle: startedRun('run-1', 0), deadlineMs: 6_700 })
    expect(end).toEqual({ kind: 'failed', failure: NOT_FOUND })
  })

  test('may still exist if only the cancel gets a 404', async () => {
    const cancels = [...Array(5).fill(failure(NOT_FOUND)), LISTED]
    for (const look of [response(RUNNING), failure({ kind: 'status', status: 500 })]) {
      const { end } = await cancel({ cancel: cancels, get: [look], deadlineMs: 60_000 })
      expect(end).toEqual({ kind: 'cancelled' })
    }
  })
})

describe('a run that is never read as finished', () => {
  test('is cancelled again until the service accepts the cancel', async () => {
    for (const refusal of [NOT_LISTED, failure(CONFLICT)]) {
      const cancels = [...Array(5).fill(refusal), LISTED]
      const { end } = await cancel({ cancel: cancels, get: [response(QUEUED)], deadlineMs: 60_000 })
      expect(end).toEqual({ kind: 'cancelled' })
    }
  })

  test('is named with the last failure if the service refuses the cancel until the deadline', async () => {
    const cancels = [failure({ kind: 'status', status: 400 }), failure(CONFLICT)]
    const paused = aRun({ status: 'PAUSED', finishedAt: undefined })
    const { end, endedMs } = await cancel({ cancel: cancels, get: [response(paused)] })
    expect(end).toEqual({ kind: 'failed', failure: CONFLICT })
    expect(endedMs).toBeGreaterThanOrEqual(14_000)
    expect(endedMs).toBeLessThanOrEqual(15_001)
  })
})

describe('reading the run after a cancel', () => {
  test('may ask for a pause, and its failure is the reason if the cancel has none', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 10_000 }
    const { end, cancelsMs } = await cancel({ cancel: [NOT_LISTED], get: [failure(busy)] })
    expect(cancelsMs).toEqual([0, 10_000, 14_000])
    expect(end).toEqual({ kind: 'failed', failure: busy })
  })

  test('may ask for a pause after a refused cancel too, and then the refusal is the reason', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 10_000 }
    const { end, cancelsMs } = await cancel({ cancel: [failure(CONFLICT)], get: [failure(busy)] })
    expect(cancelsMs).toEqual([0, 10_000, 14_000])
    expect(end).toEqual({ kind: 'failed', failure: CONFLICT })
  })

  test('shows that a cancel without a list has worked, if the run is CANCELLED later', async () => {
    const { end } = await cancel({ cancel: [NOT_LISTED], get: [response(RUNNING), response(CANCELLED)] })
    expect(end).toEqual({ kind: 'cancelled' })
  })
})

describe('a cancel whose response is lost', () => {
  test('has cancelled the run if the next cancel finds the run cancelled', async () => {
    const { end } = await cancel({ cancel: [failure(LOST), NOT_LISTED], get: [response(CANCELLED)] })
    expect(end).toEqual({ kind: 'cancelled' })
  })

  test('has cancelled the run also if the next cancel is refused while the run is still RUNNING', async () => {
    const { end } = await cancel({
      cancel: [failure(LOST), failure(CONFLICT)],
      get: [response(RUNNING), response(CANCELLED)],
    })
    expect(end).toEqual({ kind: 'cancelled' })
  })

  test('has not cancelled the run if the run finished otherwise', async () => {
    const { end } = await cancel({ cancel: [failure(LOST), NOT_LISTED], get: [response(PASSED)] })
    expect(end).toEqual({ kind: 'already-finished', run: PASSED })
  })

  test('cannot have cancelled the run if it was never sent', async () => {
    const refused: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED' }
    const { end } = await cancel({ cancel: [failure(refused), NOT_LISTED], get: [response(CANCELLED)] })
    expect(end).toEqual({ kind: 'already-finished', run: CANCELLED })
  })
})

describe('a cancel that fails', () => {
  const transient: readonly Reply<boolean>[] = [
    failure({ kind: 'not-sent', reason: 'connect ECONNREFUSED' }),
    failure({ kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' }),
    failure(LOST),
    failure(INVALID),
    failure({ kind: 'status', status: 500 }),
    failure({ kind: 'status', status: 503, retryAfterMs: 3_000 }),
    noResponse,
    noConnection,
  ]

  test('is tried again, because any single fault leaves time for another try', async () => {
    for (const fault of transient) {
      for (const deadlineMs of [15_000, 6_700, 2_050]) {
        const { end } = await cancel({ cancel: [fault, LISTED], get: [response(RUNNING)], deadlineMs })
        expect(end).toEqual({ kind: 'cancelled' })
      }
    }
  })

  test('gets a last try shortly before the deadline if the service asks for more time than there is', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 3_600_000 }
    const { end, cancelsMs } = await cancel({ cancel: [failure(busy), LISTED] })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(cancelsMs).toEqual([0, 14_000])
  })

  test('is not tried if the time is too short for a response, because a time-out would hide the real failure', async () => {
    const down: Failure = { kind: 'status', status: 503 }
    const { end, cancelsMs } = await cancel({ cancel: [failure(down), noResponse], deadlineMs: 750 + 10 })
    expect(end).toEqual({ kind: 'failed', failure: down })
    expect(cancelsMs).toEqual([0])
  })

  test.each([401, 403])('with %i is not tried again, and main does not read the run', async (status) => {
    const { end, cancelsMs, looksMs } = await cancel({ cancel: [failure({ kind: 'status', status })] })
    expect(end).toEqual({ kind: 'failed', failure: { kind: 'status', status } })
    expect(cancelsMs).toEqual([0])
    expect(looksMs).toEqual([])
  })

  test.each([401, 403])('is not tried again if reading the run gets %i', async (status) => {
    const refused: Failure = { kind: 'status', status }
    const { end, cancelsMs, looksMs } = await cancel({ cancel: [failure(CONFLICT)], get: [failure(refused)] })
    expect(end).toEqual({ kind: 'failed', failure: refused })
    expect([cancelsMs, looksMs]).toEqual([[0], [0]])
  })
})

describe('the time for a cancel', () => {
  test('is half used by a request that hangs, whether the request cancels or reads the run', async () => {
    const inCancel = await cancel({ cancel: [noResponse, LISTED] })
    expect(inCancel).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 7_500 + 750] })
    const inLook = await cancel({ cancel: [NOT_LISTED, LISTED], get: [noResponse] })
    expect(inLook).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 7_500 + 750] })
  })

  test('is enough for a response of almost a second if a second is left', async () => {
    const { end, endedMs } = await cancel({ cancel: [response(true, 900)], deadlineMs: 1_000 })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(endedMs).toBe(900)
  })

  test('that passed before a signal does not lengthen the pauses after it', async () => {
    const down = failure({ kind: 'status', status: 503 })
    const { cancelsMs } = await cancel({ cancel: [down], signalAtMs: 20_000, deadlineMs: 60_000 })
    expect(cancelsMs.filter((atMs) => atMs >= 20_000)).toEqual([20_000, 20_750, 22_250, 25_250, 25_700])
  })

  test.each([
    ['SIGINT', 6_700],
    ['SIGTERM', 2_050],
  ] as const)('after %s is %i ms, whatever the time was before', async (signalName, leftMs) => {
    const never = await cancel({ cancel: [noResponse], signalAtMs: 3_000, signalName, deadlineMs: 60_000 })
    expect(never.end.kind).toBe('failed')
    expect(never.endedMs).toBeLessThanOrEqual(3_000 + leftMs + 1)
    expect(never.endedMs).toBeGreaterThan(3_000 + leftMs - 200)
    const late = await cancel({ cancel: [noResponse], signalAtMs: 13_900, signalName })
    expect(late.endedMs).toBeGreaterThan(15_000)
  })

  test('is used at once after a signal, which ends a request or a pause that hangs', async () => {
    const inRequest = await cancel({ cancel: [noResponse, LISTED], signalAtMs: 3_000 })
    expect(inRequest).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
    const inLook = await cancel({ cancel: [NOT_LISTED, LISTED], get: [noResponse], signalAtMs: 3_000 })
    expect(inLook).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 3_000] })
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 3_600_000 }
    const inPause = await cancel({ cancel: [failure(busy), LISTED], signalAtMs: 3_000 })
    expect(inPause).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
  })
})

test('an error that is no failure of the service is thrown', async () => {
  const fault = new Error('a fault of our own')
  const give = () => {
    throw fault
  }
  await expect(cancel({ cancel: [giving(give)] })).rejects.toBe(fault)
  await expect(cancel({ cancel: [NOT_LISTED], get: [giving(give)] })).rejects.toBe(fault)
})
