import { describe, expect, test } from 'vitest'
import { StepAborted } from '../../src/action/abort.ts'
import { cancelRun } from '../../src/action/cancel-run.ts'
import type { Cancellation } from '../../src/model/outcome.ts'
import type { Run } from '../../src/model/run.ts'
import { aRun } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  LOST,
  NOT_JSON,
  NOT_LISTED,
  noConnection,
  noResponse,
  REFUSED,
  type Reply,
  RUNNING,
  response,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const LISTED = response<true>(true)
interface Setting {
  readonly deadlineMs?: number
  /** By default, this process has known the run for long. */
  readonly knownSinceMs?: number
  readonly cancel: readonly Reply<true>[]
  readonly get?: readonly Reply<Run>[]
  readonly signalAtMs?: number
  readonly failureLimitMs?: number
}

async function cancel({
  cancel,
  get,
  signalAtMs,
  knownSinceMs = Number.NEGATIVE_INFINITY,
  deadlineMs = 15_000,
  failureLimitMs,
}: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, { cancel, get: get ?? [] }, failureLimitMs)
  const seen: string[] = []
  const controller = new AbortController()
  if (signalAtMs !== undefined) {
    clock.at(signalAtMs, () => controller.abort(new StepAborted('system signal', clock.now())))
  }
  const end = await clock.run(
    cancelRun({ handle: { id: 'run-1', knownSinceMs }, onRun: (run) => seen.push(run.status) }, deadlineMs, {
      ...new FakeWorld(clock, service),
      random: () => 0.5,
      signal: controller.signal,
    }),
  )
  return { end, endedMs: clock.now(), cancelsMs: service.timesMs('cancel'), looksMs: service.timesMs('get'), seen }
}

test('a cancel is complete also if a signal comes with the response, and no request follows', async () => {
  const clock = new FakeClock()
  let cancels = 0
  const cancelAndSignal = async () => {
    cancels++
    world.signalAt(clock.now())
    return true
  }
  const world = new FakeWorld(clock, Object.assign(new FakeService(clock, {}), { cancel: cancelAndSignal }))
  const handle = { id: 'run-1', knownSinceMs: 0 }
  expect(await cancelRun({ handle }, 15_000, world)).toEqual({ kind: 'cancelled' })
  expect(cancels).toBe(1)
})

/** `409` is a status of the service, `RUNNING` is a status of the run. */
function replyOf<T>(word: string): Reply<T> {
  const known: Record<string, Reply<unknown>> = {
    ...{ listed: LISTED, empty: failure(NOT_LISTED), lost: failure(LOST), invalid: failure(NOT_JSON) },
    ...{ 'not-sent': failure(REFUSED), 429: failure(statusFailure(429, 10_000)) },
  }
  const other = /^\d/.test(word) ? failure(statusFailure(Number(word))) : response(runOf(word))
  return (known[word] ?? other) as Reply<T>
}

const replies = <T>(words: string) => words.split(' ').map((word) => replyOf<T>(word))
const runOf = (status: string) =>
  ['QUEUED', 'RUNNING', 'PAUSED'].includes(status) ? aRun({ status, finishedAt: undefined }) : aRun({ status })

function inWords(end: Cancellation): string {
  if (end.kind !== 'failed') return end.kind
  return `failed with ${end.failure.kind === 'status' ? end.failure.status : end.failure.kind}`
}

describe('what became of the run', () => {
  const TRIES_MS = [0, 750, 2_250, 5_250, 11_250, 14_000]

  // The responses to the cancels, the responses to reading the run, what became of the run, and how often main tried.
  test.each<[string, string, string, number]>([
    ['listed', 'unread', 'cancelled', 1],

    // After every other response, main reads the run.
    ['empty', 'PASSED', 'already-finished', 1],
    ['404', 'PASSED', 'already-finished', 1],
    ['409', 'PASSED', 'already-finished', 1],
    ['invalid', 'PASSED', 'already-finished', 1],

    // A run that is CANCELLED was cancelled by this step only if the service may have accepted an earlier cancel of this step.
    ['empty', 'CANCELLED', 'already-finished', 1],
    ['409', 'RUNNING CANCELLED', 'already-finished', 2],
    ['not-sent empty', 'CANCELLED', 'already-finished', 2],
    ['empty', 'RUNNING CANCELLED', 'cancelled', 2],
    ['empty', '500 CANCELLED', 'cancelled', 2],
    ['lost empty', 'CANCELLED', 'cancelled', 2],
    ['lost 409', 'RUNNING CANCELLED', 'cancelled', 3],
    ['lost empty', 'PASSED', 'already-finished', 2],

    // A run that is never read as finished is cancelled again.
    ['404 404 404 404 listed', 'RUNNING', 'cancelled', 5],
    ['404 404 404 404 listed', '500', 'cancelled', 5],
    ['409 409 409 409 listed', 'QUEUED', 'cancelled', 5],
    ['empty empty empty empty listed', 'QUEUED', 'cancelled', 5],

    // At the deadline, the last response to the cancel counts.
    ['400 409', 'PAUSED', 'failed with 409', 6],
    ['409', '500', 'failed with 409', 6],
    ['empty', '500', 'failed with not-listed', 6],
    ['empty', 'RUNNING', 'failed with not-listed', 6],

    // The run does not exist any more, or no later request with this key can succeed.
    ['404', '404', 'not-found', 1],
    ['401', 'unread', 'failed with 401', 1],
    ['403', 'unread', 'failed with 403', 1],
    ['409', '401', 'failed with 401', 1],
    ['409', '403', 'failed with 403', 1],
  ])('after the responses “%s”, and “%s” to reading the run: %s', async (cancels, looks, expected, tries) => {
    const { end, cancelsMs, looksMs, seen } = await cancel({ cancel: replies(cancels), get: replies(looks) })
    expect(inWords(end)).toBe(expected)
    expect(cancelsMs).toEqual(TRIES_MS.slice(0, tries))
    expect(looksMs.length > 0).toBe(looks !== 'unread')
    if (end.kind === 'already-finished') expect(seen.at(-1)).toBe(looks.split(' ').at(-1))
  })

  test.each([
    ['empty', 'failed with not-listed'],
    ['409', 'failed with 409'],
  ])('after the response “%s”, reading the run may ask for a pause: %s', async (first, expected) => {
    const { end, cancelsMs } = await cancel({ cancel: replies(first), get: replies('429') })
    expect(inWords(end)).toBe(expected)
    expect(cancelsMs).toEqual([0, 10_000, 14_000])
  })
})

test('a new run may still exist after a 404 to a request of the grace period, however late the response comes', async () => {
  const get = [failure(statusFailure(404), 16_000)]
  const { end } = await cancel({ knownSinceMs: 0, cancel: replies('404 listed'), get, deadlineMs: 60_000 })
  expect(end).toEqual({ kind: 'cancelled' })
})

describe('a cancel that fails', () => {
  const transient: readonly Reply<true>[] = [
    ...[REFUSED, LOST, NOT_JSON, statusFailure(500), statusFailure(503, 3_000)].map((fault) => failure(fault)),
    noResponse,
    noConnection,
  ]

  test('is tried again, because any single fault leaves time for another try', async () => {
    for (const fault of transient) {
      for (const deadlineMs of [15_000, 9_350, 2_050]) {
        const { end } = await cancel({ cancel: [fault, LISTED], get: [response(RUNNING)], deadlineMs })
        expect(end).toEqual({ kind: 'cancelled' })
      }
    }
  })

  test('is not tried if the time is too short for a response, because a time-out would hide the real failure', async () => {
    const down = statusFailure(503)
    const { end, cancelsMs } = await cancel({ cancel: [failure(down), noResponse], deadlineMs: 750 + 10 })
    expect(end).toEqual({ kind: 'failed', failure: down })
    expect(cancelsMs).toEqual([0])
  })
})

describe('the time for a cancel', () => {
  test.each([
    [60_000, 30_000],
    [15_000, 14_000],
  ])('of %i ms ends after %i ms if a service on this machine refuses connections', async (deadlineMs, lastMs) => {
    const { end, cancelsMs } = await cancel({ cancel: [failure(REFUSED)], deadlineMs, failureLimitMs: 30_000 })
    expect(end).toMatchObject({ kind: 'failed', failure: { kind: 'not-sent' } })
    expect(cancelsMs.at(-1)).toBe(lastMs)
  })

  test('is not shortened while a service on this machine says how the run is', async () => {
    const refused = failure(statusFailure(409))
    const { cancelsMs } = await cancel({
      cancel: [refused],
      get: [response(RUNNING)],
      deadlineMs: 60_000,
      failureLimitMs: 30_000,
    })
    expect(cancelsMs.at(-1)).toBe(59_000)
  })

  test('is half used by a request that hangs, whether the request cancels or reads the run', async () => {
    const inCancel = await cancel({ cancel: [noResponse, LISTED] })
    expect(inCancel).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 7_500 + 750] })
    const inLook = await cancel({ cancel: [failure(NOT_LISTED), LISTED], get: [noResponse] })
    expect(inLook).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 7_500 + 750] })
  })

  test('is enough for a response of almost a second if a second is left', async () => {
    const { end, endedMs } = await cancel({ cancel: [response(true, 900)], deadlineMs: 1_000 })
    expect(end).toEqual({ kind: 'cancelled' })
    expect(endedMs).toBe(900)
  })

  test('that passed before a signal does not lengthen the pauses after it', async () => {
    const down = failure(statusFailure(503))
    const { cancelsMs } = await cancel({ cancel: [down], signalAtMs: 20_000, deadlineMs: 60_000 })
    expect(cancelsMs.filter((atMs) => atMs >= 20_000)).toEqual([20_000, 20_750, 22_250, 25_250, 28_350])
  })

  test('after a signal is 9,350 ms, whatever the time was before', async () => {
    const never = await cancel({ cancel: [noResponse], signalAtMs: 3_000, deadlineMs: 60_000 })
    expect(never.end.kind).toBe('failed')
    expect(never.endedMs).toBeLessThanOrEqual(3_000 + 9_351)
    expect(never.endedMs).toBeGreaterThan(3_000 + 9_150)
    const late = await cancel({ cancel: [noResponse], signalAtMs: 13_900 })
    expect(late.endedMs).toBeGreaterThan(15_000)
  })

  test('is used at once after a signal, which ends a request or a pause that hangs', async () => {
    const inRequest = await cancel({ cancel: [noResponse, LISTED], signalAtMs: 3_000 })
    expect(inRequest).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
    const inLook = await cancel({ cancel: [failure(NOT_LISTED), LISTED], get: [noResponse], signalAtMs: 3_000 })
    expect(inLook).toMatchObject({ end: { kind: 'cancelled' }, cancelsMs: [0, 3_000] })
    const busy = statusFailure(429, 3_600_000)
    const inPause = await cancel({ cancel: [failure(busy), LISTED], signalAtMs: 3_000 })
    expect(inPause).toMatchObject({ end: { kind: 'cancelled' }, endedMs: 3_000, cancelsMs: [0, 3_000] })
  })
})
