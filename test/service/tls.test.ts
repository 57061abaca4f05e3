import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { forwardProxy } from '../support/forward-proxy.ts'
import { json, listen, recordingServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { failureOf, patient, sendJsonTo, trust } from '../support/service-requests.ts'

async function startAt(origin: string, httpsProxy?: string) {
  const send = await sendJsonTo(origin, { proxies: { httpsProxy } })
  return failureOf(send('POST', ['v1', 'projects', 'p', 'runs'], {}, patient()))
}

/** Lets a service have a weak certificate, which Node would otherwise refuse to serve. */
const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' }

describe('a request to a service whose certificate is not trusted is not sent, and the failure says why', () => {
  it.each([
    [
      'nobody known has signed it',
      /^self-signed certificate; .*DEPTH_ZERO_SELF_SIGNED_CERT$/,
      selfSignedCertificate(),
      false,
    ],
    [
      'it is for another host',
      /does not match certificate's altnames.*; ERR_TLS_CERT_ALTNAME_INVALID$/,
      selfSignedCertificate({ hosts: ['else.example'] }),
    ],
    [
      'it has expired',
      'certificate has expired; CERT_HAS_EXPIRED',
      selfSignedCertificate({ notAfter: new Date('2020-01-02') }),
    ],
    [
      'it is not valid yet',
      'certificate is not yet valid; CERT_NOT_YET_VALID',
      selfSignedCertificate({ notBefore: new Date('2048-01-01') }),
    ],
    ['its key is too weak', /too weak.*; UNSPECIFIED$/, selfSignedCertificate({ rsaBits: 1024 })],
  ])('if %s', async (_, reason, certificate, isTrusted = true) => {
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
    const refused = {
      failure: true,
      kind: 'not-sent',
      reason: expect.stringMatching('certificate'),
      problem: 'certificate',
    }
    const server = await recordingServer(json({ runId: 'r' }), selfSignedCertificate())
    const proxy = await forwardProxy()
    expect(await startAt(server.origin)).toEqual(refused)
    expect(await startAt(server.origin, proxy.address)).toEqual(refused)
    expect(proxy.asked).toHaveLength(1)
    expect(await startAt('https://tests.example.com', server.origin.replace('//', '//ann:secret@'))).toEqual(refused)
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
