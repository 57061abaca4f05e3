import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openService } from '../../src/service/open-service.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient } from '../support/service-requests.ts'

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

  it('says nothing with the key in it, also where what it says is cut later', async () => {
    const key = 'sk_live_0123456789'
    const answers: Answer[] = [
      json({ status: `${'x'.repeat(985)}${key}`, results: { testCases: [aCase(key)] } }),
      json({ error: `no ${Buffer.from(`Bearer ${key}`).toString('base64')}` }, 400),
      (response) => response.writeHead(200, { 'content-type': `text/${'p'.repeat(280)}${key}` }).end('{}'),
    ]
    const server = await recordingServer((response, request) => answers.shift()?.(response, request))
    const target = { kind: 'project', projectId: 'p' } as const
    const service = await openService(
      { baseUrl: new URL(server.origin), apiKey: key, target, proxies: {} },
      new FakeClock(),
    )
    const run = await service.get('r-1', patient())
    expect(run.rawStatus).toBe(`${'x'.repeat(985)}***`)
    expect(run.testCases).toMatchObject([{ title: 'uses ***' }])
    expect(await failureOf(service.start({}, patient()))).toMatchObject({
      error: expect.stringMatching(/^no [^ ]*\*\*\*[^ ]{0,4}$/),
    })
    expect(await failureOf(service.get('r-1', patient()))).toMatchObject({ got: `text/${'p'.repeat(280)}***: {}` })
  })
})

function aCase(key: string) {
  return { title: `uses ${key}`, status: 'PASSED', durationMs: 1 }
}
