import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openConnections } from '../../src/service/connection.ts'
import { forwardProxy } from '../support/forward-proxy.ts'
import { closedPort, json, listen, recordingServer, tcpServer } from '../support/recording-server.ts'
import { type Certificate, selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { betweenPolls, failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

async function tlsService() {
  const certificate = selfSignedCertificate()
  trust(certificate)
  return recordingServer(json({ runId: 'r-1' }), certificate)
}

/** As if `NODE_EXTRA_CA_CERTS` named it, until the test ends. */
function trust({ cert }: Certificate): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  onTestFinished(() => setDefaultCACertificates(before))
}

/** A proxy that is spoken to in TLS. */
async function tlsProxy() {
  const certificate = selfSignedCertificate({ name: 'A proxy' })
  trust(certificate)
  const proxy = await forwardProxy()
  const front = createTlsServer(certificate, (socket) => {
    const back = connect(Number(new URL(proxy.address).port), '127.0.0.1')
    socket.pipe(back).pipe(socket)
    for (const end of [socket, back]) end.on('error', () => end.destroy())
  })
  const { port } = await listen(front)
  return { address: `https://127.0.0.1:${port}`, asked: () => proxy.asked }
}

/** A SOCKS5 proxy (RFC 1928) without authentication, for IPv4 addresses. */
async function socksProxy() {
  const proxy = await tcpServer((socket) =>
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', (request) => {
        const back = connect(request.readUInt16BE(8), [...request.subarray(4, 8)].join('.'), () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          socket.pipe(back).pipe(socket)
        })
        for (const end of [socket, back]) end.on('error', () => end.destroy()).on('close', () => back.destroy())
      })
    }),
  )
  return { address: `socks5://127.0.0.1:${proxy.port}`, connections: proxy.connections }
}

const START = ['POST', ['v1', 'projects', 'p', 'runs'], { branch: 'main' }] as const

describe('without a proxy', () => {
  it('the service is reached directly, over TLS', async () => {
    const service = await tlsService()
    const send = await sendJsonTo(service.origin)
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(service.received[0]?.headers.host).toBe(`127.0.0.1:${service.port}`)
  })

  it('the proxy variables of this process play no part', async () => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    process.env.https_proxy = proxy.address
    onTestFinished(() => {
      delete process.env.https_proxy
    })
    const send = await sendJsonTo(service.origin)
    await send(...START, patient())
    expect(proxy.asked).toEqual([])
  })
})

describe('the proxy for https', () => {
  it('is asked for a tunnel to the service, loopback or not, and sees nothing of the request', async () => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${service.port}`])
    expect(proxy.headers[0]).not.toHaveProperty('authorization')
    expect(service.received[0]).toMatchObject({
      target: '/v1/projects/p/runs',
      headers: { host: `127.0.0.1:${service.port}`, authorization: 'Bearer key-1' },
    })
  })

  it('gets the name and the password in its address, and the service does not', async () => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    const httpsProxy = proxy.address.replace('//', '//ann:p%40ss@')
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy } })
    await send(...START, patient())
    expect(proxy.headers[0]?.['proxy-authorization']).toBe(`Basic ${btoa('ann:p@ss')}`)
    expect(service.received[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  it('keeps its tunnel for the requests that follow', async () => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    for (let poll = 0; poll < 3; poll++) {
      await send('GET', ['v1'], undefined, patient())
      await betweenPolls()
    }
    expect(service.received).toHaveLength(3)
    expect(proxy.asked).toHaveLength(1)
  })

  it.each(['403 Forbidden', '502 Bad Gateway'])('refuses with %s, and the request was not sent', async (refusal) => {
    const service = await tlsService()
    const proxy = await forwardProxy({ refusal })
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await failureOf(send(...START, patient()))).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining(refusal.slice(0, 3)),
      hasProxy: true,
    })
    expect(service.connections).toHaveLength(0)
  })

  it('wants credentials, which no repetition would bring', async () => {
    const service = await tlsService()
    const proxy = await forwardProxy({ refusal: '407 Proxy Authentication Required' })
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await failureOf(send(...START, patient()))).toEqual({ kind: 'status', status: 407 })
    expect(service.connections).toHaveLength(0)
  })

  it('is not there, and the request was not sent', async () => {
    const service = await tlsService()
    const proxies = { httpsProxy: `http://127.0.0.1:${await closedPort()}` }
    const send = await sendJsonTo(service.origin, { proxies })
    expect(await failureOf(send(...START, patient()))).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
    expect(service.connections).toHaveLength(0)
  })

  it('closes without a response, and the request was not sent', async () => {
    const service = await tlsService()
    const proxy = await tcpServer((socket) => socket.once('data', () => socket.end()))
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: `http://127.0.0.1:${proxy.port}` } })
    expect(await failureOf(send(...START, patient()))).toMatchObject({ kind: 'not-sent' })
    expect(proxy.connections).toHaveLength(1)
    expect(service.connections).toHaveLength(0)
  })

  it('has lost the response if the tunnel breaks after the service took the request', async () => {
    const certificate = selfSignedCertificate()
    const proxy = await forwardProxy()
    const service = await recordingServer(() => proxy.cut(), certificate)
    trust(certificate)
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await failureOf(send(...START, patient()))).toMatchObject({ kind: 'no-response' })
    expect(service.received).toHaveLength(1)
    expect(proxy.asked).toHaveLength(1)
  })

  // In TLS 1.3 the alert comes after the connection is made, and the end of the connection right behind it.
  it.each(['', '127.0.0.1'])('hides no TLS alert of the service, with NO_PROXY %j', async (noProxy) => {
    const certificate = selfSignedCertificate()
    trust(certificate)
    const service = createTlsServer({ ...certificate, requestCert: true, minVersion: 'TLSv1.3' })
    service.on('tlsClientError', () => {})
    const { port } = await listen(service)
    const proxy = await forwardProxy()
    const proxies = { httpsProxy: proxy.address, noProxy }
    const send = await sendJsonTo(`https://127.0.0.1:${port}`, { proxies })
    expect(await failureOf(send(...START, patient()))).toEqual({
      kind: 'no-response',
      reason: expect.stringMatching(/client certificate.*\(ERR_SSL_.*ALERT.*\)$/),
    })
    expect(proxy.asked).toHaveLength(noProxy === '' ? 1 : 0)
  })

  it('may be spoken to in TLS', async () => {
    const service = await tlsService()
    const proxy = await tlsProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(proxy.asked()).toHaveLength(1)
  })

  it('may be a SOCKS proxy', async () => {
    const service = await tlsService()
    const proxy = await socksProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(proxy.connections).toHaveLength(1)
  })

  it('lets no request through that was cancelled while it made the tunnel', async () => {
    const go = Promise.withResolvers<void>()
    const service = await tlsService()
    const proxy = await forwardProxy({ until: go.promise })
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    const abort = new AbortController()
    const request = failureOf(send(...START, { ...patient(), signalUntilSent: abort.signal }))
    await proxy.asking()
    abort.abort()
    expect(await request).toMatchObject({ kind: 'not-sent' })

    go.resolve()
    await service.connected(1)
    const closed = new Promise((resolve) => service.connections[0]?.once('close', resolve))
    await Promise.race([closed, service.arrived(1)])
    expect(service.received).toEqual([])
  })
})

describe('plain http, which never leaves the machine', () => {
  it('goes through no proxy, whatever the proxy variables say', async () => {
    const service = await recordingServer(json({ runId: 'r-1' }))
    const proxy = await forwardProxy()
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) process.env[name] = proxy.address
    onTestFinished(() => {
      for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) delete process.env[name]
    })
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(service.received[0]?.target).toBe('/v1/projects/p/runs')
    expect(proxy.connections).toHaveLength(0)
  })
})

describe('NO_PROXY', () => {
  it.each([
    '127.0.0.1',
    '*',
    'example.com, 127.0.0.1',
    'example.com 127.0.0.1',
  ])('of %j has the service reached directly', async (noProxy) => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address, noProxy } })
    expect(await send(...START, patient())).toMatchObject({ json: { runId: 'r-1' } })
    expect(proxy.asked).toEqual([])
  })

  it.each(['example.com', 'localhost', '127.0.0.1:1'])('of %j does not', async (noProxy) => {
    const service = await tlsService()
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address, noProxy } })
    await send(...START, patient())
    expect(proxy.asked).toHaveLength(1)
  })
})

it('refuses the address of a proxy that is none', async () => {
  await expect(openConnections('https://tests.example.com', { httpsProxy: 'ftp//nowhere' })).rejects.toThrow()
})

describe('a certificate of an own authority', () => {
  const source = (path: string) => new URL(`../../src/${path}`, import.meta.url).href
  const script = `
    import { systemClock } from '${source('clock.ts')}'
    import { openService } from '${source('service/open-service.ts')}'
    const address = { baseUrl: new URL(process.argv[1]), apiKey: 'key', target: { kind: 'project', projectId: 'p' }, proxies: {} }
    const service = await openService(address, systemClock)
    const end = await service.start({}, { signal: new AbortController().signal }).catch((error) => error.failure.kind)
    process.stdout.write(end, () => process.exit())
  `

  /** The run's id as a process of its own gets it, or the kind of its failure. */
  async function startWith(variables: Readonly<Record<string, string>>, origin: string): Promise<string> {
    const env = { ...process.env, ...variables }
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, origin], { env })
    return (await run).stdout
  }

  async function serviceAndAuthority() {
    const certificate = selfSignedCertificate()
    const service = await recordingServer(json({ runId: 'r-1' }), certificate)
    const folder = mkdtempSync(join(tmpdir(), 'ca-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'ca.pem')
    writeFileSync(file, certificate.cert)
    return { service, file }
  }

  it('is trusted if NODE_EXTRA_CA_CERTS names it, and only then', async () => {
    const { service, file } = await serviceAndAuthority()
    const ends = [file, ''].map((path) => startWith({ NODE_EXTRA_CA_CERTS: path }, service.origin))
    expect(await Promise.all(ends)).toEqual(['r-1', 'untrusted-certificate'])
    expect(service.received).toHaveLength(1)
  })

  // Where OpenSSL looks for the machine's certificates, SSL_CERT_FILE says.
  it.runIf(process.platform === 'linux')(
    'is trusted if the machine trusts it and NODE_USE_SYSTEM_CA is set',
    async () => {
      const { service, file } = await serviceAndAuthority()
      const ends = ['1', ''].map((use) => startWith({ SSL_CERT_FILE: file, NODE_USE_SYSTEM_CA: use }, service.origin))
      expect(await Promise.all(ends)).toEqual(['r-1', 'untrusted-certificate'])
    },
  )
})
