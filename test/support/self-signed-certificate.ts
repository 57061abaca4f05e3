import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { isIP } from 'node:net'

/** PEM texts, as Node's TLS servers take them. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

export interface CertificateOptions {
  /** Host names and IPv4 addresses that it is good for. */
  readonly hosts?: readonly string[]
  readonly notBefore?: Date
  /** Before 2050. */
  readonly notAfter?: Date
  /** Its subject. */
  readonly name?: string
  /** How many authorities may stand between it and a certificate that it leads to. */
  readonly pathLength?: number
  /** An RSA key of so many bits; without it, one that is strong. */
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
  const { hosts = ['127.0.0.1', 'localhost'], name = 'A test server', digest = 'sha256', issuer, rsaBits } = options
  const { notBefore = new Date('2020-01-01'), notAfter = new Date('2049-01-01'), pathLength } = options
  const { publicKey, privateKey } =
    rsaBits === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: rsaBits })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const signer = issuer ?? { key, name, digest }
  const signingKey = createPrivateKey(signer.key)
  const algorithm = OID[`${signingKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ecdsa'}-${signer.digest}`]
  const constraints = pathLength === undefined ? [TRUE] : [TRUE, der(0x02, Buffer.from([pathLength]))]
  const content = sequence(
    der(0xa0, VERSION_3),
    der(0x02, Buffer.from([1])),
    algorithm,
    distinguishedName(signer.name),
    sequence(utcTime(notBefore), utcTime(notAfter)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(OID.basicConstraints, der(0x04, sequence(...constraints))),
        sequence(OID.subjectAltName, der(0x04, sequence(...hosts.map(altName)))),
      ),
    ),
  )
  const certificate = sequence(content, algorithm, bits(sign(signer.digest, content, signingKey)))
  return { key, cert: pem(certificate), name, digest }
}

function distinguishedName(name: string): Buffer {
  return sequence(set(sequence(OID.commonName, der(0x0c, Buffer.from(name)))))
}

// X.509 (RFC 5280) in DER: a tag, a length and the content, within one another.

const VERSION_3 = Buffer.from([0x02, 1, 2])
const TRUE = Buffer.from([0x01, 1, 0xff])

const OID = {
  commonName: Buffer.from('0603550403', 'hex'),
  basicConstraints: Buffer.from('0603551d13', 'hex'),
  subjectAltName: Buffer.from('0603551d11', 'hex'),
  // Algorithm identifiers: the object identifier in a sequence of its own.
  'ecdsa-sha256': Buffer.from('300a06082a8648ce3d040302', 'hex'),
  'ecdsa-sha1': Buffer.from('300906072a8648ce3d0401', 'hex'),
  'rsa-sha256': Buffer.from('300d06092a864886f70d01010b0500', 'hex'),
  'rsa-sha1': Buffer.from('300d06092a864886f70d0101050500', 'hex'),
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const lengthOctets = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengthOctets]), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

function set(part: Buffer): Buffer {
  return der(0x31, part)
}

function bits(content: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.from([0]), content]))
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

function altName(host: string): Buffer {
  return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{1,64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`
}
