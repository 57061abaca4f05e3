import { type Clock, pendingEvents } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'
import type { Fragment } from '../text/safe-text.ts'
import { messageOf, untrusted } from '../text/untrusted.ts'
import { isLoopback } from '../text/web-address.ts'
import type { Connections, HttpRequest, HttpResponse } from './connection.ts'
import type { Redact } from './key-redaction.ts'

export const BODY_LIMIT_BYTES = 16 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

export interface RequestOptions {
  readonly signal: AbortSignal
  /** If the request has been sent when the signal aborts, its response is still awaited for this long. */
  readonly graceIfSentMs?: (() => number) | undefined
  /** The time limit of the request. By default it is 30 s, and it is never longer. */
  readonly limitMs?: number | undefined
}

export interface TransportSettings {
  readonly baseUrl: URL
  readonly apiKey: string
  /** Applied to each body before it is decoded, and to all other text from outside. Places that join or cut such text apply it again. */
  readonly redact: Redact
  readonly userAgent: string
  readonly connections: Connections
  readonly clock: Clock
  /** Absent if debug logging is off. */
  readonly debug?: ((message: Fragment) => void) | undefined
}

/** A response without the key. If its status is not 2xx, the text may be incomplete. */
export interface ServiceResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/** Sends one request once. Does not follow redirects. Never rejects. */
export async function send(
  request: HttpRequest,
  options: RequestOptions,
  settings: TransportSettings,
): Promise<ServiceResponse | Failure> {
  if (options.signal.aborted) return ABORTED_BEFORE_SENT
  const exchange = new Exchange(settings)
  const closeConnection = new AbortController()
  const stopTimers = new AbortController()
  // The first of the two counts.
  const end = await Promise.race([
    exchange.receive(request, closeConnection.signal),
    interruption(exchange, options, settings.clock, stopTimers.signal),
  ])
  stopTimers.abort()
  if (isFailure(end)) closeConnection.abort()
  return exchange.result(end)
}

const ABORTED: Failure = { failure: true, kind: 'aborted' }

const ABORTED_BEFORE_SENT: Failure = {
  failure: true,
  kind: 'not-sent',
  reason: 'the step was aborted before the request was sent',
}

/** Returns when the time limit of the request has passed, or when the signal ends the request. */
async function interruption(
  exchange: Exchange,
  { signal, graceIfSentMs, limitMs = REQUEST_LIMIT_MS }: RequestOptions,
  clock: Clock,
  stopTimers: AbortSignal,
): Promise<Failure> {
  const ms = Math.min(limitMs, REQUEST_LIMIT_MS)
  const deadlineMs = clock.now() + ms
  const sleep = async (forMs: number, until: AbortSignal) => {
    await clock.sleep(forMs, until)
    // If the process was frozen, the response may have arrived meanwhile. Node calls timers first, so it has not read the response yet.
    if (exchange.isSent) await pendingEvents()
  }
  await sleep(ms, AbortSignal.any([signal, stopTimers]))
  // The response has come, so nobody reads this failure.
  if (stopTimers.aborted) return ABORTED
  if (!signal.aborted) {
    const within = `within ${Number((ms / 1000).toPrecision(2))} s`
    if (!exchange.isSent) return { failure: true, kind: 'not-sent', reason: `no connection ${within}` }
    return { failure: true, kind: 'no-response', reason: `no complete response ${within}` }
  }
  if (!exchange.isSent) return ABORTED_BEFORE_SENT
  const graceMs = Math.min(graceIfSentMs?.() ?? 0, deadlineMs - clock.now())
  if (graceMs > 0) await sleep(graceMs, stopTimers)
  return ABORTED
}

type Head = Omit<HttpResponse, 'body'>

/** One request and what has come of its response. */
class Exchange {
  /** Set immediately before the first byte is written. So without it, the service cannot have received the request. */
  isSent = false
  #head: Head | undefined
  readonly #settings: TransportSettings
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(settings: TransportSettings) {
    this.#settings = settings
  }

  /** Returns the head when the whole response has come. */
  async receive(request: HttpRequest, closeConnection: AbortSignal): Promise<Head | Failure> {
    const { connections, redact, baseUrl } = this.#settings
    try {
      const response = await connections.request(request, closeConnection, () => {
        this.isSent = true
      })
      if (response.status < 200) {
        return { failure: true, kind: 'no-response', reason: `the status ${response.status} is not expected` }
      }
      this.#head = response
      for await (const chunk of response.body) {
        this.#bytes += chunk.byteLength
        if (this.#bytes > BODY_LIMIT_BYTES) return TOO_LARGE
        this.#chunks.push(chunk)
      }
      return response
    } catch (error) {
      if (!this.isSent) return failureToConnect(error, redact, isLoopback(baseUrl))
      if (this.#head === undefined) return { failure: true, kind: 'no-response', reason: redact(reasonOf(error)) }
      return invalid('a complete response', `${this.#bytes} bytes, then the end of the connection`)
    }
  }

  /** A response whose status is not 2xx counts even if a part of its body is missing, because its status says enough. */
  result(end: Head | Failure): ServiceResponse | Failure {
    if (!isFailure(end)) return this.#response(end)
    if (this.#head !== undefined && !isSuccess(this.#head.status)) return this.#response(this.#head)
    return end
  }

  #response({ status, headers }: Head): ServiceResponse | Failure {
    const { redact } = this.#settings
    const header = (name: string) => {
      const value = headers[name]
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? undefined : redact(first)
    }
    const body = unpacked(Buffer.concat(this.#chunks), header('content-encoding'))
    if (isFailure(body) && isSuccess(status)) return body
    // TextDecoder also removes the byte order mark that some servers put before the text.
    return { status, header, text: isFailure(body) ? '' : redact(new TextDecoder().decode(body)) }
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

function invalid(expected: string, words: string): Failure {
  return { failure: true, kind: 'invalid-response', expected, got: { words } }
}

const TOO_LARGE = invalid(`a body of at most ${BODY_LIMIT_BYTES} bytes`, 'a larger body')

/** The action asks for bodies that are not packed, but some servers pack them all the same. A small body may become very large. */
function unpacked(body: Buffer, contentEncoding = 'identity'): Buffer | Failure {
  switch (contentEncoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return body
    case 'gzip':
      try {
        // Not an import, because nearly no service packs its bodies.
        return process.getBuiltinModule('node:zlib').gunzipSync(body, { maxOutputLength: BODY_LIMIT_BYTES })
      } catch (cause) {
        if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') return TOO_LARGE
        return invalid('a complete body, packed with gzip', messageOf(cause))
      }
    default: {
      const expected = 'a body that is not packed, or the Content-Encoding gzip'
      return { failure: true, kind: 'invalid-response', expected, got: { sent: untrusted(contentEncoding) } }
    }
  }
}

// Node's codes of X.509 verification errors, as on its page about TLS. Node has no name for OpenSSL's newer errors, and says
// UNSPECIFIED.
const CERTIFICATE_ERROR =
  /CERT|^UNABLE_TO_|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED|UND_ERR_PRX_TLS)$/

function failureToConnect(error: unknown, redact: Redact, isThisMachine: boolean): Failure {
  const code = codeOf(firstOf(error))
  // `ERR_SSL_` is a failed handshake. Its code may contain CERT too, but is about a client certificate.
  const isCertificate = CERTIFICATE_ERROR.test(code) && !code.startsWith('ERR_SSL_')
  const isRefusedHere = isThisMachine && code === 'ECONNREFUSED'
  const problem = isCertificate ? 'certificate' : isRefusedHere ? 'refused here' : undefined
  return { failure: true, kind: 'not-sent', reason: redact(reasonOf(error)), problem }
}

function reasonOf(error: unknown): string {
  const first = firstOf(error)
  const code = codeOf(first)
  // OpenSSL's own messages name functions of its source.
  const message = code.startsWith('ERR_SSL_')
    ? 'the TLS handshake failed, perhaps because the port is not for HTTPS, or because a client certificate is required'
    : messageOf(first)
  return message.includes(code) ? message : `${message}; ${code}`
}

/** If the host has several addresses, Node collects one error for each. The first names the cause. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}
