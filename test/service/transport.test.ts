import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseRetryAfter } from '../../src/service/requests.ts'
import { REQUEST_LIMIT_MS } from '../../src/service/transport.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  closedPort,
  json,
  type Respond,
  recordingServer,
  type TcpServer,
  tcpServer,
} from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import {
  betweenPolls,
  failureOf,
  patient,
  responseOf,
  type SendOptions,
  sendJsonTo,
  trust,
} from '../support/service-requests.ts'

async function requestsTo(origin: string, options?: SendOptions) {
  const send = await sendJsonTo(origin, options)
  return {
    get: (options = patient()) => send('GET', ['v1', 'thing'], undefined, options),
    post: (options = patient()) => send('POST', ['v1', 'thing'], {}, options),
  }
}

async function service(respond: Respond, options?: SendOptions) {
  const server = await recordingServer(respond)
  return { server, ...(await requestsTo(server.origin, options)) }
}

/** A service for which the test writes each byte after a request has come. */
async function rawService(respond: (socket: Socket) => void, options?: SendOptions) {
  const server = await tcpServer((socket) => socket.once('data', () => respond(socket)))
  return { server, ...(await requestsTo(`http://127.0.0.1:${server.port}`, options)) }
}

const invalid = (expected: string, got: object) => ({ failure: true, kind: 'invalid-response', expected, got })

function closing({ connections }: TcpServer): Promise<unknown> {
  return new Promise((resolve) => connections[0]?.once('close', resolve))
}

describe('a request', () => {
  it('is sent with its method, its path below the prefix, its headers and its JSON', async () => {
    const server = await recordingServer(json({ fine: true }))
    const send = await sendJsonTo(`${server.origin}/tests/api/`, { apiKey: 'key-7' })
    const body = { branch: 'main', left: undefined }
    const response = await send('POST', ['v1', 'projects', 'web shop', 'runs'], body, patient())

    expect(response).toMatchObject({ json: { fine: true } })
    expect(server.received).toEqual([
      {
        method: 'POST',
        target: '/tests/api/v1/projects/web%20shop/runs',
        headers: {
          host: `127.0.0.1:${server.port}`,
          connection: 'keep-alive',
          accept: 'application/json',
          'accept-encoding': 'identity',
          authorization: 'Bearer key-7',
          'user-agent': 'a-test/1',
          'content-type': 'application/json',
          'content-length': '17',
        },
        body: '{"branch":"main"}',
      },
    ])
  })

  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === '::1'),
  )
  it.runIf(hasIpv6)('reaches a service with an IPv6 address', async () => {
    const server = await recordingServer(json({}), undefined, '::1')
    const { get } = await requestsTo(`http://[::1]:${server.port}`)
    expect(await get()).toMatchObject({ json: {} })
    expect(server.received).toMatchObject([{ headers: { host: `[::1]:${server.port}` } }])
  })

  it('is followed at once by another request over the same connection', async () => {
    const { server, get, post } = await service(json({}))
    await post()
    await get()
    expect(server.received).toHaveLength(2)
    expect(server.connections).toHaveLength(1)
  })

  it.each([
    ['closed', (response: ServerResponse) => response.socket?.end()],
    ['reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ])('is sent once, also over a connection that was used before and is then %s', async (_, end) => {
    const { server, get, post } = await service((response, request) =>
      server.received.length === 1 ? json({})(response, request) : end(response),
    )
    await get()
    expect(await failureOf(post())).toMatchObject({ kind: 'no-response' })
    await betweenPolls()
    expect(server.connections).toHaveLength(1)
    expect(server.received).toHaveLength(2)
  })
})

describe('a response', () => {
  it.each<OutgoingHttpHeaders>([
    { 'content-type': 'Application/JSON; charset=utf-8' },
    { 'content-type': 'application/problem+json' },
    { 'content-encoding': 'Identity' },
    {},
  ])('is read with the headers %j, and any status of 2xx', async (headers) => {
    const { get } = await service((response) => response.writeHead(202, headers).end('[1]'))
    expect(await get()).toMatchObject({ json: [1] })
  })

  it('is read also in pieces that cut its characters', async () => {
    const bytes = Buffer.from('\uFEFF{"title":"größer → ✓"}')
    const { get } = await service(async (response) => {
      for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.from([byte]), resolve))
      response.end()
    })
    expect(await get()).toMatchObject({ json: { title: 'größer → ✓' } })
  })

  const OTHER_TYPES = ['text/html', 'text/plain; x=application/json', 'application/jsonp']
  it.each(OTHER_TYPES)('is invalid with the content type %s', async (contentType) => {
    const { get } = await service(json({ fine: true }, 200, { 'content-type': contentType }))
    const got = { sent: `${contentType}: {"fine":true}` }
    const failure = invalid('the content type application/json', got)
    expect(await failureOf(get())).toEqual({ ...failure, isNotJson: true })
  })

  it.each([
    ['', { words: 'an empty body' }],
    ['{"runId":', { sent: '{"runId":' }],
    ['x'.repeat(100_000), { sent: `${'x'.repeat(499)}…` }],
  ])('is invalid if it is not JSON, of which the beginning is quoted (%#)', async (body, got) => {
    const { get } = await service((response) => response.writeHead(200).end(body))
    expect(await failureOf(get())).toEqual({ ...invalid('JSON', got), isNotJson: true })
  })

  it('is read if its body has 16 MiB, and invalid if it has one byte more', async () => {
    const limitBytes = 16 * 1024 * 1024
    let size = limitBytes
    const { get } = await service((response) => {
      const text = Buffer.alloc(size, 'a')
      response.end(text.fill('"', 0, 1).fill('"', size - 1))
    })
    expect(((await responseOf(get())).json as string).length).toBe(limitBytes - 2)
    size++
    expect(await failureOf(get())).toEqual(invalid(`a body of at most ${limitBytes} bytes`, { words: 'a larger body' }))
  })

  it.each([
    ['is shorter than it says', 'Content-Length: 100\r\n\r\n{"runId"', (socket: Socket) => socket.end()],
    ['has no last chunk', 'Transfer-Encoding: chunked\r\n\r\n8\r\n{"runId"\r\n', (socket: Socket) => socket.end()],
    ['is reset', 'Content-Length: 100\r\n\r\n{"runId"', (socket: Socket) => socket.resetAndDestroy()],
  ])('is invalid if it %s', async (_, response, end) => {
    const { get } = await rawService((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${response}`, () => setImmediate(() => end(socket))),
    )
    // A reset may remove what was not read yet.
    const words = expect.stringMatching(/^\d bytes, then the end of the connection$/)
    expect(await failureOf(get())).toEqual(invalid('a complete response', { words }))
  })
})

describe('a response that is packed, although the request asks for one that is not', () => {
  const packed = (text: string | Buffer, pack: (bytes: Buffer) => Buffer, contentEncoding: string, status = 200) =>
    service((response) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': contentEncoding }
      response.writeHead(status, headers).end(pack(Buffer.from(text)))
    })

  it.each(['gzip', 'GZIP'])('is unpacked: %s', async (contentEncoding) => {
    const { post } = await packed('{"runId":"größer"}', gzipSync, contentEncoding)
    expect((await responseOf(post())).json).toEqual({ runId: 'größer' })
    const refused = await packed('{"error":"no such branch"}', gzipSync, contentEncoding, 422)
    expect(await failureOf(refused.post())).toMatchObject({ status: 422, error: 'no such branch' })
  })

  it.each(['br', 'deflate', 'gzip, gzip'])('is invalid if it is %s, and the failure names this', async (name) => {
    const { get } = await packed('{}', (bytes) => bytes, name)
    const expected = 'a body that is not packed, or the Content-Encoding gzip'
    expect(await failureOf(get())).toEqual(invalid(expected, { sent: name }))
    // The status counts all the same.
    const refused = await packed('unreadable', (bytes) => bytes, name, 503)
    expect(await failureOf(refused.get())).toEqual({ failure: true, kind: 'status', status: 503 })
  })

  it('may have 16 MiB that come out of it, and is not unpacked beyond that', async () => {
    const limitBytes = 16 * 1024 * 1024
    const whole = await packed(`"${'a'.repeat(limitBytes - 2)}"`, gzipSync, 'gzip')
    expect(((await responseOf(whole.get())).json as string).length).toBe(limitBytes - 2)
    // 1 GiB in 1 MiB.
    const bomb = Buffer.concat(Array(1_024).fill(gzipSync(Buffer.alloc(1024 * 1024))))
    const { get } = await packed(bomb, (bytes) => bytes, 'gzip')
    const before = process.memoryUsage().arrayBuffers
    expect(await failureOf(get())).toEqual(invalid(`a body of at most ${limitBytes} bytes`, { words: 'a larger body' }))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 * 1024 * 1024)
  })

  it.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ['is not packed', (bytes) => bytes, /incorrect header check/],
    ['is cut off', (bytes) => gzipSync(bytes).subarray(0, -9), /unexpected end of file/],
    ['is empty', () => Buffer.alloc(0), /unexpected end of file/],
  ])('is invalid if it %s', async (_, pack, found) => {
    const { get } = await packed('{"runId":"run-1"}', pack, 'gzip')
    const words = expect.stringMatching(found)
    expect(await failureOf(get())).toEqual(invalid('a complete body, packed with gzip', { words }))
  })
})

describe('a response with another status', () => {
  it.each([300, 302, 307])('%i is not followed', async (status) => {
    const elsewhere = await recordingServer(json({ runId: 'stolen' }))
    const location = `${elsewhere.origin}/v1/thing?token=secret`
    const { server, post } = await service((response) => response.writeHead(status, { location }).end())
    expect(await failureOf(post())).toEqual({ failure: true, kind: 'status', status })
    expect(server.received).toHaveLength(1)
    expect(elsewhere.connections).toHaveLength(0)
  })

  it.each([
    ['{"error":"no such project","more":1}', { error: 'no such project' }],
    [`{"error":"${'z'.repeat(1_000)}"}`, { error: 'z'.repeat(1_000) }],
    ['{"error":{"code":7}}', { body: '{"error":{"code":7}}' }],
    ['{"error":" "}', { body: '{"error":" "}' }],
    ['{"error":"\\n\u200b"}', { body: '{"error":"\\n\u200b"}' }],
    ['null', { body: 'null' }],
    ['y'.repeat(12_000), { body: `${'y'.repeat(499)}…` }],
    [`${' \n'.repeat(6_000)}<h1>Bad Gateway</h1>`, { body: '<h1>Bad Gateway</h1>' }],
    [' \n', {}],
  ])('has the text of the error object, or else the beginning of the body (%#)', async (body, said) => {
    const { get } = await service((response) => response.writeHead(404).end(body))
    expect(await failureOf(get())).toEqual({ failure: true, kind: 'status', status: 404, ...said })
  })

  it('counts however large its body is, and the rest of the body is not read', async () => {
    const { get, server } = await service((response) => {
      response.writeHead(401).write(Buffer.alloc(65 * 1024 * 1024, 'a'))
    })
    const refused = failureOf(get())
    await server.connected
    const closed = closing(server)
    expect(await refused).toMatchObject({ kind: 'status', status: 401, body: `${'a'.repeat(499)}…` })
    await closed
  })

  it('has the pause that the service asks for', async () => {
    const { post } = await service((response) => response.writeHead(503, { 'retry-after': '7' }).end())
    expect(await failureOf(post())).toEqual({ failure: true, kind: 'status', status: 503, retryAfterMs: 7_000 })
  })

  const NOW = { epochMs: () => Date.UTC(2026, 0, 1) }

  it.each([
    ['0', 0],
    ['120', 120_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7_000],
  ])('and the Retry-After %j asks for %j ms', (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms)
  })

  // `Date.parse` reads nearly all of them as a date. A 503 with such a date would prove that no run was started.
  it.each([
    ...['', 'soon', '1.5', '-1', '+1', '1e3', '0x10', ' 5', '5 s', '1, 2', 'Infinity', 'Invalid Date', '٣'],
    ...['2026-01-01T00:00:07Z', 'Thu, 1 Jan 2026 00:00:07 GMT', '01 Jan 2026 00:00:07 GMT', 'Thu Jan  1 00:00:07 2026'],
    ...['Thursday, 01-Jan-26 00:00:07 GMT', 'Thu, 01 Jan 2026 00:00:07 UTC', 'Thu, 01 Jan 2026 00:00:07 +0100'],
    ...['Fri, 01 Jan 2026 00:00:07 GMT', 'Thu, 32 Jan 2026 00:00:07 GMT', 'Mon, 30 Feb 2026 00:00:07 GMT'],
  ])('and a Retry-After that is neither whole seconds nor a date of HTTP counts as absent: %j', (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined()
  })
})

describe('an error status whose response is cut off counts', () => {
  const CUT_OFF = 'HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"error'

  it.each([
    ['closed', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => setImmediate(() => socket.resetAndDestroy())],
  ])('if the connection is %s', async (_, end) => {
    const { post } = await rawService((socket) => socket.write(CUT_OFF, () => end(socket)))
    expect(await failureOf(post())).toMatchObject({ kind: 'status', status: 401 })
  })

  it('if the time limit passes, and the connection is closed', async () => {
    const clock = new FakeClock()
    const sent = Promise.withResolvers<void>()
    const { server, post } = await rawService((socket) => socket.write(CUT_OFF, () => sent.resolve()), { clock })
    const request = failureOf(post())
    await sent.promise
    const closed = closing(server)
    await betweenPolls()
    expect(await clock.run(request)).toEqual({ failure: true, kind: 'status', status: 401, body: '{"error' })
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
    await closed
  })
})

// A start is repeated after `not-sent`. So `not-sent` must mean that the service cannot have taken the request.
describe('a request that did not reach the service', () => {
  // On Windows, a connection to 0.0.0.0 fails in another way.
  it.each([
    ['127.0.0.1', 'refused here'],
    // The name may have several addresses.
    ['localhost', 'refused here'],
    ...(process.platform === 'win32' ? [] : [['0.0.0.0', undefined] as const]),
  ] as const)('was not sent if %s listens on no such port. The problem: %s', async (host, problem) => {
    const { post } = await requestsTo(`http://${host}:${await closedPort()}`)
    const reason = expect.stringMatching(/^connect ECONNREFUSED [\w.:]+$/)
    expect(await failureOf(post())).toEqual({ failure: true, kind: 'not-sent', reason, problem })
  })

  it('was not sent if the name is not known', async () => {
    const { post } = await requestsTo('https://tests.invalid')
    // On a machine without a name server, the error is EAI_AGAIN.
    const reason = expect.stringMatching(/getaddrinfo (ENOTFOUND|EAI_AGAIN) tests\.invalid/)
    expect(await failureOf(post())).toEqual({ failure: true, kind: 'not-sent', reason })
  })

  it.each([
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])('was not sent if the other side %s in the TLS handshake', async (_, end) => {
    const server = await tcpServer((socket) => socket.once('data', () => end(socket)))
    const { post } = await requestsTo(`https://127.0.0.1:${server.port}`)
    expect(await failureOf(post())).toMatchObject({ kind: 'not-sent' })
    expect(server.connections).toHaveLength(1)
  })

  it('was not sent if the time limit passes in the TLS handshake', async () => {
    const server = await tcpServer(() => {})
    const clock = new FakeClock()
    const { post } = await requestsTo(`https://127.0.0.1:${server.port}`, { clock })
    const request = failureOf(post())
    await server.connected
    expect(await clock.run(request)).toMatchObject({ kind: 'not-sent', reason: 'no connection within 30 s' })
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
  })
})

describe('a request that reached the service', () => {
  it.each([
    'HTTP/1.1 101 Go on\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
    'HTTP/1.1 101 Go on\r\n\r\n',
    'HTTP/1.1 000 \r\n\r\n',
  ])('has no response if this comes: %j', async (bytes) => {
    const { get } = await rawService((socket) => socket.write(bytes))
    const reason = expect.stringMatching(/closed|status/)
    expect(await failureOf(get())).toEqual({ failure: true, kind: 'no-response', reason })
  })

  it.each([
    [undefined, 'no complete response within 30 s', REQUEST_LIMIT_MS],
    [3_712.3456, 'no complete response within 3.7 s', 3_712.3456],
    [90_000, 'no complete response within 30 s', REQUEST_LIMIT_MS],
  ])('has no response if the limit of %j ms passes', async (limitMs, reason, endMs) => {
    const clock = new FakeClock()
    const { server, get } = await service(() => {}, { clock })
    const request = failureOf(get({ ...patient(), limitMs }))
    await server.arrived
    expect(await clock.run(request)).toEqual({ failure: true, kind: 'no-response', reason })
    expect(clock.now()).toBe(endMs)
    expect(server.received).toHaveLength(1)
  })

  it('leaves no timer after its response has come', async () => {
    const clock = new FakeClock()
    const { get } = await service(json({}), { clock })
    await get()
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow('nothing is left to wait for')
    expect(clock.now()).toBe(0)
  })
})

describe('the signal', () => {
  it('ends a request that waits for its response', async () => {
    const { server, post } = await service(() => {})
    const controller = new AbortController()
    const request = failureOf(post({ signal: controller.signal }))
    await server.arrived
    const closed = closing(server)
    controller.abort()
    expect(await request).toEqual({ failure: true, kind: 'aborted' })
    await closed
  })

  const cancelled = { failure: true, kind: 'not-sent', reason: 'the step was aborted before the request was sent' }

  it('that has aborted keeps a request from being sent', async () => {
    const { server, post } = await service(json({}))
    expect(await failureOf(post({ signal: AbortSignal.abort() }))).toEqual(cancelled)
    await betweenPolls()
    expect(server.connections).toHaveLength(0)
  })

  it('ends a request in its handshake, and nothing of the request is sent', async () => {
    const certificate = selfSignedCertificate()
    trust(certificate)
    const server = await recordingServer(json({ runId: 'r' }), certificate)
    // The handshake waits here until the test continues it.
    const go = Promise.withResolvers<void>()
    const gate = await tcpServer(async (socket) => {
      await go.promise
      const tunnel = connect(server.port, '127.0.0.1').on('error', () => {})
      tunnel.pipe(socket).pipe(tunnel)
    })
    const { get, post } = await requestsTo(`https://127.0.0.1:${gate.port}`)
    const controller = new AbortController()
    const request = failureOf(post({ signal: controller.signal }))
    await gate.connected
    controller.abort()
    expect(await request).toEqual(cancelled)

    go.resolve()
    await get()
    expect(server.received.map(({ method }) => method)).toEqual(['GET'])
  })

  it('gives a request that has been sent no more time than its own limit', async () => {
    const clock = new FakeClock()
    const { server, post } = await service(() => {}, { clock })
    const controller = new AbortController()
    const request = failureOf(post({ signal: controller.signal, graceIfSentMs: () => 9_100 }))
    await server.arrived
    clock.at(25_000, () => controller.abort())
    expect(await clock.run(request)).toEqual({ failure: true, kind: 'aborted' })
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
  })

  it('does not end a request that has been sent and has a grace', async () => {
    const go = Promise.withResolvers<void>()
    const { server, post } = await service(async (response, request) => {
      await go.promise
      json({ runId: 'r-1' })(response, request)
    })
    const controller = new AbortController()
    const request = post({ signal: controller.signal, graceIfSentMs: () => 60_000 })
    await server.arrived
    controller.abort()
    await betweenPolls()
    go.resolve()
    expect(await request).toMatchObject({ json: { runId: 'r-1' } })
  })
})

/** A server in a thread of its own. It responds when `state` is 1, and sets it to 2 when the response is in the client's socket. */
const SERVER_IN_A_THREAD = `
const { createServer } = require('node:http')
const { parentPort, workerData: state } = require('node:worker_threads')
const server = createServer((_, response) => {
  parentPort.postMessage('has the request')
  Atomics.wait(state, 0, 0)
  response.setHeader('content-type', 'application/json')
  response.end('{"runId":"r-1"}', () => {
    Atomics.store(state, 0, 2)
    Atomics.notify(state, 0)
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

describe('a process that was frozen', () => {
  it('takes the response that has arrived meanwhile, although the time limit has passed too', async () => {
    const state = new Int32Array(new SharedArrayBuffer(4))
    const thread = new Worker(SERVER_IN_A_THREAD, { eval: true, workerData: state })
    onTestFinished(() => void thread.terminate())
    const [port] = await once(thread, 'message')
    const limit = Promise.withResolvers<void>()
    const clock = Object.assign(new FakeClock(), { sleep: () => limit.promise })
    const { post } = await requestsTo(`http://127.0.0.1:${port}`, { clock })
    const request = post()
    await once(thread, 'message')
    // Now this thread is frozen. Its timers wait, and so does the response.
    setTimeout(limit.resolve)
    Atomics.store(state, 0, 1)
    Atomics.notify(state, 0)
    Atomics.wait(state, 0, 1)
    // The time of a timer of Node.
    Atomics.wait(state, 0, 2, 2)
    expect(await request).toMatchObject({ json: { runId: 'r-1' } })
  })
})
