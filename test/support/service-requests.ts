import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type Failure, isFailure } from '../../src/model/failure.ts'
import { openConnections, type Proxies } from '../../src/service/connection.ts'
import { keyRedaction } from '../../src/service/key-redaction.ts'
import { createSendJson, type SendJson } from '../../src/service/requests.ts'
import type { RequestOptions } from '../../src/service/transport.ts'
import type { Fragment } from '../../src/text/safe-text.ts'
import { FakeClock } from './fake-clock.ts'
import type { Certificate } from './self-signed-certificate.ts'

export interface SendOptions {
  /** By default, the time of the clock stands still. */
  readonly clock?: Clock
  readonly proxies?: Proxies
  readonly apiKey?: string
  readonly debug?: ((message: Fragment) => void) | undefined
}

/** The client's requests to a real address. Its connections close when the test ends. */
export async function senderTo(baseUrl: string, options: SendOptions = {}): Promise<SendJson> {
  const { clock = new FakeClock(), proxies = {}, apiKey = 'key-1', debug } = options
  const connections = await openConnections(new URL(baseUrl).origin, proxies)
  onTestFinished(() => connections.renew())
  return createSendJson({
    baseUrl: new URL(baseUrl),
    apiKey,
    redact: keyRedaction(apiKey),
    userAgent: 'a-test/1',
    connections,
    clock,
    debug,
  })
}

/** The same requests, whose responses are not decoded. */
export async function sendJsonTo(baseUrl: string, sendOptions?: SendOptions) {
  const send = await senderTo(baseUrl, sendOptions)
  return (method: 'GET' | 'POST', path: readonly string[], body: object | undefined, options: RequestOptions) =>
    send({ method, path, body }, options, (json, text) => ({ json, text }))
}

/** As if `NODE_EXTRA_CA_CERTS` named it, until the test ends. */
export function trust({ cert }: Certificate): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  onTestFinished(() => setDefaultCACertificates(before))
}

export function patient(): RequestOptions {
  return { signal: new AbortController().signal }
}

/** Waits until a connection can take another request. Between two polls, there is always more time. */
export async function betweenPolls(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await eventLoopTurn()
}

/** Why a request failed. Throws if the request succeeds. */
export async function failureOf(request: Promise<unknown>): Promise<Failure> {
  const response = await request
  if (isFailure(response)) return response
  throw new Error(`The request succeeded with ${JSON.stringify(response)}`)
}

/** What a request brought. Throws if it fails. */
export async function responseOf<T>(request: Promise<T | Failure>): Promise<T> {
  const response = await request
  if (isFailure(response)) throw new Error(`The request failed: ${JSON.stringify(response)}`)
  return response
}
