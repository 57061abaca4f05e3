import { generateKeyPairSync } from 'node:crypto'
import { isIP } from 'node:net'
import forge from 'node-forge'

/** PEM texts, as Node's TLS servers take them. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

export interface CertificateOptions {
  /** Host names and IP addresses that it is good for. */
  readonly hosts?: readonly string[]
  readonly notBefore?: Date
  readonly notAfter?: Date
  /** Its subject. */
  readonly name?: string
  /** How many authorities may stand between it and a certificate that it leads to. */
  readonly pathLength?: number
  readonly rsaBits?: number
  /** What signs with its key: itself, and those that it issues. */
  readonly digest?: 'sha256' | 'sha1'
  /** Who signs it, instead of itself. */
  readonly issuer?: Issuer
}

export interface Issuer extends Certificate {
  readonly name: string
  readonly digest: 'sha256' | 'sha1'
}

/** A certificate that signs itself and may sign others, made anew: no key lies in the repository, none runs out. */
export function selfSignedCertificate(options: CertificateOptions = {}): Issuer {
  const { hosts = ['127.0.0.1', 'localhost'], name = 'A test server', digest = 'sha256', rsaBits = 2048 } = options
  const { pathLength } = options
  const key = keyOf(rsaBits)
  const { n, e } = forge.pki.privateKeyFromPem(key)
  const signer = options.issuer ?? { key, name, digest }
  const certificate = forge.pki.createCertificate()
  certificate.serialNumber = '01'
  certificate.publicKey = forge.pki.setRsaPublicKey(n, e)
  certificate.validity.notBefore = options.notBefore ?? new Date('2020-01-01')
  certificate.validity.notAfter = options.notAfter ?? new Date('2049-01-01')
  certificate.setSubject([{ name: 'commonName', value: name }])
  certificate.setIssuer([{ name: 'commonName', value: signer.name }])
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, ...(pathLength !== undefined && { pathLenConstraint: pathLength }) },
    {
      name: 'subjectAltName',
      altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
    },
  ])
  certificate.sign(forge.pki.privateKeyFromPem(signer.key), forge.md[signer.digest].create())
  return { key, cert: forge.pki.certificateToPem(certificate), name, digest }
}

const keys = new Map<number, string>()

/** One for all certificates, because to make it takes longer than all the rest. */
function keyOf(bits: number): string {
  const made = keys.get(bits)
  if (made !== undefined) return made
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  keys.set(bits, key)
  return key
}
