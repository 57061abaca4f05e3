import { describe, expect, test } from 'vitest'
import { startRun } from '../../src/action/start-run.ts'
import type { Failure } from '../../src/model/failure.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, failure, noConnection, noResponse, type Reply, response } from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const REFUSED = { failure: true, kind: 'not-sent', reason: 'connect ECONNREFUSED' } as const satisfies Failure
const TOO_MANY: Failure = { failure: true, kind: 'status', status: 429 }
const UNAVAILABLE: Failure = { failure: true, kind: 'status', status: 503, retryAfterMs: 1_000 }

interface Setting {
  readonly replies: readonly Reply<string>[]
  readonly deadlineMs?: number
  readonly signalAtMs?: number
  readonly failureLimitMs?: number
}

async function start({ replies, deadlineMs = 3_600_000, signalAtMs, failureLimitMs }: Setting) {
  const clock = new FakeClock()
  const service = new FakeService(clock, { start: replies }, failureLimitMs)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const end = endOf(await clock.run(startRun({}, deadlineMs, world)))
  return { end, endedMs: clock.now(), sentMs: service.timesMs('start'), world }
}

function endOf(result: Awaited<ReturnType<typeof startRun>>) {
  if (typeof result === 'string') return { kind: 'started', runId: result }
  return { ...result.ending, mayHaveStarted: result.cancellation.kind === 'id-unknown' }
}

describe('a start that the service provably did not take', () => {
  test('is repeated after growing pauses until the service takes it', async () => {
    const replies = [failure(REFUSED), failure(REFUSED), failure(REFUSED), response('run-1')]
    const { end, sentMs } = await start({ replies })
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
    const [first = 0, second = 0, third = 0, fourth = 0] = sentMs
    expect(second - first).toBeGreaterThanOrEqual(500)
    expect(third - second).toBeGreaterThan(second - first)
    expect(fourth - third).toBeGreaterThan(third - second)
  })

  test('is reported once a minute, with the reason', async () => {
    const few = await start({ replies: [failure(REFUSED), failure(REFUSED), response('run-1')] })
    expect(few.world.texts('info ')).toEqual([
      expect.stringMatching(/ECONNREFUSED.* The step tries again in .*, for 1 min at most\.$/),
    ])

    const { world, sentMs } = await start({ replies: [failure(TOO_MANY)] })
    const linesMs = world.effects.map(({ atMs }) => atMs)
    expect(sentMs.length).toBeGreaterThan(2 * linesMs.length)
    expect(linesMs.map((atMs) => Math.round(atMs / 60_000))).toEqual([0, 1, 2, 3, 4])
    for (const line of world.texts('info ')) expect(line).toMatch(/not started yet.*429/)
  })

  test.each([
    [REFUSED, 40_000, 60_000],
    [TOO_MANY, 270_000, 300_000],
    [UNAVAILABLE, 270_000, 300_000],
  ])('fails when its time is over after %j', async (reason, afterMs, limitMs) => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(reason)] })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted: false })
    expect(sentMs.length).toBeGreaterThan(3)
    expect(endedMs).toBeGreaterThan(afterMs)
    expect(endedMs).toBeLessThanOrEqual(limitMs)
  })

  test('fails after 30 s if the service is on this machine, because the service has ended', async () => {
    const replies = [failure({ ...REFUSED, problem: 'refused here' })]
    const { end, sentMs, world } = await start({ replies, failureLimitMs: 30_000 })
    expect(end).toMatchObject({
      kind: 'start-failed',
      failure: { kind: 'not-sent' },
      mayHaveStarted: false,
    })
    expect(sentMs.at(-1)).toBe(30_000)
    expect(world.texts('info ')[0]).toContain('for 30 s at most')
  })

  test('with no connection in 30 s is tried a second time', async () => {
    const { end, sentMs } = await start({ replies: [noConnection, response('run-1')] })
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
    expect(sentMs[1]).toBeGreaterThan(30_000)
  })

  test.each([REFUSED, TOO_MANY])('is never repeated past the limit of the wait: $kind $status', async (reason) => {
    const { end, sentMs } = await start({ replies: [failure(reason)], deadlineMs: 10_000 })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted: false })
    // The last try leaves a second in which the run may finish.
    expect(sentMs.at(-1)).toBe(9_000)
  })

  test('fails at once if the service asks for more time than there is', async () => {
    const asked: Failure = { ...TOO_MANY, retryAfterMs: 300_001 }
    const { end, endedMs } = await start({ replies: [failure(asked)] })
    expect(end).toEqual({ kind: 'start-failed', failure: asked, mayHaveStarted: false })
    expect(endedMs).toBeLessThan(10)
  })
})

describe('a start is never repeated', () => {
  const LOST: Failure = { failure: true, kind: 'no-response', reason: 'read ECONNRESET' }

  // The tests of action/failures.ts say for every failure whether the start may be repeated.
  test.each<[Failure, boolean]>([
    [LOST, true],
    [{ failure: true, kind: 'invalid-response', expected: 'JSON', got: { sent: untrusted('<html>') } }, true],
    [{ failure: true, kind: 'status', status: 503 }, true],
    [{ failure: true, kind: 'status', status: 401 }, false],
    [{ failure: true, kind: 'status', status: 302 }, false],
  ])('after %j', async (reason, mayHaveStarted) => {
    const { end, sentMs } = await start({ replies: [failure(reason), response('run-2')] })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted })
    expect(sentMs).toEqual([0])
  })

  test('after 30 s without a response', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [noResponse, response('run-2')] })
    expect(end).toMatchObject({
      kind: 'start-failed',
      failure: { kind: 'no-response' },
      mayHaveStarted: true,
    })
    expect(endedMs).toBe(30_000)
    expect(sentMs).toEqual([0])
  })

  test('after a second attempt that may have been taken', async () => {
    const { end, sentMs } = await start({ replies: [failure(REFUSED), failure(LOST), response('run-2')] })
    expect(end).toEqual({ kind: 'start-failed', failure: LOST, mayHaveStarted: true })
    expect(sentMs).toHaveLength(2)
  })
})

describe('when the step is cancelled', () => {
  test('before the request went out, nothing was started', async () => {
    const { end, endedMs } = await start({ replies: [noConnection], signalAtMs: 500 })
    expect(end).toEqual({ kind: 'aborted', cause: 'signal', mayHaveStarted: false })
    expect(endedMs).toBe(500)
  })

  test('in the pause before a repetition, nothing was started', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(REFUSED), response('run-1')], signalAtMs: 100 })
    expect(end).toEqual({ kind: 'aborted', cause: 'signal', mayHaveStarted: false })
    expect(endedMs).toBe(100)
    expect(sentMs).toEqual([0])
  })

  test('after the request went out, the response is awaited for as long as the signal allows', async () => {
    const inTime = await start({ replies: [response('run-1', 10_099)], signalAtMs: 1_000 })
    expect(inTime.end).toEqual({ kind: 'started', runId: 'run-1' })
    const tooLate = await start({ replies: [response('run-1', 10_101)], signalAtMs: 1_000 })
    expect(tooLate.end).toEqual({ kind: 'aborted', cause: 'signal', mayHaveStarted: true })
    expect(tooLate.endedMs).toBe(10_100)
  })

  test('and then the request fails, nothing is repeated, and the failure says whether a run may have been started', async () => {
    const untaken = await start({ replies: [failure(TOO_MANY, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(untaken.end).toEqual({ kind: 'aborted', cause: 'signal', mayHaveStarted: false })
    expect(untaken.sentMs).toEqual([0])

    const reset: Failure = { failure: true, kind: 'no-response', reason: 'read ECONNRESET' }
    const lost = await start({ replies: [failure(reset, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(lost.end).toEqual({ kind: 'aborted', cause: 'signal', mayHaveStarted: true })
    expect(lost.sentMs).toEqual([0])
  })
})
