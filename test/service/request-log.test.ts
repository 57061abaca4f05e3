import { expect, it } from 'vitest'
import { render } from '../../src/text/safe-text.ts'
import { closedPort, json, type Respond, recordingServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

const KEY = 'sk-live-0123456789'
const SECRET = { authorization: 'of a header', error: 'of a body' }

async function linesOf(origin: string, requests: number, options = patient()): Promise<string[]> {
  const lines: string[] = []
  const send = await sendJsonTo(origin, { apiKey: KEY, debug: (line) => lines.push(render(line)) })
  for (let request = 0; request < requests; request++)
    await send('GET', ['v1', `${KEY} a\n::error::b`], undefined, options).catch(() => {})
  return lines.map((line) => line.replace(/ECONN.*\)/, 'ECONNREFUSED)'))
}

const REQUEST = 'GET /v1/***%20a%0A%3A%3Aerror%3A%3Ab'
const ID = { 'x-request-id': `req-${KEY}\t1`, 'x-other': 'of a header' }

it('counts the tries of a request until it succeeds, and names status, time and x-request-id', async () => {
  const statuses = [503, 500, 200, 200]
  const server = await recordingServer((...to) => json(SECRET, statuses.shift(), ID)(...to))
  const lines = await linesOf(server.origin, 4)
  expect(lines).toEqual([
    `${REQUEST}: try 1`,
    `${REQUEST}: status 503 after 0 ms, x-request-id req-*** 1`,
    `${REQUEST}: try 2`,
    `${REQUEST}: status 500 after 0 ms, x-request-id req-*** 1`,
    `${REQUEST}: try 3`,
    `${REQUEST}: status 200 after 0 ms, x-request-id req-*** 1`,
    `${REQUEST}: try 1`,
    `${REQUEST}: status 200 after 0 ms, x-request-id req-*** 1`,
  ])
})

it.each<[string, Respond]>([
  ['invalid response (expected JSON)', (response) => response.writeHead(200, ID).end('{"secret"')],
  [
    'invalid response (expected a complete response)',
    (response) => response.writeHead(200, { ...ID, 'content-length': 9 }).write('{}', () => response.socket?.end()),
  ],
])('names what was invalid, and nothing of the body: %s', async (result, respond) => {
  const server = await recordingServer(respond)
  const lines = await linesOf(server.origin, 1)
  expect(lines[1]).toBe(`${REQUEST}: ${result} after 0 ms, x-request-id req-*** 1`)
})

it('names a failure without a response', async () => {
  const server = await recordingServer((response) => response.socket?.end())
  expect((await linesOf(server.origin, 1))[1]).toMatch(/: no response \(.+\) after 0 ms$/)
  expect((await linesOf(`http://127.0.0.1:${await closedPort()}`, 1))[1]).toContain(': not sent (connect ECONNREFUSED)')
  const { origin } = await recordingServer(json({}), selfSignedCertificate())
  expect((await linesOf(origin, 1))[1]).toContain(': certificate not trusted (DEPTH_ZERO_SELF_SIGNED_CERT) after')
  const lines = await linesOf(server.origin, 1, { signal: AbortSignal.abort() })
  expect(lines[1]).toBe(`${REQUEST}: aborted after 0 ms`)
})

it('is not written if debug logging is off', async () => {
  const send = await sendJsonTo(`http://127.0.0.1:${await closedPort()}`)
  expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toMatchObject({ kind: 'not-sent' })
})
