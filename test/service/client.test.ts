import { describe, expect, it } from 'vitest'
import type { Target } from '../../src/model/run.ts'
import { openService } from '../../src/service/client.ts'
import { render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { closedPort, json, recordingServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { patient } from '../support/service-requests.ts'

const PROJECT: Target = { kind: 'project', id: 'p' }

function open(baseUrl: string, apiKey: string, target = PROJECT) {
  const address = { baseUrl: new URL(baseUrl), apiKey, target, proxies: {} }
  return openService(address, new FakeClock())
}

it.each([
  ['https://tests.example.com', 300_000],
  ['http://[::1]:8080', 30_000],
  ['https://localhost', 30_000],
])('requests to %s may fail for %i ms', async (address, limitMs) => {
  expect((await open(address, 'k')).failureLimitMs).toBe(limitMs)
})

describe('the debug log', () => {
  const KEY = 'sk-live-0123456789'

  async function linesOf(origin: string, runId = 'r-1', options = patient()): Promise<string[]> {
    const lines: string[] = []
    const address = { baseUrl: new URL(origin), apiKey: KEY, target: PROJECT, proxies: {} }
    const service = await openService(address, new FakeClock(), { debug: (line) => lines.push(render(line)) })
    await service.get(runId, options)
    return lines
  }

  it('has one line for each response, with nothing of its headers and its body, and without the key', async () => {
    const SECRET = { status: 'of a body', error: 'of a body' }
    for (const status of [200, 503]) {
      const server = await recordingServer(json(SECRET, status, { 'x-other': 'of a header' }))
      const line = `GET /v1/projects/p/runs/***%20a%0A%3A%3Aerror%3A%3Ab: status ${status}, 0 ms`
      expect(await linesOf(server.origin, `${KEY} a\n::error::b`)).toEqual([line])
    }
  })

  it('has one line for each failure, with its reason', async () => {
    const GET = 'GET /v1/projects/p/runs/r-1'
    const port = await closedPort()
    const refused = `not-sent (connect ECONNREFUSED 127.0.0.1:${port})`
    expect(await linesOf(`http://127.0.0.1:${port}`)).toEqual([`${GET}: ${refused}, 0 ms`])
    const { origin } = await recordingServer(json({}), selfSignedCertificate())
    expect(await linesOf(origin)).toEqual([expect.stringMatching(/not-sent \(self-signed certificate; .*\), 0 ms$/)])
    expect(await linesOf(origin, 'r-1', { signal: AbortSignal.abort() })).toEqual([
      `${GET}: not-sent (the step was aborted before the request was sent), 0 ms`,
    ])
  })
})
