import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Target } from '../../src/outcome/run.ts'
import { openService } from '../../src/service/open-service.ts'
import { randomRuns } from '../setup/seed.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient } from '../support/service-requests.ts'

const PROJECT: Target = { kind: 'project', id: 'p' }

function open(baseUrl: string, apiKey: string, target = PROJECT) {
  const address = { baseUrl: new URL(baseUrl), apiKey, target, proxies: {} }
  return openService(address, new FakeClock())
}

it.each([
  [PROJECT, '/api/v1/projects/p/runs'],
  [{ kind: 'test-suite', id: 's' } as const, '/api/v1/testSuite/s/run'],
])('the service of %j is opened at its address, with the key and the version of this action', async (target, path) => {
  const server = await recordingServer(json({ runId: 'r-1', testSuiteRunId: 'r-1' }))
  const service = await open(`${server.origin}/api/`, 'key-9', target)
  expect(await service.start({}, patient())).toBe('r-1')

  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(server.received[0]).toMatchObject({
    target: path,
    headers: { authorization: 'Bearer key-9', 'user-agent': `test-run-action/${version}` },
  })
})

describe('the key', () => {
  const key = fc.stringMatching(/^[!-~]{8,40}$/)
  /** The places in which the service may write the key. */
  const PLACES: readonly ((response: ServerResponse, key: string) => void)[] = [
    (response, key) =>
      response.end(
        JSON.stringify({
          status: key,
          branchName: key,
          results: { testCases: [{ title: `a ${key} b`, status: key }] },
        }),
      ),
    (response, key) => response.end(JSON.stringify({ [key]: { [key]: [key] }, status: 'RUNNING' })),
    (response, key) => response.writeHead(400).end(JSON.stringify({ error: `no ${key}` })),
    (response, key) => response.writeHead(502).end(`<html>${'x'.repeat(480)}${key}`),
    (response, key) => response.writeHead(200, { 'content-type': `text/${key}` }).end('{}'),
    (response, key) => response.writeHead(200, { 'content-encoding': key }).end('{}'),
    (response, key) => response.writeHead(302, { location: `https://${key}/x` }).end(),
    (response, key) => response.writeHead(302, { location: `https://host/${key}` }).end(),
    (response, key) => response.writeHead(429, { 'retry-after': key }).end(),
    (response, key) => response.writeHead(200, key).end(`"${key}`),
  ]

  it('is in no value that the client returns, wherever the service writes it', async () => {
    let respond: (response: ServerResponse) => void = () => {}
    const server = await recordingServer((response) => respond(response))
    await fc.assert(
      fc.asyncProperty(key, fc.constantFrom(...PLACES), async (key, place) => {
        respond = (response) => place(response, key)
        const service = await open(server.origin, key)
        const got = await service.get('r-1', patient()).catch((error) => error.failure)
        const texts: string[] = []
        JSON.stringify(got, (name, value) => {
          texts.push(name, String(value))
          return value
        })
        // The key may come back as the name of a host, which is in lower case. So the comparison ignores case.
        for (const text of texts) expect(text.toLowerCase()).not.toContain(key.toLowerCase())
      }),
      randomRuns(100),
    )
  })

  it('is not in the message of a connection that fails', async () => {
    const key = 'sk-live-0123456789'
    const service = await open(`https://${key}.invalid`, key)
    expect(await failureOf(service.get('r-1', patient()))).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('***.invalid'),
    })
  })

  it('is redacted before anything is truncated', async () => {
    const key = 'sk_live_0123456789'
    const server = await recordingServer((response) => response.writeHead(500).end(`${'x'.repeat(9_990)}${key}`))
    const service = await open(server.origin, key)
    expect(await failureOf(service.get('r-1', patient()))).toMatchObject({ body: `${'x'.repeat(9_990)}***` })
  })
})
