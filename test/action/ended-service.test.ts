import { expect, test } from 'vitest'
import { cancelRun } from '../../src/action/cancel-run.ts'
import { startedRun } from '../../src/action/run-handle.ts'
import { startRun } from '../../src/action/start-run.ts'
import { waitForRun } from '../../src/action/wait-for-run.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import { openService } from '../../src/service/client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, failure, type Reply, RUNNING, response } from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'
import { closedPort } from '../support/recording-server.ts'
import { failureOf, patient } from '../support/service-requests.ts'

// A service on this machine fails for at most 30 s. If it refuses all connections, it has ended.

const REFUSED: Failure = { kind: 'not-sent', reason: 'connect ECONNREFUSED', isRefusedHere: true }
const ENDED: Failure = { kind: 'service-ended', reason: 'connect ECONNREFUSED', refusedForMs: 30_000 }
const WAIT = { stepBeganMs: 0, waitLimitMs: 3_600_000, showOutput: false, onStatus: () => {} }

/** A service on this machine that fails like this. */
function failingService(reason: Failure = REFUSED, before: readonly Reply<never>[] = []) {
  const clock = new FakeClock()
  const replies = [...before, failure(reason)]
  const service = new FakeService(clock, { start: replies, get: replies, cancel: replies }, 30_000)
  return { clock, service, world: new FakeWorld(clock, service) }
}

test('a start that is refused for 30 s fails, because the service has ended', async () => {
  const { clock, service, world } = failingService()
  const end = await clock.run(startRun({}, 3_600_000, world))
  expect(end).toMatchObject({ ending: { kind: 'start-failed', failure: ENDED }, cancellation: { kind: 'no-run' } })
  expect(service.timesMs('start').at(-1)).toBe(30_000)
  expect(world.texts('info ')[0]).toContain('It stops trying after 30 s')
})

test('a wait whose polls are refused for 30 s fails, because the service has ended', async () => {
  const { clock, world } = failingService(REFUSED, [response(RUNNING as never)])
  const { ending } = await clock.run(waitForRun(startedRun('run-1', 0), WAIT, world))
  expect(ending).toEqual({ kind: 'poll-failed', failure: ENDED })
  expect(clock.now()).toBe(315 + 30_000)
  expect(world.texts('info ').join()).toMatch(/could not be reached \(connect ECONNREFUSED\)/)
})

test('a wait ends after 30 s also if the service fails in another way', async () => {
  const { clock, world } = failingService({ kind: 'status', status: 503 })
  const { ending } = await clock.run(waitForRun(startedRun('run-1', 0), WAIT, world))
  expect(ending).toEqual({ kind: 'poll-failed', failure: { kind: 'status', status: 503 } })
  expect(clock.now()).toBe(30_000)
})

test('a wait goes on if the service responds again in these 30 s', async () => {
  const refusals = Array<Reply<never>>(4).fill(failure(REFUSED, 5_000))
  const before = [...refusals, response(RUNNING as never), ...refusals, response(RUNNING as never)]
  const { clock, world } = failingService(REFUSED, before)
  await clock.run(waitForRun(startedRun('run-1', 0), WAIT, world))
  expect(clock.now()).toBeGreaterThan(70_000)
})

test('the cancel of post, which has 60 s, ends after 30 s', async () => {
  const { clock, service, world } = failingService()
  const end = await clock.run(cancelRun(startedRun('run-1', 0), { deadlineMs: 60_000 }, world))
  expect(end).toEqual({ kind: 'failed', failure: ENDED })
  expect(service.timesMs('cancel').at(-1)).toBe(30_000)
})

test('the cancel of main, which has 15 s, does not say that the service has ended', async () => {
  const { clock, world } = failingService()
  const end = await clock.run(cancelRun(startedRun('run-1', 0), { deadlineMs: 15_000 }, world))
  expect(end).toEqual({ kind: 'failed', failure: REFUSED })
})

test.each([
  ['https://tests.example.com', 300_000],
  ['http://[::1]:8080', 30_000],
  ['https://localhost', 30_000],
])('requests to %s may fail for %i ms', async (address, limitMs) => {
  const target = { kind: 'project', id: 'p' } as const
  const service = await openService({ baseUrl: new URL(address), apiKey: 'k', target, proxies: {} }, new FakeClock())
  expect(service.failureLimitMs).toBe(limitMs)
})

// On Windows, a connection to 0.0.0.0 fails in another way.
test.runIf(process.platform !== 'win32')(
  'another host that refuses a connection says nothing about an end',
  async () => {
    const baseUrl = new URL(`http://0.0.0.0:${await closedPort()}`)
    const target = { kind: 'project', id: 'p' } as const
    const service = await openService({ baseUrl, apiKey: 'k', target, proxies: {} }, new FakeClock())
    const refused = await failureOf(service.get('r', patient()))
    expect(refused).toMatchObject({ kind: 'not-sent', reason: expect.stringContaining('ECONNREFUSED') })
    expect(refused).not.toHaveProperty('isRefusedHere')
  },
)

test.each(['127.0.0.1', 'localhost'])('%s has refused a connection if one of its addresses has', async (host) => {
  const baseUrl = new URL(`http://${host}:${await closedPort()}`)
  const target = { kind: 'project', id: 'p' } as const
  const service = await openService({ baseUrl, apiKey: 'k', target, proxies: {} }, new FakeClock())
  expect(await failureOf(service.get('r', patient()))).toMatchObject({ kind: 'not-sent', isRefusedHere: true })
})
