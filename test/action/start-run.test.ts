import { describe, expect, test } from 'vitest'
import { StepAborted } from '../../src/action/abort.ts'
import { startRun } from '../../src/action/start-run.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  LOST,
  noConnection,
  REFUSED,
  type Reply,
  response,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const TOO_MANY = statusFailure(429)

interface Setting {
  readonly replies: readonly Reply<string>[]
  readonly deadlineMs?: number
  readonly signalAtMs?: number
}

async function start({ replies, deadlineMs = 3_600_000, signalAtMs }: Setting) {
  const clock = new FakeClock()
  // A service on this machine. Its limit of 30 s is for polls and cancels only.
  const service = new FakeService(clock, { start: replies }, 30_000)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const result = await clock.run(startRun({}, deadlineMs, world))
  return { end: endOf(result), result, endedMs: clock.now(), sentMs: service.timesMs('start'), world }
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
    expect(sentMs).toEqual([0, 750, 2_250, 5_250])
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
    [statusFailure(503, 1_000), 270_000, 300_000],
  ])('fails when its time is over after %j', async (reason, afterMs, limitMs) => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(reason)] })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted: false })
    expect(sentMs.length).toBeGreaterThan(3)
    expect(endedMs).toBeGreaterThan(afterMs)
    expect(endedMs).toBeLessThanOrEqual(limitMs)
  })

  test('is repeated for 5 minutes if the service was too busy, also if it then refuses connections', async () => {
    const busy = failure(statusFailure(429, 61_000))
    const { end } = await start({ replies: [busy, failure(REFUSED), response('run-1')] })
    expect(end).toEqual({ kind: 'started', runId: 'run-1' })
    const { sentMs, endedMs } = await start({ replies: [busy, failure(REFUSED)] })
    expect([sentMs[1], sentMs.at(-1)]).toEqual([61_000, 300_000])
    expect(endedMs).toBe(300_000)
  })

  test.each([REFUSED, TOO_MANY])('is never repeated past the limit of the wait: $kind', async (reason) => {
    const { end, sentMs } = await start({ replies: [failure(reason)], deadlineMs: 10_000 })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted: false })
    // The last try leaves a second in which the run may finish.
    expect(sentMs.at(-1)).toBe(9_000)
  })

  test('fails at once if the service asks for more time than there is', async () => {
    const asked = statusFailure(429, 300_001)
    const { end, endedMs } = await start({ replies: [failure(asked)] })
    expect(end).toEqual({ kind: 'start-failed', failure: asked, mayHaveStarted: false })
    expect(endedMs).toBeLessThan(10)
  })
})

describe('a start is never repeated', () => {
  // The tests of action/failures.ts say for every failure whether the start may be repeated.
  test.each([
    [LOST, true],
    [statusFailure(401), false],
  ])('after %j', async (reason, mayHaveStarted) => {
    const { end, sentMs } = await start({ replies: [failure(reason), response('run-2')] })
    expect(end).toEqual({ kind: 'start-failed', failure: reason, mayHaveStarted })
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
    expect(end).toEqual({ kind: 'aborted', cause: 'system signal', mayHaveStarted: false })
    expect(endedMs).toBe(500)
  })

  test('in the pause before a repetition, nothing was started', async () => {
    const { end, endedMs, sentMs } = await start({ replies: [failure(REFUSED), response('run-1')], signalAtMs: 100 })
    expect(end).toEqual({ kind: 'aborted', cause: 'system signal', mayHaveStarted: false })
    expect(endedMs).toBe(100)
    expect(sentMs).toEqual([0])
  })

  test('after the request went out, the response is awaited for as long as the signal allows', async () => {
    const inTime = await start({ replies: [response('run-1', 10_099)], signalAtMs: 1_000 })
    expect(inTime.end).toEqual({ kind: 'started', runId: 'run-1' })
    const tooLate = await start({ replies: [response('run-1', 10_101)], signalAtMs: 1_000 })
    expect(tooLate.end).toEqual({ kind: 'aborted', cause: 'system signal', mayHaveStarted: true })
    expect(tooLate.endedMs).toBe(10_100)
    const abort = new StepAborted('end of job', 1_000)
    expect(abort).toMatchObject({ startDeadlineMs: 10_100, cancelDeadlineMs: 10_350, exitDeadlineMs: 10_500 })
  })

  test('and then the request fails, nothing is repeated, and the failure says whether a run may have been started', async () => {
    const untaken = await start({ replies: [failure(TOO_MANY, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(untaken.end).toEqual({ kind: 'aborted', cause: 'system signal', mayHaveStarted: false })
    expect(untaken.sentMs).toEqual([0])

    const lost = await start({ replies: [failure(LOST, 2_000), response('run-2')], signalAtMs: 1_000 })
    expect(lost.end).toEqual({ kind: 'aborted', cause: 'system signal', mayHaveStarted: true })
    expect(lost.result).toMatchObject({ cancellation: { failure: LOST } })
    expect(lost.sentMs).toEqual([0])
  })
})
