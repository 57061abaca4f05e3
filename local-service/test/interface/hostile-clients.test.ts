import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startService, until } from '../support/a-local-service.ts'

const RUNS = '/v1/projects/web-shop/runs'

it('a client without a key gets its 401 before it has sent a body, and while it is sending a large body', async () => {
  const { url } = await startService()
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
