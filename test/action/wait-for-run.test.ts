import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type WaitEnd, type WaitOptions, waitForRun } from '../../src/action/wait-for-run.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { aRun } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  answer,
  FakeService,
  failure,
  noConnection,
  PASSED,
  QUEUED,
  type Reply,
  RUNNING,
  silence,
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const MINUTE_MS = 60_000
const DOWN: Failure = { kind: 'status', status: 503 }

type Setting = Partial<Pick<WaitOptions, 'deadlineMs' | 'pollIntervalMs' | 'startedAtMs'>> & {
  readonly replies: readonly Reply<Run>[]
  readonly signalAtMs?: number
  readonly random?: () => number
}

interface Waiting {
  readonly end: WaitEnd
  readonly endedMs: number
  readonly pollsMs: readonly number[]
  readonly world: FakeWorld
  readonly statuses: readonly string[]
}

async function wait({ replies, signalAtMs, random, ...options }: Setting): Promise<Waiting> {
  const clock = new FakeClock()
  const service = new FakeService(clock, { get: replies })
  const world = new FakeWorld(clock, service, random === undefined ? {} : { random })
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const statuses: string[] = []
  const end = await clock.run(
    waitForRun(service, 'run-1', {
      ...world,
      deadlineMs: 60 * MINUTE_MS,
      ...options,
      onStatus: (run) => statuses.push(run.status),
    }),
  )
  return { end, endedMs: clock.now(), pollsMs: service.timesMs('get'), world, statuses }
}

test('all pauses of a wait have the jitter that was drawn at its beginning', async () => {
  const draws = [1]
  const replies = [RUNNING, RUNNING, RUNNING, PASSED].map((run) => answer(run))
  const { pollsMs } = await wait({ replies, random: () => draws.pop() ?? 0 })
  expect(pollsMs).toEqual([0, 1_100, 2_200, 3_300].map((ms) => expect.closeTo(ms)))
})

describe('a run that ends', () => {
  test.each(['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED'])('%s ends the waiting', async (status) => {
    const run = aRun({ status })
    const { end, pollsMs } = await wait({ replies: [answer(QUEUED), answer(RUNNING), answer(run)] })
    expect(end).toEqual({ kind: 'finished', run })
    expect(pollsMs).toHaveLength(3)
  })

  test('is polled at once, so that one that is over already costs no pause', async () => {
    const { endedMs, pollsMs } = await wait({ replies: [answer(PASSED, 80)] })
    expect(pollsMs).toEqual([0])
    expect(endedMs).toBe(80)
  })

  test('is told of by each status that it newly has, and by no other', async () => {
    const replies = [QUEUED, QUEUED, RUNNING, RUNNING, RUNNING, PASSED].map((run) => answer(run))
    const { statuses } = await wait({ replies })
    expect(statuses).toEqual(['QUEUED', 'RUNNING', 'PASSED'])
  })
})

describe('a status that this version does not know', () => {
  const paused = aRun({ status: 'PAUSED', finishedAt: undefined, testCases: undefined })

  test('is waited on without a finishing time, and warned of once', async () => {
    const { end, world } = await wait({ replies: [answer(paused), answer(RUNNING), answer(paused), answer(PASSED)] })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
    expect(world.told('warning ')).toEqual([expect.stringMatching(/^Run run-1 has the status PAUSED, which /)])
  })

  test('is an end with a finishing time, and no cause for a warning', async () => {
    const exploded = aRun({ status: 'EXPLODED' })
    const { end, world } = await wait({ replies: [answer(exploded)] })
    expect(end).toEqual({ kind: 'finished', run: exploded })
    expect(world.told('warning ')).toEqual([])
  })
})

describe('a poll that fails', () => {
  const transient: readonly Failure[] = [
    { kind: 'not-sent', reason: 'getaddrinfo EAI_AGAIN' },
    { kind: 'no-response', reason: 'read ECONNRESET' },
    { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') },
    ...[408, 425, 429, 500, 502, 503, 504].map((status): Failure => ({ kind: 'status', status })),
    { kind: 'status', status: 429, retryAfterMs: 20_000 },
    { kind: 'status', status: 503, retryAfterMs: 20_000 },
  ]
  const faults: readonly Reply<Run>[] = [
    ...transient.map((reason) => failure(reason, 50)),
    failure({ kind: 'untrusted-certificate', code: 'CERT_HAS_EXPIRED' }),
    failure({ kind: 'status', status: 404 }),
    silence,
    noConnection,
  ]
  const healthy = [QUEUED, QUEUED, RUNNING, RUNNING, RUNNING, RUNNING, PASSED].map((run) => answer(run, 100))

  test('never decides alone: any single fault is survived, at every poll', async () => {
    for (const fault of faults) {
      for (let index = 0; index < healthy.length; index++) {
        const replies = [...healthy.slice(0, index), fault, ...healthy.slice(index)]
        const { end, statuses } = await wait({ replies, startedAtMs: 0 })
        expect(end).toEqual({ kind: 'finished', run: PASSED })
        // After the fault the status may be told once more.
        expect(statuses.filter((status, at) => status !== statuses[at - 1])).toEqual(['QUEUED', 'RUNNING', 'PASSED'])
      }
    }
  })

  test('never decides as long as the service answers now and then', async () => {
    const someReply = fc.oneof(
      fc.constantFrom(...transient).map((reason): Reply<Run> => failure(reason, 50)),
      fc.constantFrom<Reply<Run>>(answer(RUNNING, 200), silence, noConnection),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(someReply, { maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (replies, chance) => {
          const { end } = await wait({ replies: [...replies, answer(PASSED)], random: () => chance })
          expect(end).toEqual({ kind: 'finished', run: PASSED })
        },
      ),
    )
  })

  test('is repeated after pauses that grow to half a minute at most', async () => {
    const { pollsMs } = await wait({ replies: [...Array(9).fill(failure(DOWN)), answer(PASSED)], random: () => 1 })
    const pausesMs = pollsMs.slice(1).map((atMs, index) => atMs - (pollsMs[index] ?? 0))
    expect(pausesMs.map((ms) => Math.round(ms / 1000))).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30])
  })

  test('is repeated when the service asks for it', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 47_000 }
    const { pollsMs } = await wait({ replies: [failure(busy), answer(PASSED)] })
    expect(pollsMs).toEqual([0, 47_000])
  })

  test('is given up once failures have been continuous for 5 minutes', async () => {
    const { end, endedMs } = await wait({ replies: [answer(RUNNING), failure(DOWN)] })
    expect(end).toEqual({ kind: 'gave-up', failure: DOWN, run: RUNNING })
    // Counted from the first failure, the second poll.
    expect(endedMs).toBeGreaterThanOrEqual(5 * MINUTE_MS + 1_000)
    expect(endedMs).toBeLessThan(5 * MINUTE_MS + 1_200)
  })

  test('is given up after 5 minutes also where the service never answers at all', async () => {
    const { end, endedMs } = await wait({ replies: [silence] })
    expect(end).toMatchObject({ kind: 'gave-up', failure: { kind: 'no-response' } })
    expect(endedMs).toBeGreaterThanOrEqual(5 * MINUTE_MS)
    expect(endedMs).toBeLessThanOrEqual(6 * MINUTE_MS)
  })

  test('is given up after 5 minutes also where the service asks for an hour', async () => {
    const { end, endedMs, pollsMs } = await wait({ replies: [failure({ ...DOWN, retryAfterMs: 3_600_000 })] })
    expect(end).toMatchObject({ kind: 'gave-up' })
    expect(endedMs).toBeGreaterThanOrEqual(5 * MINUTE_MS)
    expect(endedMs).toBeLessThan(5 * MINUTE_MS + 100)
    expect(pollsMs).toHaveLength(2)
  })

  test('starts the 5 minutes anew after any answer', async () => {
    const fourMinutesDown: Reply<Run> = failure({ ...DOWN, retryAfterMs: 4 * MINUTE_MS })
    const replies = [
      fourMinutesDown,
      answer(RUNNING),
      fourMinutesDown,
      answer(RUNNING),
      fourMinutesDown,
      answer(PASSED),
    ]
    const { end, endedMs } = await wait({ replies })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
    expect(endedMs).toBeGreaterThan(12 * MINUTE_MS)
  })

  test('is told of once, and its end too', async () => {
    const replies = [answer(RUNNING), failure(DOWN), failure(DOWN), failure(DOWN), answer(RUNNING), answer(PASSED)]
    const { world } = await wait({ replies })
    expect(world.told('info ')).toEqual([
      'Run run-1: RUNNING',
      expect.stringMatching(/^Run run-1: could not be read, trying again\. .*503/),
      'Run run-1: the service answers again.',
      'Run run-1: PASSED',
    ])
    expect(world.told('warning ')).toEqual([])
  })

  test('is told of once a minute at most, where every other poll fails', async () => {
    const flapping = Array.from({ length: 6_000 }, (_, index) => (index % 2 === 0 ? failure(DOWN) : answer(RUNNING)))
    const { world, endedMs } = await wait({ replies: [...flapping, answer(PASSED)], pollIntervalMs: 50 })
    const minutes = Math.ceil(endedMs / MINUTE_MS)
    expect(minutes).toBeGreaterThan(10)
    const told = world.told('info ').filter((text) => text.includes('could not be read'))
    expect(told.length).toBeGreaterThan(minutes / 3)
    expect(told.length).toBeLessThanOrEqual(minutes)
    expect(world.told('info ').length).toBeLessThan(3 * minutes + 3)
  })
})

describe('a refusal', () => {
  test.each([
    301, 302, 307, 400, 401, 403, 409, 410, 422,
  ])('%i ends the waiting at once, at any poll', async (status) => {
    const refusal: Failure = { kind: 'status', status }
    const first = await wait({ replies: [failure(refusal)], startedAtMs: 0 })
    expect(first.end).toEqual({ kind: 'gave-up', failure: refusal })
    expect(first.endedMs).toBeLessThan(10)
    const third = await wait({ replies: [answer(QUEUED), answer(RUNNING), failure(refusal)], startedAtMs: 0 })
    expect(third.end).toEqual({ kind: 'gave-up', failure: refusal, run: RUNNING })
    expect(third.pollsMs).toHaveLength(3)
  })

  const NOT_FOUND: Failure = { kind: 'status', status: 404 }

  test('404 is none in the first 15 s after a start', async () => {
    const replies = [...Array(3).fill(failure(NOT_FOUND)), answer(PASSED)]
    const { end } = await wait({ replies, startedAtMs: 0 })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
  })

  test('404 is one after 15 s', async () => {
    const { end, endedMs } = await wait({ replies: [failure(NOT_FOUND)], startedAtMs: 0 })
    expect(end).toEqual({ kind: 'gave-up', failure: NOT_FOUND })
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
    expect(endedMs).toBeLessThan(45_000)
  })

  test('404 to a poll of the first 15 s is none, however late it comes', async () => {
    const { end } = await wait({ replies: [failure(NOT_FOUND, 20_000), answer(PASSED)], startedAtMs: 0 })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
  })

  test('404 of a run that was given is one at once', async () => {
    const { end, pollsMs } = await wait({ replies: [failure(NOT_FOUND)] })
    expect(end).toEqual({ kind: 'gave-up', failure: NOT_FOUND })
    expect(pollsMs).toEqual([0])
  })

  test('a certificate that was never accepted is one at once', async () => {
    const untrustedCertificate: Failure = { kind: 'untrusted-certificate', code: 'SELF_SIGNED_CERT_IN_CHAIN' }
    const given = await wait({ replies: [failure(untrustedCertificate)] })
    expect(given.end).toEqual({ kind: 'gave-up', failure: untrustedCertificate })
    expect(given.pollsMs).toEqual([0])
    const answeredBefore = await wait({ replies: [answer(RUNNING), failure(untrustedCertificate), answer(PASSED)] })
    expect(answeredBefore.end).toEqual({ kind: 'finished', run: PASSED })
  })
})

describe('the limit of the wait', () => {
  test('gets a last poll, right then', async () => {
    const { end, endedMs, pollsMs } = await wait({ replies: [answer(RUNNING)], deadlineMs: 100_000 })
    expect(end).toEqual({ kind: 'timed-out', run: RUNNING })
    expect(pollsMs.at(-1)).toBe(100_000)
    expect(endedMs).toBe(100_000)
  })

  test('is not reached where the last poll finds the run over', async () => {
    const clockBefore = await wait({ replies: [answer(RUNNING)], deadlineMs: 100_000 })
    const replies = [...Array(clockBefore.pollsMs.length - 1).fill(answer(RUNNING)), answer(PASSED)]
    const { end, endedMs } = await wait({ replies, deadlineMs: 100_000 })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
    expect(endedMs).toBe(100_000)
  })

  test('is kept to also by a fixed interval that is longer', async () => {
    const { end, pollsMs } = await wait({ replies: [answer(RUNNING)], deadlineMs: 5_000, pollIntervalMs: 60_000 })
    expect(end).toEqual({ kind: 'timed-out', run: RUNNING })
    expect(pollsMs).toEqual([0, 5_000])
  })

  test('is kept to also where the service asks for more time', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 120_000 }
    const { end, endedMs } = await wait({ replies: [failure(busy)], deadlineMs: 60_000 })
    expect(end).toEqual({ kind: 'timed-out', failure: busy })
    expect(endedMs).toBe(60_000)
  })

  test('lets the last poll come in for 10 s at most', async () => {
    const late = await wait({ replies: [answer(RUNNING), answer(PASSED, 9_000)], deadlineMs: 900 })
    expect(late.end).toEqual({ kind: 'finished', run: PASSED })
    expect(late.pollsMs).toEqual([0, 900])
    const never = await wait({ replies: [answer(RUNNING), silence], deadlineMs: 900 })
    expect(never.end).toMatchObject({ kind: 'timed-out', run: RUNNING, failure: { kind: 'no-response' } })
    expect(never.endedMs).toBe(900 + 10_000)
  })

  test('ends a poll that hangs over it, which is not the last one then', async () => {
    const { end, pollsMs } = await wait({ replies: [answer(RUNNING), silence, answer(PASSED)], deadlineMs: 20_000 })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
    expect(pollsMs).toEqual([0, expect.closeTo(1_000, -3), 20_000])
  })

  test('leaves a poll that is sent shortly before it a second', async () => {
    const replies = [answer(RUNNING), answer(PASSED, 800)]
    const { end, pollsMs } = await wait({ replies, deadlineMs: 1_200 })
    expect(end).toEqual({ kind: 'finished', run: PASSED })
    expect(pollsMs).toHaveLength(2)
  })

  test('counts a last poll that fails as the run not being over', async () => {
    const { end } = await wait({ replies: [answer(RUNNING), failure(DOWN)], deadlineMs: 1_100 })
    expect(end).toEqual({ kind: 'timed-out', run: RUNNING, failure: DOWN })
  })
})

describe('when the step is cancelled', () => {
  test('in a poll, it ends at once', async () => {
    const { end, endedMs } = await wait({ replies: [answer(RUNNING), silence], signalAtMs: 5_000 })
    expect(end).toEqual({ kind: 'aborted', run: RUNNING })
    expect(endedMs).toBe(5_000)
  })

  test('in a pause, it ends at once', async () => {
    const { end, endedMs } = await wait({ replies: [answer(RUNNING)], pollIntervalMs: 60_000, signalAtMs: 5_000 })
    expect(end).toEqual({ kind: 'aborted', run: RUNNING })
    expect(endedMs).toBe(5_000)
  })

  test('in the pause after a failure, it ends at once', async () => {
    const busy: Failure = { kind: 'status', status: 429, retryAfterMs: 120_000 }
    const { end, endedMs } = await wait({ replies: [failure(busy)], signalAtMs: 5_000 })
    expect(end).toEqual({ kind: 'aborted' })
    expect(endedMs).toBe(5_000)
  })

  test('before the first poll, nothing is sent', async () => {
    const clock = new FakeClock()
    const service = new FakeService(clock, { get: [answer(PASSED)] })
    const world = new FakeWorld(clock, service)
    world.signalAt(0)
    await clock.run(clock.sleep(1))
    const options = { ...world, deadlineMs: 60_000, onStatus: () => {} }
    expect(await clock.run(waitForRun(service, 'run-1', options))).toEqual({ kind: 'aborted' })
    expect(service.requests).toEqual([])
  })
})

describe('the log', () => {
  test('has a line when the status changes, a sign of life a minute later and each minute on, and nothing else', async () => {
    const replies = [answer(QUEUED), ...Array(40).fill(answer(RUNNING, 100)), answer(PASSED)]
    const { world } = await wait({ replies, pollIntervalMs: 5_000 })
    const lines = world.effects.map(({ atMs, text }) => `${Math.round(atMs / 1000)} s: ${text.replace('info ', '')}`)
    expect(lines).toEqual([
      '0 s: Run run-1: QUEUED',
      '5 s: Run run-1: RUNNING',
      '65 s: Run run-1: still RUNNING after 1 min 5 s.',
      '125 s: Run run-1: still RUNNING after 2 min 5 s.',
      '185 s: Run run-1: still RUNNING after 3 min 5 s.',
      '209 s: Run run-1: PASSED',
    ])
  })

  test('has a sign of life each minute also in a pause that is longer', async () => {
    const replies = [answer(RUNNING), answer(PASSED)]
    const { world } = await wait({ replies, pollIntervalMs: 3.5 * MINUTE_MS })
    const minutes = [1, 2, 3].map((minute) => `Run run-1: still RUNNING after ${minute} min.`)
    expect(world.told('info ')).toEqual(['Run run-1: RUNNING', ...minutes, 'Run run-1: PASSED'])
  })

  test('says each minute that no answer comes, where none does', async () => {
    const { world } = await wait({ replies: [answer(RUNNING), silence] })
    const signs = world.told('info ').filter((line) => line.includes('still'))
    expect(signs.length).toBeGreaterThanOrEqual(4)
    expect(signs.length).toBeLessThanOrEqual(5)
    for (const sign of signs) expect(sign).toMatch(/^Run run-1: still not to be read after \d.*\. The service did not/)
  })

  test('explains an outage that begins soon after another, and tells its end', async () => {
    const replies = [failure(DOWN), answer(RUNNING), ...Array(12).fill(failure(DOWN)), answer(RUNNING), answer(PASSED)]
    const { world } = await wait({ replies })
    expect(world.told('info ')).toEqual([
      expect.stringMatching(/could not be read, trying again\. .*503/),
      'Run run-1: the service answers again.',
      'Run run-1: RUNNING',
      ...Array(world.told('info ').filter((line) => line.includes('still')).length).fill(
        expect.stringMatching(/^Run run-1: still not to be read after .*503/),
      ),
      'Run run-1: the service answers again.',
      'Run run-1: PASSED',
    ])
    expect(world.told('info ').length).toBeGreaterThan(5)
  })

  test('has its first sign of life a minute after a trouble was told, not sooner', async () => {
    const replies = [answer(RUNNING), ...Array(9).fill(answer(RUNNING)), failure(DOWN), silence]
    const { world } = await wait({ replies, pollIntervalMs: 5_000 })
    const atMs = (words: string) => world.effects.find(({ text }) => text.includes(words))?.atMs ?? Number.NaN
    expect(atMs('still not to be read') - atMs('trying again')).toBeGreaterThanOrEqual(MINUTE_MS)
  })
})

describe('the time between polls', () => {
  test('is the fixed interval, where there is one', async () => {
    const replies = [...Array(5).fill(answer(RUNNING)), answer(PASSED)]
    const { pollsMs } = await wait({ replies, pollIntervalMs: 2_500 })
    expect(pollsMs).toEqual([0, 2_500, 5_000, 7_500, 10_000, 12_500])
  })

  test('grows with the time waited otherwise', async () => {
    const { pollsMs } = await wait({ replies: [answer(RUNNING)], deadlineMs: 60 * MINUTE_MS })
    const pausesMs = pollsMs.slice(1).map((atMs, index) => atMs - (pollsMs[index] ?? 0))
    expect(pausesMs[0]).toBeLessThan(1_200)
    expect(pausesMs.at(-2)).toBeGreaterThan(14_000)
    expect(pollsMs.length).toBeLessThan(300)
  })
})

test('what is not a failure of the service is not swallowed', async () => {
  const fault = new Error('a fault of our own')
  const give = () => {
    throw fault
  }
  await expect(wait({ replies: [{ afterMs: 0, give }] })).rejects.toBe(fault)
})
