import { describe, expect, test } from 'vitest'
import type { AbortCause } from '../../src/action/abort.ts'
import { startRun } from '../../src/action/start-run.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  giving,
  noConnection,
  noResponse,
  type Reply,
  response,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const REFUSED: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED' }
const TOO_MANY: Failure = { kind: 'status', status: 429 }

interface Setting {
  readonly replies: readonly Reply<string>[]
  readonly deadlineMs?: number
  readonly signal?: AbortCause
  readonly signalAtMs?: number
}

async function start({ replies, deadlineMs = 3_600_000, signal, signalAtMs }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, { start: replies })
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs, signal)
  const end = await clock.run(startRun({}, deadlineMs, world))
  return { end, endedMs: clock.now(), sentMs: service.timesMs('start'), service, world }
}

test('a start that succeeds returns the id as the service sent it', async () => {
  const { end, sentMs } = await start({ replies: [response('run-1', 200)] })
  expect(end).toEqual({ kind: 'started', runId: 'run-1' })
  expect(sentMs).toEqual([0])
})

describe('a start that the service provably did not take', () => {
  test('is repeated, after pauses that grow, until it is taken', async () => {
    const replies = [failure(REFUSED), failure(REFUSED), failure(REFUSED), response('run-1')]
    const { end, sentMs } = await start({ replies })
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
    const [first = 0, second = 0, third = 0, fourth = 0] = sentMs
    expect(second - first).toBeGreaterThanOrEqual(500)
    expect(third - second).toBeGreaterThan(second - first)
    expect(fourth - third).toBeGreaterThan(third - second)
  })

  test('says so once a minute, with the reason', async () => {
    const few = await start({ replies: [failure(REFUSED), failure(REFUSED), response('run-1')] })
    expect(few.world.texts('info ')).toEqual([expect.stringMatching(/retrying in .*for up to 1 min.*ECONNREFUSED/)])

    const { world, sentMs } = await start({ replies: [failure(TOO_MANY)] })
    const linesMs = world.effects.map(({ atMs }) => atMs)
    expect(sentMs.length).toBeGreaterThan(2 * linesMs.length)
    expect(linesMs.map((atMs) => Math.round(atMs / 60_000))).toEqual([0, 1, 2, 3, 4])
    for (const line of world.texts('info ')) expect(line).toMatch(/not started yet.*429/)
  })

  test('says about once a minute that it waits for as long as the service asks', async () => {
    const asked: Failure = { ...TOO_MANY, retryAfterMs: 200_000 }
    const { world, sentMs } = await start({ replies: [failure(asked), response('run-1')] })
    expect(sentMs).toEqual([0, 200_000])
    expect(world.effects.map(({ atMs }) => atMs)).toEqual([0, 60_000, 120_000, 180_000])
    expect(world.texts('info ').slice(1)).toEqual([
      expect.stringContaining('2 min 20 s'),
      expect.stringContaining('1 min 20 s'),
      expect.stringContaining('20 s'),
    ])
  })

  test('says nothing more if the pause ends with the minute, or with the step', async () => {
    const asked: Failure = { ...TOO_MANY, retryAfterMs: 60_000 }
    const ended = await start({ replies: [failure(asked), response('run-1')] })
    expect(ended.world.effects.map(({ atMs }) => atMs)).toEqual([0])

    const longer: Failure = { ...TOO_MANY, retryAfterMs: 200_000 }
    const aborted = await start({ replies: [failure(longer)], signalAtMs: 60_000 })
    expect(aborted.end).toEqual({ kind: 'aborted', mayHaveStarted: false })
    expect(aborted.world.effects.map(({ atMs }) => atMs)).toEqual([0])
  })

  test('is sent again over a new connection', async () => {
    const { service } = await start({ replies: [failure(TOO_MANY), failure(REFUSED), response('run-1')] })
    expect(service.requests.map(({ onNewConnection }) => onNewConnection)).toEqual([false, true, true])
  })

  test('fails after 60 s', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(REFUSED)] })
    expect(end).toEqual({ kind: 'start-failed', failure: REFUSED, mayHaveStarted: false })
    expect(sentMs.length).toBeGreaterThan(3)
    expect(endedMs).toBeGreaterThan(40_000)
    expect(endedMs).toBeLessThanOrEqual(60_000)
  })

  test('with 429 fails after 5 minutes', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(TOO_MANY)] })
    expect(end).toEqual({ kind: 'start-failed', failure: TOO_MANY, mayHaveStarted: false })
    expect(sentMs.length).toBeGreaterThan(10)
    expect(endedMs).toBeGreaterThan(270_000)
    expect(endedMs).toBeLessThanOrEqual(300_000)
  })

  test('with no connection in 30 s is tried a second time', async () => {
    const { end, sentMs } = await start({ replies: [noConnection, response('run-1')] })
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
    expect(sentMs[1]).toBeGreaterThan(30_000)
  })

  test.each([REFUSED, TOO_MANY])('is never repeated past the limit of the wait: $kind $status', async (reason) => {
    const { end, endedMs } = await start({ replies: [failure(reason)], deadlineMs: 10_000 })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted: false })
    expect(endedMs).toBeLessThan(10_000)
  })

  test('waits for as long as the service asks', async () => {
    const asked: Failure = { ...TOO_MANY, retryAfterMs: 42_000 }
    const { sentMs } = await start({ replies: [failure(asked), response('run-1')] })
    expect(sentMs).toEqual([0, 42_000])
  })

  test('fails at once if the service asks for more time than there is', async () => {
    const asked: Failure = { ...TOO_MANY, retryAfterMs: 300_000 }
    const { end, endedMs } = await start({ replies: [failure(asked)] })
    expect(end).toEqual({ kind: 'start-failed', failure: asked, mayHaveStarted: false })
    expect(endedMs).toBeLessThan(10)
  })
})

describe('a start that may have been taken is never repeated', () => {
  const failures: readonly Failure[] = [
    { kind: 'no-response', reason: 'read ECONNRESET' },
    { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') },
    ...[408, 425, 500, 502, 503, 504].map((status): Failure => ({ kind: 'status', status, retryAfterMs: 1_000 })),
  ]
  test.each(failures)('after $kind $status', async (reason) => {
    const { end, sentMs } = await start({ replies: [failure(reason), response('run-2')] })
    expect(end).toMatchObject({ kind: 'start-failed', failure: reason })
    expect(sentMs).toEqual([0])
  })

  test('after 30 s without a response', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [noResponse, response('run-2')] })
    expect(end).toMatchObject({ kind: 'start-failed', failure: { kind: 'no-response' }, mayHaveStarted: true })
    expect(endedMs).toBe(30_000)
    expect(sentMs).toEqual([0])
  })

  test('after a first attempt that was not taken', async () => {
    const reset: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
    const { end, sentMs } = await start({ replies: [failure(REFUSED), failure(reset), response('run-2')] })
    expect(end).toEqual({ kind: 'start-failed', failure: reset, mayHaveStarted: true })
    expect(sentMs).toHaveLength(2)
  })
})

test.each<Failure>([
  { kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' },
  ...[301, 400, 401, 403, 404, 409].map((status): Failure => ({ kind: 'status', status })),
])('a start that is refused ends it at once: $kind $status', async (reason) => {
  const { end, sentMs } = await start({ replies: [failure(reason), response('run-2')] })
  expect(end).toMatchObject({ kind: 'start-failed', failure: reason })
  expect(sentMs).toEqual([0])
})

describe('when the step is cancelled', () => {
  test('before it began, nothing is sent', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, { start: [response('run-1')] })
    const world = new FakeWorld(clock, service)
    world.signalAt(0)
    await clock.run(clock.sleep(1))
    const end = await clock.run(startRun({}, 60_000, world))
    expect(end).toEqual({ kind: 'aborted', mayHaveStarted: false })
    expect(service.requests).toEqual([])
  })

  test('before the request went out, nothing was started', async () => {
    const { end, endedMs } = await start({ replies: [noConnection], signalAtMs: 500 })
    expect(end).toEqual({ kind: 'aborted', mayHaveStarted: false })
    expect(endedMs).toBe(500)
  })

  test('in the pause before a repetition, nothing was started', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(REFUSED), response('run-1')], signalAtMs: 100 })
    expect(end).toEqual({ kind: 'aborted', mayHaveStarted: false })
    expect(endedMs).toBe(100)
    expect(sentMs).toEqual([0])
  })

  test.each([
    ['SIGINT', 9_000],
    ['SIGTERM', 1_800],
    ['SIGHUP', 29_000],
    ['job over', 29_000],
  ] as const)('with the request out, its response is awaited after %s for up to %i ms', async (signal, graceMs) => {
    const cancelled = { signal, signalAtMs: 1_000 }
    const inTime = await start({ replies: [response('run-1', 1_000 + graceMs - 1)], ...cancelled })
    expect(inTime.end).toEqual({ kind: 'started', runId: 'run-1' })

    const tooLate = await start({ replies: [response('run-1', 1_000 + graceMs + 1)], ...cancelled })
    expect(tooLate.end).toEqual({ kind: 'aborted', mayHaveStarted: true })
    expect(tooLate.endedMs).toBe(1_000 + graceMs)
  })

  test('a second signal does not shorten that time', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, { start: [response('run-1', 9_500)] })
    const world = new FakeWorld(clock, service)
    world.signalAt(1_000, 'SIGINT')
    world.signalAt(2_000, 'SIGTERM')
    const end = await clock.run(startRun({}, 60_000, world))
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
  })

  test('and the request fails after that, nothing is repeated, and the failure tells what may have been started', async () => {
    const untaken = await start({ replies: [failure(TOO_MANY, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(untaken.end).toEqual({ kind: 'aborted', mayHaveStarted: false })
    expect(untaken.sentMs).toEqual([0])

    const reset: Failure = { kind: 'no-response', reason: 'read ECONNRESET' }
    const lost = await start({ replies: [failure(reset, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(lost.end).toEqual({ kind: 'aborted', mayHaveStarted: true })
    expect(lost.sentMs).toEqual([0])
  })
})

test('what is not a failure of the service is not swallowed', async () => {
  const fault = new Error('a fault of our own')
  const give = () => {
    throw fault
  }
  await expect(start({ replies: [giving(give)] })).rejects.toBe(fault)
})
