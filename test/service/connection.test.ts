import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { forwardProxy } from '../support/forward-proxy.ts'
import { closedPort, json, listen, recordingServer, tcpServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { patient, sendJsonTo, trust } from '../support/service-requests.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function startAt(origin: string, httpsProxy?: string, noProxy = '') {
  const send = await sendJsonTo(origin, { proxies: { httpsProxy, noProxy } })
  return send('POST', ['v1', 'projects', 'p', 'runs'], {}, patient())
}

async function tlsService(respond = json({ runId: 'r-1' })) {
  const certificate = selfSignedCertificate()
  trust(certificate)
  const service = await recordingServer(respond, certificate)
  return { service, startThrough: (proxy: string, noProxy = '') => startAt(service.origin, proxy, noProxy) }
}

const STARTED = { json: { runId: 'r-1' } }

async function tlsProxy() {
  const certificate = selfSignedCertificate()
  trust(certificate)
  const proxy = await forwardProxy()
  const front = createTlsServer(certificate, (socket) => {
    const back = connect(Number(new URL(proxy.address).port), '127.0.0.1')
    socket.pipe(back).pipe(socket)
    for (const end of [socket, back]) end.on('error', () => end.destroy())
  })
  const { port } = await listen(front)
  return { ...proxy, address: `https://127.0.0.1:${port}` }
}

/** A SOCKS5 proxy (RFC 1928) for IPv4 addresses. With a login, it asks for the user and the password (RFC 1929). */
async function socksProxy(login = '') {
  const logins: string[] = []
  const proxy = await tcpServer(async (socket) => {
    const next = async (): Promise<Buffer> => (await once(socket, 'data'))[0]
    await next()
    if (login !== '') {
      socket.write(Buffer.from([5, 2]))
      const sent = await next()
      const [user, password] = [sent.subarray(2, 2 + (sent[1] ?? 0)), sent.subarray(3 + (sent[1] ?? 0))]
      logins.push(`${user} ${password}`)
      socket.write(Buffer.from([1, 0]))
    } else socket.write(Buffer.from([5, 0]))
    const request = await next()
    const back = connect(request.readUInt16BE(8), [...request.subarray(4, 8)].join('.'), () => {
      socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
      socket.pipe(back).pipe(socket)
    })
    for (const end of [socket, back]) end.on('error', () => end.destroy()).on('close', () => back.destroy())
  })
  return { ...proxy, logins, address: `socks5://${login}127.0.0.1:${proxy.port}` }
}

it.each(['https', 'http'])('the proxy variables of this process are not used for %s', async (scheme) => {
  const proxy = await forwardProxy()
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, proxy.address)
  onTestFinished(() => void vi.unstubAllEnvs())
  const certificate = selfSignedCertificate()
  trust(certificate)
  const service = await recordingServer(json({ runId: 'r-1' }), scheme === 'https' ? certificate : undefined)
  const send = await sendJsonTo(service.origin)
  expect(await send('POST', ['v1'], {}, patient())).toMatchObject(STARTED)
  expect(service.received).toMatchObject([{ target: '/v1', headers: { host: `127.0.0.1:${service.port}` } }])
  expect(proxy.connections).toHaveLength(0)
})

describe('the proxy for https', () => {
  it('makes a tunnel to any service, also on loopback, and cannot read the request', async () => {
    const { service, startThrough } = await tlsService()
    const proxy = await forwardProxy()
    expect(await startThrough(proxy.address)).toMatchObject(STARTED)
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${service.port}`])
    expect(proxy.headers[0]).not.toHaveProperty('authorization')
    expect(service.received[0]).toMatchObject({
      target: '/v1/projects/p/runs',
      headers: { host: `127.0.0.1:${service.port}`, authorization: 'Bearer key-1' },
    })
  })

  it('gets the name and the password in its address, and the service does not', async () => {
    const { service, startThrough } = await tlsService()
    const proxy = await forwardProxy()
    await startThrough(proxy.address.replace('//', '//ann:p%40ss@'))
    expect(proxy.headers[0]?.['proxy-authorization']).toBe(`Basic ${btoa('ann:p@ss')}`)
    expect(service.received[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  it('keeps its tunnel for later requests, also for one that follows at once', async () => {
    const { service } = await tlsService()
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    for (let poll = 0; poll < 3; poll++) await send('GET', ['v1'], undefined, patient())
    expect(service.received).toHaveLength(3)
    expect(proxy.asked).toHaveLength(1)
  })

  const refusing = async (refusal: string) => (await forwardProxy({ refusal })).address
  const closing = () => tcpServer((socket) => socket.once('data', () => socket.end()))
  it.each([
    ['refuses', () => refusing('502 Bad Gateway'), /502/],
    ['requires credentials', () => refusing('407 Proxy Authentication Required'), /407/],
    ['is not there', async () => `http://127.0.0.1:${await closedPort()}`, /ECONNREFUSED/],
    ['closes without a response', async () => `http://127.0.0.1:${(await closing()).port}`, /./],
  ])('%s, and the request was not sent', async (_, address, reason) => {
    const { service, startThrough } = await tlsService()
    const refused = { kind: 'not-sent', reason: expect.stringMatching(reason) }
    expect(await startThrough(await address())).toMatchObject(refused)
    expect(service.connections).toHaveLength(0)
  })

  it('breaks after the request went out, and the service may have taken the request', async () => {
    const { service, startThrough } = await tlsService(() => {})
    const proxy = await forwardProxy()
    const start = startThrough(proxy.address)
    await service.arrived
    for (const socket of proxy.connections) socket.destroy()
    expect(await start).toMatchObject({ kind: 'no-response' })
  })

  it('closes its tunnel if the request is aborted', async () => {
    const { service } = await tlsService(() => {})
    const proxy = await forwardProxy()
    const send = await sendJsonTo(service.origin, { proxies: { httpsProxy: proxy.address } })
    const controller = new AbortController()
    const request = send('GET', ['v1'], undefined, { signal: controller.signal })
    await service.arrived
    const closed = new Promise((resolve) => service.connections[0]?.once('close', resolve))
    controller.abort()
    expect(await request).toMatchObject({ kind: 'aborted' })
    await closed
  })

  it.each([
    ['spoken to in TLS', tlsProxy],
    ['a SOCKS proxy', () => socksProxy()],
  ])('may be %s', async (_, open) => {
    const { startThrough } = await tlsService()
    const proxy = await open()
    expect(await startThrough(proxy.address)).toMatchObject(STARTED)
    expect(proxy.connections).toHaveLength(1)
  })

  it('may be a SOCKS proxy with a user and a password, whose signs are encoded in the address', async () => {
    const { startThrough } = await tlsService()
    const proxy = await socksProxy('us%40er:p%3Aw@')
    expect(await startThrough(proxy.address)).toMatchObject(STARTED)
    expect(proxy.logins).toEqual(['us@er p:w'])
  })

  it('is not used for addresses that NO_PROXY names', async () => {
    const { startThrough } = await tlsService()
    const proxy = await forwardProxy()
    expect(await startThrough(proxy.address, 'example.com, 127.0.0.1')).toMatchObject(STARTED)
    expect(proxy.asked).toEqual([])
    expect(await startThrough(proxy.address, 'example.com')).toMatchObject(STARTED)
    expect(proxy.asked).toHaveLength(1)
  })
})

/** Lets a service have a weak certificate, which Node would otherwise refuse to serve. */
const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' }

describe('a request to a service whose certificate is not trusted is not sent, and the failure says why', () => {
  it.each([
    ['is signed by nobody known', /^self-signed certificate; .*DEPTH_ZERO_SELF_SIGNED_CERT$/, {}, false],
    ['is for another host', /altnames.*; ERR_TLS_CERT_ALTNAME_INVALID$/, { hosts: ['else.example'] }],
    ['has expired', /^certificate has expired; CERT_HAS_EXPIRED$/, { notAfter: new Date('2020-01-02') }],
    ['is not valid yet', /not yet valid; CERT_NOT_YET_VALID$/, { notBefore: new Date('2048-01-01') }],
    ['has a key that is too weak', /too weak.*; UNSPECIFIED$/, { rsaBits: 1024 }],
  ])('if it %s', async (_, reason, fields, isTrusted = true) => {
    const certificate = selfSignedCertificate(fields)
    if (isTrusted) trust(certificate)
    const server = await recordingServer(json({ runId: 'r' }), { ...WEAK, ...certificate })
    const refused = { failure: true, kind: 'not-sent', reason: expect.stringMatching(reason), problem: 'certificate' }
    expect(await startAt(server.origin)).toEqual(refused)
    const proxy = await forwardProxy()
    expect(await startAt(server.origin, proxy.address)).toEqual(refused)
    expect(proxy.asked).toHaveLength(1)
    expect(server.received).toEqual([])
  })

  it('whatever NODE_TLS_REJECT_UNAUTHORIZED says. A proxy with such a certificate gets no password', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const refused = { kind: 'not-sent', reason: expect.stringMatching('certificate'), problem: 'certificate' }
    const server = await recordingServer(json({ runId: 'r' }), selfSignedCertificate())
    const proxy = await forwardProxy()
    expect(await startAt(server.origin)).toMatchObject(refused)
    expect(await startAt(server.origin, proxy.address)).toMatchObject(refused)
    expect(proxy.asked).toHaveLength(1)
    const proxyWithPassword = server.origin.replace('//', '//ann:secret@')
    expect(await startAt('https://tests.example.com', proxyWithPassword)).toMatchObject(refused)
    expect(server.received).toEqual([])
  })
})

const certificate = selfSignedCertificate()
const tlsServer = (options: TlsOptions) => listen(createTlsServer({ ...certificate, ...options }))
const withClientCertificate = (version: 'TLSv1.2' | 'TLSv1.3') =>
  tlsServer({ requestCert: true, minVersion: version, maxVersion: version })

it.each([
  ['speaks plain HTTP', () => recordingServer(json({})), 'not-sent'],
  ['has no version in common', () => tlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ...WEAK }), 'not-sent'],
  ['wants a client certificate, in TLS 1.2', () => withClientCertificate('TLSv1.2'), 'not-sent'],
  // The client ends its handshake and sends before the service checks the client's certificate.
  ['wants a client certificate, in TLS 1.3', () => withClientCertificate('TLSv1.3'), 'no-response'],
])("a service with which no TLS connection can be made is reported with OpenSSL's code if it %s", async (_, open, kind) => {
  trust(certificate)
  const { port } = await open()
  expect(await startAt(`https://127.0.0.1:${port}`)).toMatchObject({
    kind,
    reason: expect.stringMatching(/^the TLS handshake failed, .*; ERR_SSL_\S+$/),
  })
})

// SSL_CERT_FILE names the machine's certificates for OpenSSL. The scenarios of the proxy test NODE_EXTRA_CA_CERTS.
it.runIf(process.platform === 'linux')('trusts what the machine trusts if NODE_USE_SYSTEM_CA is set', async () => {
  const certificate = selfSignedCertificate()
  const { origin } = await recordingServer(json({ runId: 'r-1' }), certificate)
  const file = join(temporaryFolder(), 'ca.pem')
  writeFileSync(file, certificate.cert)
  const script = `
    import { systemClock } from '${new URL('../../src/clock.ts', import.meta.url)}'
    import { openService } from '${new URL('../../src/service/client.ts', import.meta.url)}'
    const target = { kind: 'project', id: 'p' }
    const service = await openService({ baseUrl: new URL('${origin}'), apiKey: 'k', target, proxies: {} }, systemClock)
    const response = await service.start({}, { signal: new AbortController().signal })
    process.stdout.write(response.kind ?? response, () => process.exit())
  `
  const ends = ['1', ''].map(async (use) => {
    const env = { ...process.env, SSL_CERT_FILE: file, NODE_USE_SYSTEM_CA: use }
    return (await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env })).stdout
  })
  expect(await Promise.all(ends)).toEqual(['r-1', 'not-sent'])
})
