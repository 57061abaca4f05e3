import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createSend, type Request } from '../../src/check/exchange.ts'
import { KEY } from './a-service-in-memory.ts'

const READ: Request = { endpoint: 'read', method: 'GET', path: '/v1/projects/shop/runs/1' }
const LARGE = Buffer.alloc(17 * 1024 * 1024, ' ')

async function send(listener: RequestListener, request: Partial<Request> = {}, signal = new AbortController().signal) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return createSend({ url: new URL(`http://127.0.0.1:${port}/api/`), key: KEY })({ ...READ, ...request }, signal)
}

it('sends the key, the body and the path below that of the address', async () => {
  const reply = await send(
    ({ headers, url, method }, to) =>
      to.end(JSON.stringify([method, url, headers.authorization, headers['content-type']])),
    { endpoint: 'start', method: 'POST', path: '/v1/projects/shop/runs', body: '{}' },
  )
  expect(reply.response?.json).toEqual(['POST', '/api/v1/projects/shop/runs', `Bearer ${KEY}`, 'application/json'])
})

it('follows no redirect', async () => {
  const reply = await send((_, to) => to.writeHead(302, { location: '/elsewhere' }).end())
  expect(reply.response).toMatchObject({ status: 302, headers: { location: '/elsewhere' } })
})

it.each<[string, RequestListener]>([
  ['text', (_, to) => to.end('<html>')],
  ['half of a JSON text', (_, to) => to.end('{"status":')],
  ['no text', (_, to) => to.end()],
  ['a text that begins with a byte order mark', (_, to) => to.end('\ufeff{"status":"PASSED"}')],
  ['a text that is not UTF-8', (_, to) => to.end(Buffer.from('{"error":"\xff"}', 'latin1'))],
])('has no JSON for %s', async (_case, listener) => {
  const { response } = await send(listener)
  expect(response).toMatchObject({ status: 200 })
  expect(response).not.toHaveProperty('json')
})

it.each<[string, RequestListener, string]>([
  ['a reset', ({ socket }) => socket.resetAndDestroy(), 'ECONNRESET'],
  ['half of a body', (_, to) => to.writeHead(200, { 'content-length': 9 }).write('{', () => to.destroy()), 'aborted'],
  ['what is not HTTP', ({ socket }) => socket.end('HELLO\r\n\r\n'), 'Parse Error'],
  ['a body of 17 MiB', (_, to) => to.end(LARGE), 'the body is larger than 16 MiB'],
  [
    'a small body that becomes one of 17 MiB',
    (_, to) => to.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(LARGE)),
    'the body cannot be decompressed to at most 16 MiB',
  ],
])('has a failure for %s', async (_case, listener, failure) => {
  expect(await send(listener)).toEqual({ failure: expect.stringContaining(failure) })
})

it('reads a compressed body', async () => {
  const reply = await send((_, to) => to.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')))
  expect(reply.response?.json).toEqual({ a: 1 })
})

it('has neither a response nor a failure if the check itself ends the request', async () => {
  const stop = new AbortController()
  expect(await send(() => stop.abort(), {}, stop.signal)).toEqual({})
})
