import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { handleRequest, ok } from '../../src/http/request-handler.ts'
import { KEY, startPuppetService, until } from '../support/a-local-service.ts'

const RUNS = '/v1/projects/web-shop/runs'

it('a client without a key gets its 401 before it has sent a body, and while it is sending a large body', async () => {
  const { url } = await startPuppetService()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  socket.write(`POST ${RUNS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n`)
  await until(() => received.includes('API key is missing or invalid'))
  expect(received).toMatch(/^HTTP\/1\.1 401 /)
  expect((await fetch(url + RUNS, { method: 'POST', body: 'x'.repeat(5_000_000) })).status).toBe(401)
})

it('whatever a request asks for, it gets a documented status and, if it is refused, one sentence', async () => {
  const anyId = fc.oneof(fc.string(), fc.constantFrom('..', '.', '%', '%00', '%2e%2e', '__proto__', 'constructor'))
  const anyPath = fc.oneof(
    fc.array(anyId, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
    fc.constantFrom(RUNS, `${RUNS}/cancel`, '/v1/testSuite/smoke/run'),
    anyId.map((id) => `${RUNS}/${id}`),
    anyId.map((id) => `/v1/testSuiteRun/${id}/result`),
    fc.string(),
  )
  const anyBody = fc.oneof(fc.string(), fc.json(), fc.constant(undefined))
  const respond = async () => ok({})
  const runs = { startRun: respond, getRun: respond, getOutput: respond, cancelRun: respond }
  const backend = { ...runs, startSuite: respond, getSuiteStatus: respond, getSuiteResult: respond }
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', '__proto__')
  const types = fc.constantFrom('application/json', 'application/json;', 'text/plain', undefined)
  await fc.assert(
    fc.asyncProperty(methods, anyPath, anyBody, types, async (method, target, body, type) => {
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': type }
      const { status, body: response } = await handleRequest(
        { method, target, headers, readBody: async () => body },
        KEY,
        backend,
      )
      expect([200, 400, 404]).toContain(status)
      if (status !== 200) expect(response).toEqual({ error: expect.stringMatching(/^[^\r\n]+\.$/) })
    }),
    { numRuns: 1_000 },
  )
})
