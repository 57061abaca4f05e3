import { createServer } from 'node:https'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { forwardProxy } from '../support/forward-proxy.ts'
import { json, listen, recordingServer } from '../support/recording-server.ts'
import { type CertificateOptions, type Issuer, selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { failureOf, patient, type SendOptions, sendJsonTo } from '../support/service-requests.ts'

const AUTHORITY = selfSignedCertificate({ name: 'An authority' })
const SHA1_AUTHORITY = selfSignedCertificate({ name: 'An old authority', digest: 'sha1' })
const LEAF_AUTHORITY = selfSignedCertificate({ name: 'An authority of leaves only', pathLength: 0 })

/** As if `NODE_EXTRA_CA_CERTS` named them. */
beforeAll(() => {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, AUTHORITY.cert, SHA1_AUTHORITY.cert, LEAF_AUTHORITY.cert])
  return () => setDefaultCACertificates(before)
})

function issued(options: CertificateOptions): Issuer {
  return selfSignedCertificate({ name: 'A service', issuer: AUTHORITY, ...options })
}

/** With the certificates that lead to an authority, as servers send them. */
function chained(leaf: Issuer, ...authorities: readonly Issuer[]): Issuer {
  return { ...leaf, cert: leaf.cert + authorities.map(({ cert }) => cert).join('') }
}

async function startAt(origin: string, options?: SendOptions) {
  const send = await sendJsonTo(origin, options)
  return failureOf(send('POST', ['v1', 'projects', 'p', 'runs'], {}, patient()))
}

/** A service with a weak certificate must not refuse it itself. */
const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' }

describe('a certificate that cannot be trusted ends a request for good, and nothing is sent', () => {
  const intermediate = selfSignedCertificate({ name: 'In between', issuer: LEAF_AUTHORITY })
  const weakAuthority = issued({ name: 'A weak authority', rsaBits: 1024 })
  it.each<[string, Issuer, string]>([
    ['nobody known has signed it', selfSignedCertificate(), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['it is for another host', issued({ hosts: ['elsewhere.example'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['it has expired', issued({ notAfter: new Date('2020-01-02') }), 'CERT_HAS_EXPIRED'],
    ['it is not valid yet', issued({ notBefore: new Date('2048-01-01') }), 'CERT_NOT_YET_VALID'],
    [
      'too many authorities lead to it',
      chained(issued({ issuer: intermediate }), intermediate),
      'PATH_LENGTH_EXCEEDED',
    ],
    ['its key is too weak', issued({ rsaBits: 1024 }), 'UNSPECIFIED'],
    ['its digest is too weak', issued({ issuer: SHA1_AUTHORITY }), 'UNSPECIFIED'],
    ['its authority has a weak key', chained(issued({ issuer: weakAuthority }), weakAuthority), 'UNSPECIFIED'],
  ])('if %s', async (_, certificate, code) => {
    const server = await recordingServer(json({ runId: 'r' }), { ...WEAK, ...certificate })
    const refused = { kind: 'untrusted-certificate', code }
    expect(await startAt(server.origin)).toEqual(refused)
    const proxy = await forwardProxy()
    expect(await startAt(server.origin, { proxies: { httpsProxy: proxy.address } })).toEqual(refused)
    expect(server.received).toEqual([])
  })
})

describe('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored', () => {
  const untrusted = { kind: 'untrusted-certificate', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
  const certificate = selfSignedCertificate()

  async function startWithoutChecks(origin: string, httpsProxy?: string) {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    onTestFinished(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    })
    return startAt(origin, { proxies: { httpsProxy } })
  }

  it('by a connection', async () => {
    const server = await recordingServer(json({ runId: 'r' }), certificate)
    expect(await startWithoutChecks(server.origin)).toEqual(untrusted)
    expect(server.received).toEqual([])
  })

  it('by the tunnel of a proxy', async () => {
    const server = await recordingServer(json({ runId: 'r' }), certificate)
    const proxy = await forwardProxy()
    expect(await startWithoutChecks(server.origin, proxy.address)).toEqual(untrusted)
    expect(proxy.asked).toHaveLength(1)
    expect(server.received).toEqual([])
  })

  it('by the connection to a proxy, which learns no password then', async () => {
    const proxy = await recordingServer(json({}), certificate)
    const address = proxy.origin.replace('//', '//ann:secret@')
    expect(await startWithoutChecks('https://tests.example.com', address)).toEqual(untrusted)
    expect(proxy.received).toEqual([])
  })
})

describe('a service that speaks no TLS with us', () => {
  const certificate = issued({})
  const tlsServer = (options: TlsOptions) => listen(createTlsServer({ ...certificate, ...options }))

  it('says so if it speaks plain HTTP', async () => {
    const { port } = await recordingServer(json({}))
    expect(await startAt(`https://127.0.0.1:${port}`)).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringMatching(/plain HTTP .*\(ERR_SSL_\w+\)$/),
    })
  })

  it('says so if it has no version in common', async () => {
    const { port } = await tlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ...WEAK })
    expect(await startAt(`https://127.0.0.1:${port}`)).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringMatching(/no TLS version .*\(ERR_SSL_\w+\)$/),
    })
  })

  it('says so if it offers HTTP/2 only', async () => {
    const { port } = await tlsServer({ ALPNProtocols: ['h2'] })
    expect(await startAt(`https://127.0.0.1:${port}`)).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringMatching(/HTTP\/2 only.*\(ERR_SSL_\w+\)$/),
    })
  })

  it.each([
    ['TLSv1.2', 'not-sent'],
    // In TLS 1.3 the client is done, and sends, before the service looks at its certificate.
    ['TLSv1.3', 'no-response'],
  ] as const)('says so if it wants a client certificate, in %s', async (version, kind) => {
    const options = { requestCert: true, minVersion: version, maxVersion: version }
    const server = createServer({ ...certificate, ...options }, (_, response) => response.end('{}'))
    const { port } = await listen(server)
    expect(await startAt(`https://127.0.0.1:${port}`)).toMatchObject({
      kind,
      reason: expect.stringMatching(/client certificate.*\(ERR_SSL_.*ALERT.*\)$/),
    })
  })
})
