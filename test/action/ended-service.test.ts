import { describe, expect, test } from 'vitest'
import { cancelRun } from '../../src/action/cancel-run.ts'
import { startRun } from '../../src/action/start-run.ts'
import { waitForRun } from '../../src/action/wait-for-run.ts'
import { failureText } from '../../src/report/failure-text.ts'
import { Refusals } from '../../src/service/transport.ts'
import { render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, failure, RUNNING, response } from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'
import { senderTo } from '../support/service-requests.ts'

const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** A service that refuses all connections, and what the step does with it. */
function refusingService(
  address = 'http://127.0.0.1:8080',
  before: readonly ReturnType<typeof response>[] = [],
  hasProxy = false,
) {
  const clock = new FakeClock()
  const refusals = new Refusals(new URL(address), hasProxy, clock)
  const refuse = () => {
    const reason = { kind: 'not-sent', reason: 'connect ECONNREFUSED', ...refusals.onError(REFUSED) } as const
    return failure(reason)
  }
  let requests = 0
  const next = () => (before[requests++] as never) ?? refuse()
  const service = new FakeService(clock, { start: next, get: next, cancel: next })
  return { clock, service, world: new FakeWorld(clock, service), handle: { id: 'run-1', knownSinceMs: 0 } }
}

const WAIT = { stepBeganMs: 0, waitLimitMs: 3_600_000, onStatus: () => {} }
const ENDED = { failure: { kind: 'not-sent', refusedForMs: 30_000 } }

describe('a service on this machine that has refused all connections for 30 s', () => {
  test('ends a start', async () => {
    const { clock, service, world } = refusingService()
    const end = await clock.run(startRun({}, 3_600_000, world))
    expect(end).toMatchObject({ ending: { kind: 'start-failed', ...ENDED }, cancellation: { kind: 'no-run' } })
    expect(service.timesMs('start').at(-1)).toBe(30_000)
    expect(world.texts('info ')[0]).toContain('It stops trying after 30 s')
  })

  test('ends a wait, and main tries to cancel the run only once', async () => {
    const { clock, service, world, handle } = refusingService('https://localhost', [response(RUNNING)])
    const { ending } = await clock.run(waitForRun(handle, WAIT, world))
    expect(ending).toMatchObject({ kind: 'poll-failed', ...ENDED })
    expect(clock.now()).toBeLessThan(31_000)
    expect(world.texts('info ').join()).toContain('The step tries again.')
    expect(await clock.run(cancelRun(handle, { deadlineMs: clock.now() + 15_000 }, world))).toMatchObject({
      kind: 'failed',
      ...ENDED,
    })
    expect(service.timesMs('cancel')).toHaveLength(1)
  })

  test('ends the cancel of post, which has 60 s', async () => {
    const { clock, service, world, handle } = refusingService()
    const end = await clock.run(cancelRun(handle, { deadlineMs: clock.now() + 60_000 }, world))
    expect(end).toMatchObject({ kind: 'failed', ...ENDED })
    expect(service.timesMs('cancel').at(-1)).toBe(30_000)
  })

  test('is named as what happened', () => {
    const { failure } = { failure: { kind: 'not-sent', reason: 'connect ECONNREFUSED', refusedForMs: 30_000 } } as const
    expect(render(failureText(failure, 'poll'))).toBe(
      'The service on this machine has ended (connect ECONNREFUSED, for 30 s). Look at the log of the step that started the service, and at the log of its post step. A frequent cause is that no memory was left. If no step started the service, check the input base-url.',
    )
    expect(render(failureText({ ...failure, refusedForMs: 29_000 }, 'poll'))).toContain('could not be reached')
  })
})

test.each([
  ['another machine', 'https://tests.example.com', false, 300_000],
  ['this machine, through a proxy', 'https://localhost', true, 300_000],
  ['this machine', 'http://[::1]:8080', false, 30_000],
])('a wait for a service on %s gives up after its limit', async (_, address, hasProxy, limitMs) => {
  const { clock, world, handle } = refusingService(address, [], hasProxy)
  await clock.run(waitForRun(handle, WAIT, world))
  expect(clock.now()).toBe(limitMs)
})

test('a host with several addresses has refused if one of them has', () => {
  const refusals = new Refusals(new URL('http://localhost:1'), false, new FakeClock())
  const noAddress = Object.assign(new Error('::1 has no address'), { code: 'EADDRNOTAVAIL' })
  expect(refusals.onError(new AggregateError([noAddress, REFUSED]))).toEqual({ refusedForMs: 0 })
  expect(refusals.onError(new AggregateError([noAddress]))).toEqual({})
})

test('a response, or another failure to connect, begins the time anew', () => {
  const clock = new FakeClock()
  const refusals = new Refusals(new URL('http://localhost:1'), false, clock)
  const refuse = async (ms: number) => {
    await clock.run(clock.sleep(ms))
    return refusals.onError(REFUSED).refusedForMs
  }
  return (async () => {
    expect([await refuse(10), await refuse(20_000)]).toEqual([0, 20_000])
    refusals.onConnected()
    expect([await refuse(20_000), await refuse(5_000)]).toEqual([0, 5_000])
    expect(refusals.onError(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))).toEqual({})
    expect(await refuse(20_000)).toBe(0)
  })()
})

test('a real connection that is refused says for how long', async () => {
  const clock = new FakeClock()
  const send = await senderTo('http://127.0.0.1:1', { clock })
  const failureOf = () =>
    send('GET', ['v1'], undefined, { signal: new AbortController().signal }, (json) => json).catch(
      (error) => error.failure,
    )
  expect(await failureOf()).toMatchObject({ kind: 'not-sent', refusedForMs: 0 })
  await clock.run(clock.sleep(12_000))
  expect(await failureOf()).toMatchObject({ kind: 'not-sent', refusedForMs: 12_000 })
})
