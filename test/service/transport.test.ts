import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StepCancelled } from '../../src/action/abort.ts'
import { cancelRun } from '../../src/action/cancel-run.ts'
import { startRun } from '../../src/action/start-run.ts'
import { systemClock } from '../../src/clock.ts'
import type { ServiceError } from '../../src/outcome/failure.ts'
import { projectRuns } from '../../src/service/project-runs.ts'
import { parseRetryAfter, type SendJson } from '../../src/service/response.ts'
import { REQUEST_LIMIT_MS } from '../../src/service/transport.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, closedPort, json, recordingServer, tcpServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { betweenPolls, failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

async function respondingWith(respond: Answer) {
  const server = await recordingServer(respond)
  const send = await sendJsonTo(server.origin)
  return { server, get: () => send('GET', ['v1', 'thing'], undefined, patient()) }
}

describe('a request', () => {
  it('is sent with its method, its path below the prefix, its headers and its JSON', async () => {
    const server = await recordingServer(json({ fine: true }))
    const send = await sendJsonTo(`${server.origin}/tests/api/`, { apiKey: 'key-7' })
    const response = await send(
      'POST',
      ['v1', 'projects', 'web shop', 'runs'],
      { branch: 'main', left: undefined },
      patient(),
    )

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

  it('has neither a body nor headers about one if it is a GET', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    await send('GET', ['v1'], undefined, patient())

    const { headers, body } = server.received[0] ?? {}
    expect(body).toBe('')
    for (const name of ['content-type', 'content-length', 'transfer-encoding']) expect(headers).not.toHaveProperty(name)
  })

  it.each([
    ['a/b', 'a%2Fb'],
    ['a?b#c', 'a%3Fb%23c'],
    ['%2e%2e', '%252e%252e'],
    ['Prüfung ✓', 'Pr%C3%BCfung%20%E2%9C%93'],
    ['a\r\nb', 'a%0D%0Ab'],
    ["it's (1)*~!", "it's%20(1)*~!"],
  ])('carries the id %j as one segment of the path', async (id, encoded) => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    await send('GET', ['v1', id, 'runs'], undefined, patient())
    expect(server.received[0]?.target).toBe(`/v1/${encoded}/runs`)
  })

  it('can be decoded to the id that it carries, for any id', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(`${server.origin}/prefix`)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (id) => {
        await send('GET', ['v1', id, 'runs'], undefined, patient())
        const segments = server.received.at(-1)?.target.split('/') ?? []
        expect(segments).toHaveLength(5)
        expect(decodeURIComponent(segments[3] ?? '')).toBe(id)
      }),
      { numRuns: 50 },
    )
  })

  it('is followed by others over the same connection', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    for (let poll = 0; poll < 5; poll++) {
      await send('GET', ['v1'], undefined, patient())
      await betweenPolls()
    }
    expect(server.received).toHaveLength(5)
    expect(server.connections).toHaveLength(1)
  })

  it('is followed at once by another over the same connection', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    await send('POST', ['v1'], {}, patient())
    await send('GET', ['v1'], undefined, patient())
    expect(server.received).toHaveLength(2)
    expect(server.connections).toHaveLength(1)
  })

  it.each([
    ['closed', (response: ServerResponse) => response.socket?.end()],
    ['reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ])('is sent once, also over a connection that was used before and is then %s', async (_, end) => {
    const server = await recordingServer((response, request) =>
      server.received.length === 1 ? json({})(response, request) : end(response),
    )
    const send = await sendJsonTo(server.origin)
    await send('GET', ['v1'], undefined, patient())
    await betweenPolls()
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toMatchObject({ kind: 'no-response' })
    await betweenPolls()
    expect(server.connections).toHaveLength(1)
    expect(server.received).toHaveLength(2)
  })

  it('gets a new connection if the one before broke', async () => {
    const server = await recordingServer((response, request) => {
      if (server.received.length === 1) response.destroy()
      else json({ fine: true })(response, request)
    })
    const send = await sendJsonTo(server.origin)
    await failureOf(send('GET', ['v1'], undefined, patient()))
    expect(await send('GET', ['v1'], undefined, patient())).toMatchObject({ json: { fine: true } })
  })
})

describe('a response', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/problem+json',
  ])('is read with the content type %s', async (contentType) => {
    const { get } = await respondingWith(json({ fine: true }, 200, { 'content-type': contentType }))
    expect(await get()).toMatchObject({ json: { fine: true } })
  })

  it('is read without a content type, and with any status of 2xx', async () => {
    const { get } = await respondingWith((response) => response.writeHead(202).end('[1]'))
    expect(await get()).toMatchObject({ json: [1] })
  })

  it('is read after early hints', async () => {
    const { get } = await respondingWith((response, request) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' }, () => json({ fine: true })(response, request))
    })
    expect(await get()).toMatchObject({ json: { fine: true } })
  })

  it('is read in pieces that cut its characters', async () => {
    const bytes = Buffer.from('{"title":"größer → ✓"}')
    const { get } = await respondingWith(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.from([byte]), resolve))
      response.end()
    })
    expect(await get()).toMatchObject({ json: { title: 'größer → ✓' } })
  })

  it.each([
    'text/html',
    'text/plain; x=application/json',
    'application/jsonp',
    'application/xml',
  ])('is invalid with the content type %s', async (contentType) => {
    const { get } = await respondingWith(json({ fine: true }, 200, { 'content-type': contentType }))
    expect(await failureOf(get())).toEqual({
      kind: 'invalid-response',
      expected: 'the content type application/json',
      got: `${contentType}: {"fine":true}`,
      isNotJson: true,
    })
  })

  it.each([
    ['', 'an empty body'],
    ['<html>', '<html>'],
    ['{"runId":', '{"runId":'],
    ['NaN', 'NaN'],
  ])('is invalid if it is %j, which is not JSON', async (body, got) => {
    const { get } = await respondingWith((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    expect(await failureOf(get())).toEqual({ kind: 'invalid-response', expected: 'JSON', got, isNotJson: true })
  })

  it('is quoted only in part if it is not JSON', async () => {
    const { get } = await respondingWith((response) => response.writeHead(200).end('x'.repeat(100_000)))
    expect(await failureOf(get())).toEqual({
      kind: 'invalid-response',
      expected: 'JSON',
      got: 'x'.repeat(500),
      isNotJson: true,
    })
  })

  it('is read if its body has 16 MiB, and invalid if it has one byte more', async () => {
    const limitBytes = 16 * 1024 * 1024
    let size = limitBytes
    const { get } = await respondingWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        Buffer.alloc(size, 'a')
          .fill('"', 0, 1)
          .fill('"', size - 1),
      )
    })
    expect(((await get()).json as string).length).toBe(limitBytes - 2)
    size++
    expect(await failureOf(get())).toEqual({
      kind: 'invalid-response',
      expected: `a body of at most ${limitBytes} bytes`,
      got: 'a larger one',
    })
  })

  it('counts as its error status, however large its body, of which no more is read', async () => {
    const { get, server } = await respondingWith((response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.write(Buffer.alloc(65 * 1024 * 1024, 'a'))
    })
    const refused = failureOf(get())
    await server.connected(1)
    const closed = new Promise((done) => server.connections[0]?.on('error', () => {}).once('close', done))
    expect(await refused).toMatchObject({ kind: 'status', status: 401, error: 'a'.repeat(500) })
    await closed
  })

  it('is quoted without the key also if the key is long and stands there often', async () => {
    const key = 'k'.repeat(1_500)
    const server = await recordingServer(json({ error: `no ${key} ${key} ${key} ${key}` }, 500))
    const send = await sendJsonTo(server.origin, { apiKey: key })
    expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toMatchObject({ error: 'no *** *** *** ***' })
  })

  it.each(['gzip', 'br', 'x-own'])('is invalid if it is compressed, as with %s', async (encoding) => {
    const { get } = await respondingWith(json({}, 200, { 'content-encoding': encoding }))
    expect(await failureOf(get())).toEqual({
      kind: 'invalid-response',
      expected: 'an uncompressed body',
      got: `the content encoding ${encoding}`,
    })
  })

  it('is read if it says that it is not compressed', async () => {
    const { get } = await respondingWith(json({ fine: true }, 200, { 'content-encoding': 'Identity' }))
    expect(await get()).toMatchObject({ json: { fine: true } })
  })

  it.each([
    ['shorter than it says', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"runId"'],
    ['cut in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"runId"'],
    ['without its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"runId"\r\n'],
  ])('is invalid if it is %s', async (_, response) => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.end(response)))
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toEqual({
      kind: 'invalid-response',
      expected: 'a complete response',
      got: '8 bytes, then the end of the connection',
    })
  })

  it('is invalid if the connection is reset in the middle of it', async () => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"runId"', () =>
          setImmediate(() => socket.resetAndDestroy()),
        )
      }),
    )
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toMatchObject({ kind: 'invalid-response' })
  })
})

describe('a response with another status', () => {
  it.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const elsewhere = await recordingServer(json({ runId: 'stolen' }))
    const { server, get } = await respondingWith((response) =>
      response.writeHead(status, { location: `${elsewhere.origin}/v1/thing?token=secret` }).end(),
    )
    expect(await failureOf(get())).toEqual({ kind: 'status', status, location: elsewhere.origin })
    expect(server.received).toHaveLength(1)
    expect(elsewhere.connections).toHaveLength(0)
  })

  it.each([400, 401, 404, 500])('%i has the text of the error object', async (status) => {
    const { get } = await respondingWith(json({ error: 'no such project', more: 1 }, status))
    expect(await failureOf(get())).toEqual({ kind: 'status', status, error: 'no such project' })
  })

  it.each([
    ['<h1>Bad Gateway</h1>', '<h1>Bad Gateway</h1>'],
    ['null', 'null'],
    ['{"error":{"code":7}}', '{"error":{"code":7}}'],
    ['y'.repeat(700), 'y'.repeat(500)],
  ])('has the beginning of the body if that is no error object', async (body, error) => {
    const { get } = await respondingWith((response) => response.writeHead(502).end(body))
    expect(await failureOf(get())).toEqual({ kind: 'status', status: 502, error })
  })

  it('has no text if the body is blank', async () => {
    const { get } = await respondingWith((response) => response.writeHead(503).end(' \n'))
    expect(await failureOf(get())).toEqual({ kind: 'status', status: 503 })
  })

  it('tells how long a pause the service asks for', async () => {
    const clock = new FakeClock(Date.UTC(2026, 4, 6, 7, 8, 9))
    const asked = ['7', 'Wed, 06 May 2026 07:08:19 GMT']
    const server = await recordingServer((response, request) =>
      json({ error: 'later' }, 429, { 'retry-after': asked[server.received.length - 1] ?? '' })(response, request),
    )
    const send = await sendJsonTo(server.origin, { clock })
    const later = { kind: 'status', status: 429, error: 'later' }
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toEqual({ ...later, retryAfterMs: 7_000 })
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toEqual({ ...later, retryAfterMs: 10_000 })
  })
})

/** What a service sends whose response is cut off right after the head, or within the body. */
const CUT_OFF = [
  ['after the head', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\n', undefined],
  ['within the body', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\n{"error', '{"error'],
  ['within a chunk', 'HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nno', 'no'],
] as const

describe.each(CUT_OFF)('an error status whose response is cut off %s counts', (_, head, error) => {
  const refused = { kind: 'status', status: 401, error }

  async function cutOff(then: (socket: Socket) => void) {
    const sent = Promise.withResolvers<void>()
    const server = await tcpServer((socket) =>
      socket.once('data', () =>
        socket.write(head, () => {
          then(socket)
          sent.resolve()
        }),
      ),
    )
    const clock = new FakeClock()
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`, { clock })
    return { server, clock, send, sent: sent.promise }
  }

  it('if the connection is closed', async () => {
    const { send } = await cutOff((socket) => socket.end())
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toEqual(refused)
  })

  it('if the connection is reset', async () => {
    const { send } = await cutOff((socket) => setImmediate(() => socket.resetAndDestroy()))
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toEqual(refused)
  })

  it('if the time limit passes, and the connection is closed', async () => {
    const { send, sent, clock, server } = await cutOff(() => {})
    const request = failureOf(send('POST', ['v1'], {}, patient()))
    await sent
    const closed = new Promise((resolve) => server.connections[0]?.once('close', resolve))
    await betweenPolls()
    expect(await clock.run(request)).toEqual(refused)
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
    await closed
  })

  it('if the signal ends the request, and the connection is closed', async () => {
    const { send, sent, server } = await cutOff(() => {})
    const abort = new AbortController()
    const request = failureOf(send('POST', ['v1'], {}, { signal: abort.signal }))
    await sent
    const closed = new Promise((resolve) => server.connections[0]?.once('close', resolve))
    await betweenPolls()
    abort.abort()
    expect(await request).toEqual(refused)
    await closed
  })
})

describe('Retry-After', () => {
  const now = { epochMs: () => Date.UTC(2026, 0, 1) }

  it.each([
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['0', 0],
    [' 120 ', 120_000],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['-5', 0],
    ['9'.repeat(400), 35_000 * 60_000],
    ['1e3', undefined],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 35_000 * 60_000],
  ])('%j asks for %j ms', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })

  it('asks for no negative time and none beyond the longest wait, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.stringMatching(/^\d+$/),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (value) => {
          const ms = parseRetryAfter(value, now)
          if (ms !== undefined) expect(ms >= 0 && ms <= 35_000 * 60_000).toBe(true)
        },
      ),
    )
  })
})

// What a start's repetition rests on: `not-sent` only if the service cannot have taken the request.
describe('a request of which nothing reached the service', () => {
  const start = (send: SendJson) => send('POST', ['v1', 'projects', 'p', 'runs'], { branch: 'main' }, patient())

  it('was not sent if nobody listens', async () => {
    const port = await closedPort()
    const send = await sendJsonTo(`http://127.0.0.1:${port}`)
    expect(await failureOf(start(send))).toEqual({
      kind: 'not-sent',
      reason: `connect ECONNREFUSED 127.0.0.1:${port}`,
      hasProxy: false,
    })
  })

  it('was not sent if no address of several listens', async () => {
    const send = await sendJsonTo(`http://localhost:${await closedPort()}`)
    expect(await failureOf(start(send))).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('connect ECONNREFUSED'),
    })
  })

  it('was not sent if the name is not known', async () => {
    const send = await sendJsonTo('https://tests.invalid')
    expect(await failureOf(start(send))).toMatchObject({
      kind: 'not-sent',
      // A machine without a name server says EAI_AGAIN.
      reason: expect.stringMatching(/getaddrinfo (ENOTFOUND|EAI_AGAIN) tests\.invalid/),
    })
  })

  it.each([
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['responds with something else', (socket: Socket) => socket.end('220 mail.example.com ESMTP\r\n')],
  ])('was not sent if the other side %s in the TLS handshake', async (_, end) => {
    const heard: Buffer[] = []
    const server = await tcpServer((socket) =>
      socket.on('data', (chunk) => heard.push(chunk)).once('data', () => end(socket)),
    )
    const send = await sendJsonTo(`https://127.0.0.1:${server.port}`)
    expect(await failureOf(start(send))).toMatchObject({ kind: 'not-sent' })
    expect(Buffer.concat(heard).includes('Bearer')).toBe(false)
    expect(server.connections).toHaveLength(1)
  })

  it('was not sent if the connection takes longer than its own limit', async () => {
    const server = await tcpServer(() => {})
    const send = await sendJsonTo(`https://127.0.0.1:${server.port}`, { connect: { timeout: 1 } })
    expect(await failureOf(start(send))).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT'),
    })
  })

  it('was not sent if the time limit passes in the TLS handshake', async () => {
    const server = await tcpServer(() => {})
    const clock = new FakeClock()
    const send = await sendJsonTo(`https://127.0.0.1:${server.port}`, { clock })
    const request = failureOf(start(send))
    await server.connected(1)
    expect(await clock.run(request)).toMatchObject({ kind: 'not-sent', reason: 'no complete response within 30 s' })
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
  })
})

describe('a request that reached the service', () => {
  it.each([
    ['closed', (response: ServerResponse) => response.socket?.end()],
    ['reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ])('has no response if the connection is then %s', async (_, end) => {
    const { server, get } = await respondingWith(end)
    expect(await failureOf(get())).toMatchObject({ kind: 'no-response' })
    expect(server.received).toHaveLength(1)
  })

  it('has no response if the service changes to another protocol', async () => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 101 Go on\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n')),
    )
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toMatchObject({ kind: 'no-response' })
  })

  it('has no response if early hints are all that comes', async () => {
    const { get } = await respondingWith((response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.socket?.end())
    })
    expect(await failureOf(get())).toMatchObject({ kind: 'no-response' })
  })

  it('has no response if what comes is not HTTP', async () => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.end('220 mail.example.com ESMTP\r\n')))
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await failureOf(send('GET', ['v1'], undefined, patient()))).toMatchObject({ kind: 'no-response' })
  })

  it.each([
    [undefined, 'no complete response within 30 s', REQUEST_LIMIT_MS],
    [3_712.3456, 'no complete response within 3.7 s', 3_712.3456],
    [90_000, 'no complete response within 30 s', REQUEST_LIMIT_MS],
  ])('has no response if the limit of %j ms passes', async (limitMs, reason, endMs) => {
    const server = await recordingServer(() => {})
    const clock = new FakeClock()
    const send = await sendJsonTo(server.origin, { clock })
    const request = failureOf(
      send('GET', ['v1'], undefined, { ...patient(), ...(limitMs === undefined ? {} : { limitMs }) }),
    )
    await server.arrived(1)
    expect(await clock.run(request)).toEqual({ kind: 'no-response', reason })
    expect(clock.now()).toBe(endMs)
    expect(server.received).toHaveLength(1)
  })

  it('has no response if the limit passes in the middle of the body', async () => {
    const begun = Promise.withResolvers<void>()
    const server = await recordingServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"status":', () => begun.resolve())
    })
    const clock = new FakeClock()
    const send = await sendJsonTo(server.origin, { clock })
    const request = failureOf(send('GET', ['v1'], undefined, patient()))
    await begun.promise
    expect(await clock.run(request)).toMatchObject({ kind: 'no-response' })
  })

  it('has no response if nothing but early hints comes until the limit', async () => {
    const hinted = Promise.withResolvers<void>()
    const server = await tcpServer((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000), () => hinted.resolve()),
      ),
    )
    const clock = new FakeClock()
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`, { clock })
    const request = failureOf(send('GET', ['v1'], undefined, patient()))
    await hinted.promise
    expect(await clock.run(request)).toMatchObject({ kind: 'no-response' })
    expect(clock.now()).toBe(REQUEST_LIMIT_MS)
  })

  it('leaves no timer behind when its response has come', async () => {
    const clock = new FakeClock()
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin, { clock })
    await send('GET', ['v1'], undefined, patient())
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow('nothing is left to wait for')
    expect(clock.now()).toBe(0)
  })
})

describe('whatever comes over the connection', () => {
  const piece = fc.constantFrom(
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 401 No\r\n',
    'HTTP/1.1 302 Found\r\nLocation: //[\r\n',
    'HTTP/1.1 103 Early Hints\r\n',
    'HTTP/1.1 101 Go on\r\nConnection: upgrade\r\nUpgrade: h2c\r\n',
    'HTTP/1.0 200 OK\r\n',
    'HTTP/1.1 000 \r\n',
    'Content-Length: 2\r\n',
    'Content-Length: 9999999999999999999\r\n',
    'Content-Type: application/json\r\n',
    'Content-Encoding: gzip\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Retry-After: Infinity\r\n',
    '\r\n',
    '{}',
    '2\r\n{}\r\n',
    '0\r\n\r\n',
    'fffffffffffffffff\r\n',
    '\0',
    ' ',
  )

  const opening = fc.oneof(
    piece,
    fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'),
  )

  it('ends the request, with a value or with a failure', async () => {
    let reply = ''
    const server = await tcpServer((socket) => socket.once('data', () => socket.end(reply)))
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    const ends = new Set<string>()
    await fc.assert(
      fc.asyncProperty(opening, fc.array(piece, { maxLength: 6 }), async (first, pieces) => {
        reply = first + pieces.join('')
        const end = await send('GET', ['v1'], undefined, patient()).then(
          () => ({ kind: 'value' }),
          (error: ServiceError) => error.failure,
        )
        ends.add(end.kind)
        expect(['value', 'no-response', 'invalid-response', 'status']).toContain(end.kind)
      }),
      { numRuns: 1_000 },
    )
    expect([...ends].toSorted()).toEqual(['invalid-response', 'no-response', 'status', 'value'])
  })
})

describe('the signal', () => {
  it('ends a request that waits for its response', async () => {
    const server = await recordingServer(() => {})
    const send = await sendJsonTo(server.origin)
    const abort = new AbortController()
    const request = failureOf(send('POST', ['v1'], {}, { signal: abort.signal }))
    await server.arrived(1)
    abort.abort()
    expect(await request).toEqual({ kind: 'aborted' })
    await new Promise((resolve) => server.connections[0]?.once('close', resolve))
  })

  it('keeps a request from being sent', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    expect(await failureOf(send('POST', ['v1'], {}, { signal: AbortSignal.abort() }))).toEqual({ kind: 'aborted' })
    expect(server.connections).toHaveLength(0)
  })

  it('is not listened to any more after a request, however it ended', async () => {
    const { signal } = new AbortController()
    const server = await recordingServer(json({ fine: true }))
    const send = await sendJsonTo(server.origin)
    await send('GET', ['v1'], undefined, { signal, signalUntilSent: signal })
    const unreachable = await sendJsonTo(`http://127.0.0.1:${await closedPort()}`)
    await failureOf(unreachable('GET', ['v1'], undefined, { signal, signalUntilSent: signal }))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('does nothing after the response', async () => {
    const server = await recordingServer(json({ fine: true }))
    const send = await sendJsonTo(server.origin)
    const abort = new AbortController()
    await send('GET', ['v1'], undefined, { signal: abort.signal, signalUntilSent: abort.signal })
    await betweenPolls()
    abort.abort()
    expect(await send('GET', ['v1'], undefined, patient())).toMatchObject({ json: { fine: true } })
    expect(server.connections).toHaveLength(1)
  })
})

describe('a response that lies in the socket already', () => {
  const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"runId":"r-1"}'

  /** Everything stands still, as on a machine that is suspended. */
  function standStill(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  }

  it('is taken before the time limit', async () => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write(RESPONSE)
        standStill(100)
      }),
    )
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`, { clock: systemClock })
    expect(await send('POST', ['v1'], {}, { ...patient(), limitMs: 50 })).toMatchObject({ json: { runId: 'r-1' } })
  })

  it('is taken before the signal', async () => {
    const abort = new AbortController()
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write(RESPONSE)
        abort.abort()
      }),
    )
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await send('POST', ['v1'], {}, { signal: abort.signal })).toMatchObject({ json: { runId: 'r-1' } })
  })

  it('has the id of a run whose start is awaited after a signal', async () => {
    const controller = new AbortController()
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        // Of the time that a start has after the signal, 50 ms are left.
        controller.abort(new StepCancelled('SIGINT', systemClock.now() - 8_950))
        socket.write(RESPONSE)
        standStill(100)
      }),
    )
    const service = projectRuns(await sendJsonTo(`http://127.0.0.1:${server.port}`, { clock: systemClock }), 'p')
    const log = { info: () => {}, warning: () => {} }
    const world = { service, clock: systemClock, random: Math.random, log, abort: controller.signal }
    expect(await startRun({}, 1e9, world)).toEqual({ kind: 'started', runId: 'r-1' })
  })

  it('confirms a cancel', async () => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n{"cancelled":[{"runId":"r"}]}')
        standStill(200)
      }),
    )
    const service = projectRuns(await sendJsonTo(`http://127.0.0.1:${server.port}`, { clock: systemClock }), 'p')
    const abort = new AbortController().signal
    const world = { service, clock: systemClock, random: Math.random, abort }
    expect(await cancelRun({ id: 'r' }, { limitMs: 100 }, world)).toEqual({ kind: 'cancelled' })
  })
})

describe('a request on a new connection', () => {
  /** Closes each connection instead of a second response on it, as services do with those that come too often. */
  async function oneResponseEach(responses: string[]) {
    return tcpServer((socket) =>
      socket.once('data', () => {
        socket.write(responses.shift() ?? '')
        socket.on('data', () => socket.destroy())
      }),
    )
  }
  const TOO_MANY = 'HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n'
  const STARTED = 'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"runId":"r-1"}'

  it('does not meet the end of the one before', async () => {
    const server = await oneResponseEach([TOO_MANY, STARTED])
    const send = await sendJsonTo(`http://127.0.0.1:${server.port}`)
    expect(await failureOf(send('POST', ['v1'], {}, patient()))).toMatchObject({ status: 429 })
    expect(await send('POST', ['v1'], {}, { ...patient(), onNewConnection: true })).toMatchObject({
      json: { runId: 'r-1' },
    })
    expect(server.connections).toHaveLength(2)
  })

  it('is how a start is sent again after 429', async () => {
    const server = await oneResponseEach([TOO_MANY, TOO_MANY, STARTED])
    const service = projectRuns(await sendJsonTo(`http://127.0.0.1:${server.port}`), 'p')
    const log = { info: () => {}, warning: () => {} }
    const abort = new AbortController().signal
    let nowMs = 0
    const sleep = async (ms: number) => {
      nowMs += ms
    }
    const clock = { ...systemClock, now: () => nowMs, sleep }
    expect(await startRun({}, 1e9, { service, clock, random: () => 0, log, abort })).toEqual({
      kind: 'started',
      runId: 'r-1',
    })
    expect(server.connections).toHaveLength(3)
  })
})

describe('the signal until sent', () => {
  const cancelled = { kind: 'not-sent', reason: 'the request was cancelled before it was sent' }

  it('keeps a request from being sent', async () => {
    const server = await recordingServer(json({}))
    const send = await sendJsonTo(server.origin)
    const options = { ...patient(), signalUntilSent: AbortSignal.abort() }
    expect(await failureOf(send('POST', ['v1'], {}, options))).toEqual(cancelled)
    expect(server.connections).toHaveLength(0)
  })

  it('ends a request in its handshake, after which nothing of it is sent', async () => {
    const certificate = selfSignedCertificate()
    const service = await recordingServer(json({ runId: 'r' }), certificate)
    // The handshake waits here until the test lets it go on.
    const go = Promise.withResolvers<void>()
    const gate = await tcpServer(async (socket) => {
      await go.promise
      const tunnel = connect(service.port, '127.0.0.1').on('error', () => {})
      tunnel.pipe(socket).pipe(tunnel)
    })
    const send = await sendJsonTo(`https://127.0.0.1:${gate.port}`, { connect: { ca: certificate.cert } })

    const abort = new AbortController()
    const request = failureOf(send('POST', ['v1'], {}, { ...patient(), signalUntilSent: abort.signal }))
    await gate.connected(1)
    abort.abort()
    expect(await request).toEqual(cancelled)

    go.resolve()
    await service.connected(1)
    const closed = new Promise((resolve) => service.connections[0]?.once('close', resolve))
    await Promise.race([closed, service.arrived(1)])
    expect(service.received).toEqual([])
  })

  it('leaves a request alone that has been sent', async () => {
    const go = Promise.withResolvers<void>()
    const server = await recordingServer(async (response, request) => {
      await go.promise
      json({ runId: 'r-1' })(response, request)
    })
    const send = await sendJsonTo(server.origin)
    const abort = new AbortController()
    const request = send('POST', ['v1'], {}, { ...patient(), signalUntilSent: abort.signal })
    await server.arrived(1)
    abort.abort()
    go.resolve()
    expect(await request).toMatchObject({ json: { runId: 'r-1' } })
  })
})
