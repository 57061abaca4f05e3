import { describe, expect, test } from 'vitest'
import { cancelSavedRun } from '../src/cancel-unfinished-run.ts'
import type { Failure } from '../src/outcome/failure.ts'
import { aRun } from './support/builders.ts'
import { FakeClock } from './support/fake-clock.ts'
import { FakeService, failure, noResponse, PASSED, RUNNING, response, type Script } from './support/fake-service.ts'
import { FakeWorld } from './support/fake-world.ts'

const NOT_FOUND: Failure = { kind: 'status', status: 404 }

interface Setting {
  readonly script?: Script
  /** The state that main saved. */
  readonly savedRun?: string | undefined
  readonly openError?: Error
  readonly signalAtMs?: number
}

async function post({ script = {}, openError, signalAtMs, ...state }: Setting) {
  const savedRun = 'savedRun' in state ? state.savedRun : '"run-1"'
  const clock = new FakeClock()
  const service = new FakeService(clock, script)
  const world = new FakeWorld(clock, service)
  if (signalAtMs !== undefined) world.signalAt(signalAtMs)
  const open = async () => {
    if (openError !== undefined) throw openError
    return service
  }
  await clock.run(cancelSavedRun(savedRun, open, world))
  return {
    infos: world.texts('info '),
    warnings: world.texts('warning '),
    requests: service.requests,
    endedMs: clock.now(),
  }
}

describe('the run that main left unfinished', () => {
  test('is cancelled, and the log says so', async () => {
    const { infos, warnings, requests } = await post({ script: { cancel: [response(true)] } })
    expect(requests).toMatchObject([{ method: 'cancel', runId: 'run-1' }])
    expect(infos).toEqual([expect.stringContaining('run-1'), expect.stringMatching(/run-1 was cancelled/)])
    expect(warnings).toEqual([])
  })

  test('may have finished meanwhile, which is no reason for a warning', async () => {
    const { infos, warnings } = await post({ script: { cancel: [response(false)], get: [response(PASSED)] } })
    expect(infos.at(-1)).toMatch(/run-1.*finished.*PASSED/)
    expect(warnings).toEqual([])
  })

  test('may be gone, which is no reason for a warning once it cannot be too new to be known', async () => {
    const script = { cancel: [failure(NOT_FOUND)], get: [failure(NOT_FOUND)] }
    const { warnings, endedMs } = await post({ script })
    expect(warnings).toEqual([])
    expect(endedMs).toBeGreaterThanOrEqual(15_000)
    expect(endedMs).toBeLessThan(60_000)
  })

  test('is tried for 60 s, and then named in one warning', async () => {
    const paused = aRun({ status: 'PAUSED', finishedAt: undefined })
    const scripts: Script[] = [
      { cancel: [noResponse] },
      { cancel: [failure({ kind: 'status', status: 400 })], get: [response(paused)] },
      { cancel: [response(false)], get: [response(RUNNING)] },
    ]
    for (const script of scripts) {
      const { warnings, endedMs } = await post({ script })
      expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running/)])
      expect(endedMs).toBeGreaterThan(50_000)
      expect(endedMs).toBeLessThanOrEqual(60_001)
    }
  })

  test('is named at once if the key is refused', async () => {
    const { warnings, requests } = await post({ script: { cancel: [failure({ kind: 'status', status: 401 })] } })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running.*401/)])
    expect(requests).toHaveLength(1)
  })

  test('is named if its workflow has no cancel', async () => {
    const { warnings, requests } = await post({})
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running.*no cancel/)])
    expect(requests).toEqual([])
  })

  test('is named if the service cannot be reached at all, with the reason', async () => {
    const { warnings } = await post({ openError: new Error('The input base-url is required.') })
    expect(warnings).toEqual([expect.stringMatching(/run-1 may still be running: The input base-url is required\. /)])
  })

  test('is tried once more when the runner ends post, too', async () => {
    const { warnings, endedMs } = await post({
      script: { cancel: [noResponse, response(true)] },
      signalAtMs: 2_000,
    })
    expect(warnings).toEqual([])
    expect(endedMs).toBe(2_000)
  })
})

test.each([
  undefined,
  '',
  '""',
  'run-1',
  '{"runId":"run-1"}',
  '7',
])('a start whose run’s id is not known is one warning, and nothing is sent: %j', async (savedRun) => {
  const { warnings, requests } = await post({ savedRun })
  expect(warnings).toEqual([expect.stringContaining('may have been started')])
  expect(requests).toEqual([])
})
