import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type Failure, isFailure } from '../../src/model/failure.ts'
import { openConnections, type Proxies } from '../../src/service/connection.ts'
import { keyRedaction } from '../../src/service/key-redaction.ts'
import { createSendJson } from '../../src/service/requests.ts'
import type { RequestOptions } from '../../src/service/transport.ts'
import { FakeClock } from './fake-clock.ts'
import type { Certificate } from './self-signed-certificate.ts'

export interface SendOptions {
  /** By default, the time of the clock stands still. */
  readonly clock?: Clock
  readonly proxies?: Proxies
  readonly apiKey?: string
}

/** The client's requests to a real address, whose responses are not decoded. Its connections close when the test ends. */
export async function sendJsonTo(baseUrl: string, options: SendOptions = {}) {
  const { clock = new FakeClock(), proxies = {}, apiKey = 'key-1' } = options
  const connections = await openConnections(new URL(baseUrl).origin, proxies)
  onTestFinished(() => connections.renew())
  const redact = keyRedaction(apiKey)
  const settings = { baseUrl: new URL(baseUrl), apiKey, redact, userAgent: 'a-test/1', connections, clock }
  const send = createSendJson(settings)
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
