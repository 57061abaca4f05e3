import { type RequestListener, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CONNECTION_LIMIT, listen, toServiceRequest } from '../src/http/listen.ts'
import { handleRequest, ok } from '../src/http/request-handler.ts'
import { KEY, startPuppetService, until } from './a-local-service.ts'

const RUNS = '/v1/projects/web-shop/runs'
const EVERY_ENDPOINT = [
  ['POST', RUNS],
  ['POST', `${RUNS}/cancel`],
  ['GET', `${RUNS}/r1`],
  ['POST', '/v1/testSuite/smoke/run'],
  ['GET', '/v1/testSuiteRun/r1/status'],
  ['GET', '/v1/testSuiteRun/r1/result'],
  ['GET', '/openapi.yaml'],
  ['OPTIONS', RUNS],
] as const

describe('a client without a key', () => {
  it('gets its 401 before it has sent a body', async () => {
    const client = connectTo(portOf((await startPuppetService()).url))
    client.socket.write(headOf({ length: 1_000_000 }))
    await until(() => client.received().includes('API key is missing or invalid'))
    expect(client.received()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('gets its 401 while it is sending a large body', async () => {
    const { url } = await startPuppetService()
    const response = await fetch(url + RUNS, { method: 'POST', body: 'x'.repeat(5_000_000) })
    expect(response.status).toBe(401)
  })
})

describe('a client that asks before it sends its body', () => {
  const head = (authorization: string, expect = '100-continue') =>
    headOf({ length: 2, authorization }).replace('\r\n\r\n', `\r\nExpect: ${expect}\r\n\r\n`)

  it('is not asked for it without a key', async () => {
    const client = connectTo(portOf((await startPuppetService()).url))
    client.socket.write(head('Bearer another'))
    await until(() => client.received().includes('API key is missing or invalid'))
    expect(client.received()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('is asked for it with a key, and any other expectation is ignored', async () => {
    const client = connectTo(portOf((await startPuppetService()).url))
    client.socket.write(head(`Bearer ${KEY}`))
    await until(() => client.received() === 'HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('{}')
    await until(() => client.received().includes('{"runId":'))
    client.socket.write(`${head(`Bearer ${KEY}`, 'a miracle')}[]`)
    await until(() => client.received().includes('The body must be a JSON object'))
  })
})

describe('a client that hangs up', () => {
  it('in the middle of a body does not disturb the service', async () => {
    const service = await startPuppetService()
    for (let count = 0; count < 20; count++) {
      const client = connectTo(portOf(service.url))
      client.socket.write(headOf({ length: 1_000, authorization: `Bearer ${KEY}` }))
      client.socket.write('{"branch":')
      // Its head has arrived if a later request gets a response.
      await service.get('none')
      client.socket.resetAndDestroy()
      await client.closed
    }
    expect((await service.get('none')).status).toBe(404)
    expect(service.log.filter((line) => line.includes('request failed'))).toEqual([])
  })
})

describe('a client that is slow', () => {
  it.each([
    ['the headers', `POST ${RUNS} HTTP/1.1\r\nHost: 127.0.0.1\r\nX: `],
    ['the body', headOf({ length: 1_000, authorization: `Bearer ${KEY}` })],
  ])('is disconnected at the time limit of one request, although it goes on sending %s', async (_case, begin) => {
    const port = await listenUntilEnd((message, response) => toServiceRequest(message, response).readBody(), 300)
    const client = connectTo(port)
    client.socket.write(begin)
    const dripping = setInterval(() => client.socket.write('x'), 20)
    await client.closed.finally(() => clearInterval(dripping))
    expect(client.received()).toMatch(/^HTTP\/1\.1 400 /)
    expect(client.received()).toContain('{"error":"The request did not arrive within the time limit."}')
  })
})

describe('a request that means no good', () => {
  const anyId = fc.oneof(fc.string(), fc.constantFrom('..', '.', '%', '%00', '%2e%2e', '__proto__', 'constructor'))
  const anyPath = fc.oneof(
    fc.array(anyId, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
    fc.constantFrom(RUNS, `${RUNS}/cancel`, '/v1/testSuite/smoke/run'),
    anyId.map((id) => `${RUNS}/${id}`),
    anyId.map((id) => `/v1/testSuiteRun/${id}/result`),
    fc.string(),
  )
  const anyBody = fc.oneof(
    fc.string().map((value) => ({ kind: 'valid' as const, value })),
    fc.json().map((value) => ({ kind: 'valid' as const, value })),
    fc.constant({ kind: 'invalid' as const, error: 'The body is not UTF-8.' }),
  )

  it('gets a documented status and, if it is refused, one sentence', async () => {
    const respond = async () => ok({})
    const runs = { startRun: respond, getRun: respond, cancelRun: respond }
    const backend = { ...runs, startSuite: respond, getSuiteStatus: respond, getSuiteResult: respond }
    const methods = fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', '__proto__')
    const types = fc.constantFrom('application/json', 'application/json;', 'text/plain', undefined)
    await fc.assert(
      fc.asyncProperty(methods, anyPath, anyBody, types, async (method, target, body, type) => {
        const headers = { authorization: `Bearer ${KEY}`, 'content-type': type }
        const request = { method, target, headers, hosts: ['localhost'], readBody: async () => body }
        const { status, body: response } = await handleRequest(request, [KEY], backend)
        expect([200, 400, 404]).toContain(status)
        if (status !== 200) expect(response).toEqual({ error: expect.stringMatching(/^[^\r\n]+\.$/) })
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('as many connections as the service serves', () => {
  it('leave no room for another', async () => {
    let requests = 0
    const port = await listenUntilEnd(() => void requests++)
    const request = `GET ${RUNS}/r1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    for (let count = 0; count < CONNECTION_LIMIT; count++) connectTo(port).socket.write(request)
    await until(() => requests === CONNECTION_LIMIT)
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed')
  })
})

describe('a page in a browser', () => {
  const OWN_HOST = '127.0.0.1:4380'
  const PAGES = [
    ['of another site', { origin: 'https://evil.example', host: OWN_HOST }],
    ['of another port of this machine', { origin: 'http://localhost:3000', host: OWN_HOST }],
    ['from a file or a sandbox', { origin: 'null', host: OWN_HOST }],
    ['whose name leads to this machine', { host: 'evil.example:4380' }],
    ['whose name looks like this machine', { host: '127.0.0.1.evil.example' }],
    ['whose name begins like this machine', { host: 'localhost@evil.example' }],
  ] as const

  it.each(PAGES)('%s can do nothing, with the key or without it', async (_case, headers) => {
    const { url, log } = await startPuppetService()
    for (const authorization of [undefined, `Bearer ${KEY}`]) {
      for (const [method, path] of EVERY_ENDPOINT) {
        const response = await send(url, method, path, { ...headers, authorization })
        expect([path, response.status]).toEqual([path, 400])
        expect(response.headers).not.toHaveProperty('access-control-allow-origin')
        expect(JSON.parse(response.body).error).toMatch(/refuses requests with an Origin|but the Host is/)
      }
    }
    expect(log.filter(isOfRun)).toEqual([])
  })

  it('cannot hide its name behind a second Host', async () => {
    const { url, log } = await startPuppetService()
    const client = connectTo(portOf(url))
    const head = headOf({ length: 2, authorization: `Bearer ${KEY}` })
    client.socket.write(`${head.replace('\r\n\r\n', '\r\nHost: evil.example\r\n\r\n')}{}`)
    await until(() => client.received().includes('The request has more than one Host.'))
    expect(client.received()).toMatch(/^HTTP\/1\.1 400 /)
    expect(log.filter(isOfRun)).toEqual([])
  })

  it.each([
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost:4380',
    'LOCALHOST',
    '[::1]:4380',
  ])('is none if the host is %s and there is no origin', async (host) => {
    const { url } = await startPuppetService()
    expect((await send(url, 'POST', RUNS, { host, authorization: `Bearer ${KEY}` }, '{}')).status).toBe(200)
  })
})

const isOfRun = (line: string) => / run \S+: is for project /.test(line)

async function listenUntilEnd(onRequest: RequestListener, requestLimitMs?: number): Promise<number> {
  const { url, close } = await listen(0, onRequest, requestLimitMs)
  onTestFinished(close)
  return portOf(url)
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function headOf({ length, authorization = '' }: { length: number; authorization?: string }): string {
  return [
    `POST ${RUNS} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n')
}

function connectTo(port: number): { socket: Socket; received: () => string; closed: Promise<void> } {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  // A reset is a way to be disconnected too.
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return { socket, received: () => received, closed: new Promise((resolve) => socket.on('close', () => resolve())) }
}

interface RawResponse {
  readonly status: number | undefined
  readonly headers: object
  readonly body: string
}

/** As fetch, which lets nobody set Host. */
function send(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
  body = '',
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const options = {
      port: portOf(url),
      host: '127.0.0.1',
      method,
      path,
      headers: { 'content-type': 'application/json', ...given },
    }
    const sent = request(options, async (response) => {
      resolve({ status: response.statusCode, headers: response.headers, body: (await response.toArray()).join('') })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
