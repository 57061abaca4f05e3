import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Target } from '../../src/outcome/run.ts'
import { openService } from '../../src/service/open-service.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient } from '../support/service-requests.ts'

const PROJECT: Target = { kind: 'project', projectId: 'p' }

function open(baseUrl: string, apiKey: string, target = PROJECT) {
  const address = { baseUrl: new URL(baseUrl), apiKey, target, proxies: {}, isCheckDisabled: false }
  return openService(address, new FakeClock())
}

it.each([
  [PROJECT, '/api/v1/projects/p/runs'],
  [{ kind: 'test-suite', testSuiteId: 's' } as const, '/api/v1/testSuite/s/run'],
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
  /** As the service may write it. */
  const FORMS: readonly ((key: string) => string)[] = [
    (key) => key,
    (key) => encodeURIComponent(key),
    (key) => Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    (key) => Buffer.from(key).toString('base64'),
    (key) => Buffer.from(key).toString('base64url'),
  ]
  const escaped = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`
  /** Where the service may write it. */
  const PLACES: readonly ((response: ServerResponse, text: string, key: string) => void)[] = [
    (response, text) =>
      json({ status: text, branchName: text, results: { testCases: [{ title: `a ${text} b`, status: text }] } })(
        response,
        { method: '', target: '', headers: {}, body: '' },
      ),
    (response, text) => response.writeHead(200).end(JSON.stringify({ [text]: { [text]: [text] }, status: 'RUNNING' })),
    (response, _, key) => response.writeHead(200).end(`{"status":"${Array.from(key, escaped).join('')}"}`),
    (response, text) => response.writeHead(400).end(JSON.stringify({ error: `no ${text}` })),
    (response, text) => response.writeHead(502).end(`<html>${'x'.repeat(480)}${text}`),
    (response, text) => response.writeHead(200, { 'content-type': `text/${text}` }).end('{}'),
    (response, text) => response.writeHead(200, { 'content-encoding': text }).end('{}'),
    (response, text) => response.writeHead(302, { location: `https://${text}/x` }).end(),
    (response, text) => response.writeHead(302, { location: `https://host/${text}` }).end(),
    (response, text) => response.writeHead(429, { 'retry-after': text }).end(),
    (response, text) => response.writeHead(200).end(`"${text}`),
    (response, text) => response.writeHead(200, text).end('7'),
  ]

  it('is in nothing that the service sends back, wherever and however it writes it', async () => {
    let reply: (response: ServerResponse) => void = () => {}
    const server = await recordingServer((response) => reply(response))
    await fc.assert(
      fc.asyncProperty(key, fc.constantFrom(...FORMS), fc.constantFrom(...PLACES), async (key, form, place) => {
        reply = (response) => place(response, form(key), key)
        const service = await open(server.origin, key)
        const got = await service.get('r-1', patient()).catch((error) => error.failure)
        const texts: string[] = []
        JSON.stringify(got, (name, value) => {
          texts.push(name, String(value))
          return value
        })
        // What is not in the text is compared as a host's name, which knows no capitals.
        for (const text of texts) {
          for (const one of FORMS) expect(text.toLowerCase()).not.toContain(one(key).toLowerCase())
        }
      }),
      { numRuns: 500 },
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

  it('is not in the host of a redirect, from which a tab is dropped', async () => {
    const location = 'https://sk-live\t-0123456789.example/'
    const server = await recordingServer((response) => response.writeHead(302, { location }).end())
    const service = await open(server.origin, 'sk-live-0123456789')
    expect(await failureOf(service.get('r-1', patient()))).toMatchObject({ location: 'https://***.example' })
  })

  it('is redacted before anything is truncated', async () => {
    const key = 'sk_live_0123456789'
    const server = await recordingServer((response) => response.writeHead(500).end(`${'x'.repeat(490)}${key}`))
    const service = await open(server.origin, key)
    expect(await failureOf(service.get('r-1', patient()))).toMatchObject({ error: `${'x'.repeat(490)}***` })
  })
})
