import type { Clock } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'
import type { Fragment } from '../text/safe-text.ts'
import { messageOf, untrusted } from '../text/untrusted.ts'
import { isLoopback } from '../text/web-address.ts'
import type { Connections, HttpRequest, RequestController, ResponseHandler } from './connection.ts'
import type { Redact } from './key-redaction.ts'

export const BODY_LIMIT_BYTES = 16 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

export interface RequestOptions {
  readonly signal: AbortSignal
  /** If the request has been sent when the signal aborts, its response is still awaited for this long. */
  readonly graceIfSentMs?: (() => number) | undefined
  /** Instead of 30 s, but no longer. */
  readonly limitMs?: number | undefined
  /** Uses no connection that is already open, because the service may be about to close it. */
  readonly onNewConnection?: boolean | undefined
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
  if (options.signal.aborted) return NOT_WANTED
  const exchange = new Exchange(options, settings)
  if (options.onNewConnection) settings.connections.renew()
  settings.connections.dispatch(request, exchange)
  return exchange.result.promise
}

const NOT_WANTED: Failure = {
  failure: true,
  kind: 'not-sent',
  reason: 'the step was aborted before the request was sent',
}

/**
 * One request and its response. If the request fails before `onRequestStart`, the service cannot have received it. Errors, the
 * signal and the time limit come at any moment. The first end counts.
 */
class Exchange implements ResponseHandler {
  readonly result = Promise.withResolvers<ServiceResponse | Failure>()
  readonly #settings: TransportSettings
  /** Aborts when the result is known. This ends the timers and removes the listener. */
  readonly #settled = new AbortController()
  /** Set immediately before the first byte is written. So without it, the request was not sent. */
  #controller: RequestController | undefined
  #status: number | undefined
  #headers: Record<string, string | string[] | undefined> = {}
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor({ signal, graceIfSentMs, limitMs }: RequestOptions, settings: TransportSettings) {
    this.#settings = settings
    signal.addEventListener('abort', () => void this.#failAfterAbort(graceIfSentMs?.()), {
      signal: this.#settled.signal,
    })
    void this.#failAfter(limitMs)
  }

  onRequestStart(controller: RequestController): void {
    this.#controller = controller
    if (this.#settled.signal.aborted) controller.abort(new Error('no longer wanted'))
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // undici calls this for an informational response (1xx) too. The response itself follows.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.byteLength
    if (this.#bytes <= BODY_LIMIT_BYTES) this.#chunks.push(chunk)
    else this.#fail(TOO_LARGE)
  }

  onResponseEnd(): void {
    if (this.#status === undefined) this.#fail(invalid('a response', 'none'))
    else this.#settle(this.#response(this.#status))
  }

  onResponseError(_: unknown, error: Error): void {
    const { redact, baseUrl } = this.#settings
    if (this.#controller === undefined) this.#fail(failureToConnect(error, redact, isLoopback(baseUrl)))
    else if (this.#status === undefined)
      this.#fail({ failure: true, kind: 'no-response', reason: redact(reasonOf(error)) })
    else this.#fail(invalid('a complete response', `${this.#bytes} bytes, then the end of the connection`))
  }

  async #failAfterAbort(graceMs = 0): Promise<void> {
    if (this.#controller === undefined) return this.#fail(NOT_WANTED)
    if (graceMs > 0) await this.#settings.clock.sleep(graceMs, this.#settled.signal)
    this.#fail({ failure: true, kind: 'aborted' })
  }

  async #failAfter(limitMs = REQUEST_LIMIT_MS): Promise<void> {
    const ms = Math.min(limitMs, REQUEST_LIMIT_MS)
    await this.#settings.clock.sleep(ms, this.#settled.signal)
    const within = `within ${Number((ms / 1000).toPrecision(2))} s`
    if (this.#controller === undefined)
      this.#fail({ failure: true, kind: 'not-sent', reason: `no connection ${within}` })
    else this.#fail({ failure: true, kind: 'no-response', reason: `no complete response ${within}` })
  }

  #fail(failure: Failure): void {
    if (this.#settled.signal.aborted) return
    // A status that is not 2xx counts whatever becomes of the body.
    if (this.#status === undefined || isSuccess(this.#status)) this.#settle(failure)
    else this.#settle(this.#response(this.#status))
    // undici calls `onResponseError` from within, so the result comes first.
    this.#controller?.abort(new Error(failure.kind))
  }

  #settle(result: ServiceResponse | Failure): void {
    this.#settled.abort()
    this.result.resolve(result)
  }

  /** What has come of the response. */
  #response(status: number): ServiceResponse | Failure {
    const body = unpacked(Buffer.concat(this.#chunks), this.#header('content-encoding'))
    if (isFailure(body) && isSuccess(status)) return body
    // It also removes the byte order mark that some servers put before the text.
    const text = isFailure(body) ? '' : this.#settings.redact(new TextDecoder().decode(body))
    return { status, header: (name) => this.#header(name), text }
  }

  #header(name: string): string | undefined {
    const value = this.#headers[name]
    const first = Array.isArray(value) ? value[0] : value
    return first === undefined ? undefined : this.#settings.redact(first)
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

function failureToConnect(error: Error, redact: Redact, isThisMachine: boolean): Failure {
  const problem = problemOf(codeOf(firstOf(error)), isThisMachine)
  return { failure: true, kind: 'not-sent', reason: redact(reasonOf(error)), problem }
}

function problemOf(code: string, isThisMachine: boolean): Extract<Failure, { kind: 'not-sent' }>['problem'] {
  // A failed handshake. Its code may contain CERT too, but is about a client certificate.
  if (code.startsWith('ERR_SSL_')) return undefined
  if (CERTIFICATE_ERROR.test(code)) return 'certificate'
  return isThisMachine && code === 'ECONNREFUSED' ? 'refused here' : undefined
}

function reasonOf(error: Error): string {
  const first = firstOf(error)
  const code = codeOf(first)
  // OpenSSL's own messages name functions of its source.
  const message = code.startsWith('ERR_SSL_')
    ? 'the TLS handshake failed, perhaps because the port is not for HTTPS, or because a client certificate is required'
    : messageOf(first)
  return message.includes(code) ? message : `${message}; ${code}`
}

/** If the host has several addresses, Node collects one error for each. The first names the cause. */
function firstOf(error: Error): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}
