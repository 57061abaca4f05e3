import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openService } from '../../src/service/open-service.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { json, recordingServer } from '../support/recording-server.ts'
import { patient } from '../support/service-requests.ts'

describe('the service', () => {
  it.each([
    [{ kind: 'project', projectId: 'p' } as const, '/api/v1/projects/p/runs'],
    [{ kind: 'test-suite', testSuiteId: 's' } as const, '/api/v1/testSuite/s/run'],
  ])('of %j is opened at its address, with the key and the version of this action', async (target, path) => {
    const server = await recordingServer(json({ runId: 'r-1', testSuiteRunId: 'r-1' }))
    const address = { baseUrl: new URL(`${server.origin}/api/`), apiKey: 'key-9', target, proxies: {} }
    const service = await openService(address, new FakeClock())
    expect(await service.start({}, patient())).toBe('r-1')

    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(server.received[0]).toMatchObject({
      target: path,
      headers: { authorization: 'Bearer key-9', 'user-agent': `test-run-action/${version}` },
    })
  })
})
