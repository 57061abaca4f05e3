import { describe, expect, test } from 'vitest'
import type { RunHandle } from '../../src/action/failures.ts'
import { TestOutput } from '../../src/action/test-output.ts'
import { adaptivePauseMs, type WaitSettings, waitForRun } from '../../src/action/wait-for-run.ts'
import type { Run } from '../../src/model/run.ts'
import { aRun } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  LOST,
  NOT_JSON,
  noConnection,
  noResponse,
  PASSED,
  QUEUED,
  REFUSED,
  type Reply,
  RUNNING,
  response,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const MINUTE_MS = 60_000
const LONG_AGO_MS = Number.NEGATIVE_INFINITY
const DOWN = statusFailure(503)
const NOT_FOUND = statusFailure(404)
const PAUSED = aRun({ status: 'PAUSED', finishedAt: undefined, testCases: undefined })

interface Setting extends Partial<WaitSettings> {
  readonly stepBeganMs?: number
  /** By default, this step started the run long ago. */
  readonly handle?: RunHandle
  readonly replies: readonly Reply<Run>[]
  readonly signalAtMs?: number
  readonly random?: () => number
  readonly failureLimitMs?: number
  readonly clock?: FakeClock
}

async function wait(setting: Setting) {
  const {
    replies,
    signalAtMs,
    random,
    failureLimitMs,
    clock = new FakeClock(),
    stepBeganMs = 0,
    handle = { id: 'run-1', knownSinceMs: LONG_AGO_MS },
    ...options
  } = setting
  const service = new FakeService(clock, { get: replies }, failureLimitMs)
  const world = new FakeWorld(clock, service, random === undefined ? {} : { random })
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const settings = { waitLimitMs: 60 * MINUTE_MS, ...options }
  const deadlineMs = stepBeganMs + settings.waitLimitMs
  const output = new TestOutput(handle.id, true, world)
  const end = await clock.run(waitForRun({ ...settings, handle, deadlineMs, output }, world))
  const statuses = world.texts('output status=')
  const ending = end.ending.kind === 'finished' ? { ...end.ending, run: end.run } : end.ending
  return { end, ending, endedMs: clock.now(), pollsMs: service.timesMs('get'), world, statuses }
}

test.each([
  [0, 300],
  [1_000, 320],
  [60_000, 1_500],
  [735_000, 15_000],
  [3_600_000, 15_000],
])('after %i ms without an end of the run, the growing pause is %i ms, and up to a tenth more', (waitedMs, pauseMs) => {
  expect(adaptivePauseMs(waitedMs, 0)).toBe(pauseMs)
  expect(adaptivePauseMs(waitedMs, 0.5)).toBeCloseTo(1.05 * pauseMs)
  expect(adaptivePauseMs(waitedMs, 1)).toBeCloseTo(1.1 * pauseMs)
})

test('a status that this version does not know does not end the wait if finishedAt is not set. Only the line of the status shows it', async () => {
  const { ending, world, statuses } = await wait({
    replies: [response(PAUSED), response(RUNNING), response(PAUSED), response(PASSED)],
  })
  expect(ending).toEqual({ kind: 'finished', run: PASSED })
  expect(world.texts('info ')).toEqual(['Run run-1: PAUSED', 'Run run-1: RUNNING', 'Run run-1: PAUSED'])
  // An output has no text of the service.
  expect(statuses).toEqual(['UNKNOWN', 'RUNNING', 'UNKNOWN', 'PASSED'])
  expect(world.texts('warning ')).toEqual([])
})

describe('a poll that fails', () => {
  const faults: readonly Reply<Run>[] = [
    ...[REFUSED, LOST, NOT_JSON, statusFailure(429, 20_000), DOWN].map((fault) => failure(fault, 50)),
    failure(NOT_FOUND),
    noResponse,
    noConnection,
  ]
  const healthy = [QUEUED, QUEUED, RUNNING, RUNNING, RUNNING, RUNNING, PASSED].map((run) => response(run, 100))

  test('does not end the wait if it is a single fault, at every poll', async () => {
    for (const fault of faults) {
      for (let index = 0; index < healthy.length; index++) {
        const replies = [...healthy.slice(0, index), fault, ...healthy.slice(index)]
        const { ending, statuses } = await wait({ replies, handle: { id: 'run-1', knownSinceMs: 0 } })
        expect(ending).toEqual({ kind: 'finished', run: PASSED })
        expect(statuses.filter((status, at) => status !== statuses[at - 1])).toEqual(['QUEUED', 'RUNNING', 'PASSED'])
      }
    }
  })

  describe('ends the waiting after failures without a break for the limit of the service', () => {
    const failureLimitMs = 30_000

    test('that count from the first failure, and not from its poll', async () => {
      const replies = [response(RUNNING), failure(DOWN, 7_000), failure(REFUSED)]
      const { end, endedMs } = await wait({ failureLimitMs, replies })
      expect(end).toEqual({ ending: { kind: 'poll-failed', failure: REFUSED }, run: RUNNING })
      expect(endedMs).toBe(315 + 7_000 + failureLimitMs)
    })

    test('also if the service asks for an hour, and then with one last poll', async () => {
      const { ending, pollsMs } = await wait({ failureLimitMs, replies: [failure(statusFailure(503, 3_600_000))] })
      expect(ending).toMatchObject({ kind: 'poll-failed' })
      expect(pollsMs).toEqual([0, failureLimitMs])
    })

    test('but not if a response came between them', async () => {
      const replies = [failure(DOWN), response(RUNNING), failure(DOWN, failureLimitMs - 1), response(PASSED)]
      const { ending, endedMs } = await wait({ failureLimitMs, replies })
      expect(ending).toEqual({ kind: 'finished', run: PASSED })
      expect(endedMs).toBeGreaterThan(failureLimitMs)
    })
  })

  test('has a line at once, and no other line in the same minute, also if a poll succeeds in between', async () => {
    const outage = [failure(DOWN), failure(DOWN), response(RUNNING)]
    const { world } = await wait({ replies: [response(RUNNING), ...outage, ...outage, response(PASSED)] })
    expect(world.texts('info ')).toEqual([
      'Run run-1: RUNNING',
      expect.stringMatching(
        /^Run run-1: after 315 ms, the status cannot be read, because .*503.* The step tries again\.$/,
      ),
    ])
    expect(world.texts('warning ')).toEqual([])
  })
})

describe('a refusal', () => {
  test('ends the wait at once, and keeps the last known status of the run', async () => {
    const refusal = statusFailure(401)
    const { end, pollsMs } = await wait({ replies: [response(QUEUED), response(RUNNING), failure(refusal)] })
    expect(end).toEqual({ ending: { kind: 'poll-failed', failure: refusal }, run: RUNNING })
    expect(pollsMs).toHaveLength(3)
  })

  test('with 404 does not count if the poll was sent in the first 15 s after a start, however late the response comes', async () => {
    const replies = [failure(NOT_FOUND, 20_000), failure(NOT_FOUND)]
    const { ending, pollsMs } = await wait({ replies, handle: { id: 'run-1', knownSinceMs: 0 }, random: () => 0 })
    expect(ending).toEqual({ kind: 'poll-failed', failure: NOT_FOUND })
    expect(pollsMs).toEqual([0, 20_500])
  })
})

describe('the limit of the wait', () => {
  const TIMEOUT = { kind: 'wait-timeout', limitMs: 100_000, wasQueued: false }

  test('has a last poll at that moment, also if a fixed interval is longer', async () => {
    const { end, endedMs, pollsMs } = await wait({
      replies: [response(RUNNING)],
      waitLimitMs: 100_000,
      pollIntervalMs: 150_000,
    })
    expect(end).toEqual({ ending: TIMEOUT, run: RUNNING })
    expect(pollsMs).toEqual([0, 100_000])
    expect(endedMs).toBe(100_000)
  })

  test('holds also if the service asks for more time', async () => {
    const busy = statusFailure(429, 120_000)
    const { end, endedMs } = await wait({ replies: [failure(busy)], waitLimitMs: 100_000 })
    expect(end).toEqual({ ending: { ...TIMEOUT, failure: busy } })
    expect(endedMs).toBe(100_000)
  })

  test.each([
    ['at the limit', 310, 310, 4_999],
    ['before the limit', 3_310, 315, 7_994],
    ['long before the limit', 40_000, 315, 29_999],
  ])('cuts a poll that begins %s', async (_, waitLimitMs, pollMs, longestMs) => {
    const late = (afterMs: number) =>
      wait({ replies: [response(RUNNING), response(PASSED, afterMs)], waitLimitMs, random: () => 0.5 })
    const inTime = await late(longestMs)
    expect(inTime.ending).toEqual({ kind: 'finished', run: PASSED })
    expect(inTime.pollsMs).toEqual([0, pollMs])
    const tooLate = await late(longestMs + 2)
    expect(tooLate.ending).toMatchObject({ kind: 'wait-timeout', failure: { kind: 'no-response' } })
    expect(tooLate.endedMs).toBeLessThanOrEqual(waitLimitMs + 5_000)
  })

  test('leaves the first poll 5 s if the start took longer than the limit', async () => {
    const { ending } = await wait({ replies: [response(PASSED, 4_999)], stepBeganMs: -60_000, waitLimitMs: 50_000 })
    expect(ending).toEqual({ kind: 'finished', run: PASSED })
  })

  test('comes before the limit of the service, if it is the earlier of the two', async () => {
    const replies = [response(RUNNING), failure(DOWN, 600)]
    const limits = { failureLimitMs: 30_000, waitLimitMs: 30_500 }
    expect((await wait({ replies, ...limits })).ending).toMatchObject({ kind: 'wait-timeout', failure: DOWN })
    expect((await wait({ replies, ...limits, waitLimitMs: 31_500 })).ending.kind).toBe('poll-failed')
  })

  test('says that the run was QUEUED only if the last poll said it', async () => {
    const queued = await wait({ replies: [response(QUEUED)], waitLimitMs: 1_000 })
    expect(queued.ending).toMatchObject({ kind: 'wait-timeout', wasQueued: true })
    const unknown = await wait({ replies: [response(QUEUED), failure(DOWN)], waitLimitMs: 1_000 })
    expect(unknown.ending).toMatchObject({ kind: 'wait-timeout', wasQueued: false, failure: DOWN })
  })

  test('keeps the failure of the last poll, and not of an earlier poll', async () => {
    const last = await wait({ replies: [response(RUNNING), failure(DOWN)], waitLimitMs: 310 })
    expect(last.ending).toMatchObject({ kind: 'wait-timeout', failure: DOWN })
    // The verdict names the failure. A line about another try would be false.
    expect(last.world.texts('info ').join()).not.toContain('tries again')
    const earlier = await wait({ replies: [failure(DOWN), response(RUNNING)], waitLimitMs: 1_000 })
    expect(earlier.ending).not.toHaveProperty('failure.kind')
  })
})

test.each([
  ['never', [QUEUED]],
  ['at the last poll', [QUEUED, QUEUED, RUNNING]],
  ['before', [QUEUED, RUNNING]],
  ['before, with a status that this version does not know', [QUEUED, PAUSED]],
])('the limit counts from the beginning of the step, and not again if the run leaves the queue %s', async (_, runs) => {
  const replies = runs.map((run) => response(run))
  const limit = { stepBeganMs: -5_000, waitLimitMs: 100_000 }
  const { end, pollsMs } = await wait({ replies, ...limit, pollIntervalMs: 60_000 })
  const wasQueued = runs.at(-1) === QUEUED
  expect(end).toEqual({ ending: { kind: 'wait-timeout', limitMs: 100_000, wasQueued }, run: runs.at(-1) })
  expect(pollsMs).toEqual([0, 60_000, 95_000])
})

describe('when the step is cancelled', () => {
  test.each([
    ['a poll', [response(RUNNING), noResponse], RUNNING],
    ['a pause', [response(RUNNING)], RUNNING],
    ['the pause after a failure', [failure(statusFailure(429, 120_000))], undefined],
  ])('in %s, the wait ends at once', async (_, replies, run) => {
    const { end, endedMs } = await wait({ replies, pollIntervalMs: 3_000, signalAtMs: 5_000 })
    expect(end).toEqual({ ending: { kind: 'aborted', cause: 'system signal' }, run })
    expect(endedMs).toBe(5_000)
  })

  test('in the last poll, after the limit of the wait, the wait ends because of the signal', async () => {
    const replies = [response(RUNNING), noResponse]
    const limit = { waitLimitMs: 10_000, pollIntervalMs: 9_000, signalAtMs: 12_000 }
    const { end } = await wait({ replies, ...limit })
    expect(end).toEqual({ ending: { kind: 'aborted', cause: 'system signal' }, run: RUNNING })
  })

  test('before the first poll, nothing is sent', async () => {
    const { ending, pollsMs } = await wait({ replies: [response(PASSED)], signalAtMs: 0 })
    expect(ending).toEqual({ kind: 'aborted', cause: 'system signal' })
    expect(pollsMs).toEqual([])
  })
})

describe('the log', () => {
  test('has a line for each change of status that is not final and a heartbeat about each minute, and nothing else', async () => {
    const replies = [response(QUEUED), ...Array(40).fill(response(RUNNING, 100)), response(PASSED)]
    const { world } = await wait({ replies, pollIntervalMs: 5_000 })
    const logged = world.effects.filter(({ text }) => text.startsWith('info '))
    const lines = logged.map(({ atMs, text }) => `${Math.round(atMs / 1000)} s: ${text.replace('info ', '')}`)
    expect(lines).toEqual([
      '0 s: Run run-1: QUEUED',
      '5 s: Run run-1: RUNNING',
      '60 s: Run run-1: still RUNNING after 1 min.',
      '120 s: Run run-1: still RUNNING after 2 min.',
      '180 s: Run run-1: still RUNNING after 3 min.',
    ])
  })

  test('says how far the run is: at a new status, and at each heartbeat', async () => {
    const at = (progress: Run['progress']) => response({ ...RUNNING, progress })
    const none = { total: undefined, passed: undefined, failed: undefined, skipped: undefined }
    const { world } = await wait({
      replies: [
        response({ ...QUEUED, progress: none }),
        at({ ...none, total: 485, passed: 0 }),
        at({ ...none, total: 485, passed: 4, skipped: 1, failed: 1 }),
        at({ ...none, passed: 1 }),
        response(PASSED),
      ],
      pollIntervalMs: 50_000,
    })
    expect(world.texts('info ')).toEqual([
      'Run run-1: QUEUED',
      'Run run-1: RUNNING, 0 of 485 test cases done',
      'Run run-1: still RUNNING after 1 min, 0 of 485 test cases done.',
      'Run run-1: still RUNNING after 2 min, 6 of 485 test cases done, 1 failed.',
      'Run run-1: still RUNNING after 3 min, 1 test case done.',
    ])
  })

  test('has a heartbeat each minute also in a longer pause', async () => {
    const replies = [response(RUNNING), response(PASSED)]
    const { world } = await wait({ replies, pollIntervalMs: 3.5 * MINUTE_MS })
    const minutes = [1, 2, 3].map((minute) => `Run run-1: still RUNNING after ${minute} min.`)
    expect(world.texts('info ')).toEqual(['Run run-1: RUNNING', ...minutes])
  })

  test('has no line before its time if each pause ends a moment too early, as those of Node do', async () => {
    const clock = new FakeClock()
    const sleep = clock.sleep.bind(clock)
    clock.sleep = (ms, signal) => sleep(ms - 0.5, signal)
    const replies = [...Array(100).fill(response(RUNNING)), response(PASSED)]
    const { world } = await wait({ clock, replies, pollIntervalMs: 500 })
    expect(world.texts('info ')).toEqual(['Run run-1: RUNNING'])
  })
})
