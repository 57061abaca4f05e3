import { generateKeyPairSync } from 'node:crypto'
import { isIP } from 'node:net'
import forge from 'node-forge'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

export interface CertificateOptions {
  readonly hosts?: readonly string[]
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly rsaBits?: number
}

/** A new self-signed certificate. So the repository contains no key, and no certificate expires. */
export function selfSignedCertificate(options: CertificateOptions = {}): Certificate {
  const { hosts = ['127.0.0.1', 'localhost'], rsaBits = 2048 } = options
  const key = keyOf(rsaBits)
  const signer = forge.pki.privateKeyFromPem(key)
  const certificate = forge.pki.createCertificate()
  certificate.serialNumber = '01'
  certificate.publicKey = forge.pki.setRsaPublicKey(signer.n, signer.e)
  certificate.validity.notBefore = options.notBefore ?? new Date('2020-01-01')
  certificate.validity.notAfter = options.notAfter ?? new Date('2049-01-01')
  const name = [{ name: 'commonName', value: 'A test server' }]
  certificate.setSubject(name)
  certificate.setIssuer(name)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    {
      name: 'subjectAltName',
      altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
    },
  ])
  certificate.sign(signer, forge.md.sha256.create())
  return { key, cert: forge.pki.certificateToPem(certificate) }
}

const keys = new Map<number, string>()

/** One key for all certificates, because making a key takes long. */
function keyOf(bits: number): string {
  const made = keys.get(bits)
  if (made !== undefined) return made
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  keys.set(bits, key)
  return key
}
