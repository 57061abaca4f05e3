import { type Clock, pendingEvents } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'
import type { Fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { isLoopback } from '../text/web-address.ts'
import type { Connections, RequestController, ResponseHandler } from './connection.ts'
import type { Redact } from './key-redaction.ts'
import { largerThan, unpack } from './unpack.ts'

/** For comparison, 100,000 test cases are 11 MB. */
export const BODY_LIMIT_BYTES = 16 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

export interface RequestOptions {
  /** If it aborts before the request is sent, the request is not sent. Otherwise, its response is dropped. */
  readonly signal: AbortSignal
  /** If the request has been sent when the signal aborts, its response is still awaited for this long. */
  readonly graceIfSentMs?: (() => number) | undefined
  /** Never more than `REQUEST_LIMIT_MS`, which is also the default. */
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

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json: string | undefined
  readonly options: RequestOptions
}

/** A response without the key. If its status is not 2xx, the text may be incomplete. */
export interface ServiceResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/** Sends one request once. Does not follow redirects. Never rejects. */
export function send(settings: TransportSettings, request: OutgoingRequest): Promise<ServiceResponse | Failure> {
  return new Exchange(settings, request).response()
}

/**
 * One request and its response. If the request fails before `onRequestStart`, the service cannot have received it.
 *
 * The connections call `onRequestStart`, `onResponseStart`, `onResponseData` and `onResponseEnd` in this order, or `onResponseError`
 * at any moment. The signal and the time limit also come at any moment. The first call of `#end` counts.
 */
class Exchange implements ResponseHandler {
  readonly #settings: TransportSettings
  readonly #request: OutgoingRequest
  readonly #result = Promise.withResolvers<ServiceResponse | Failure>()
  /** Aborts when the result is known. This ends the timers and removes the listener. */
  readonly #settled = new AbortController()
  /** Set immediately before the first byte is written. So without it, the request was not sent. */
  #controller: RequestController | undefined
  /** Set when the head of the response has come. */
  #status: number | undefined
  #headers: Record<string, string | string[] | undefined> = {}
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(settings: TransportSettings, request: OutgoingRequest) {
    this.#settings = settings
    this.#request = request
  }

  response(): Promise<ServiceResponse | Failure> {
    const { signal } = this.#request.options
    if (signal.aborted) void this.#onAbort()
    else {
      signal.addEventListener('abort', () => void this.#onAbort(), { signal: this.#settled.signal })
      void this.#enforceLimit()
      this.#dispatch()
    }
    return this.#result.promise
  }

  #dispatch(): void {
    const { apiKey, userAgent, connections } = this.#settings
    const { method, path, json, options } = this.#request
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: `Bearer ${apiKey}`,
      'user-agent': userAgent,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    }
    if (options.onNewConnection) connections.renew()
    connections.dispatch({ method, path, headers, body: json ?? null }, this)
  }

  onRequestStart(controller: RequestController): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(new Error('no longer wanted'))
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.byteLength
    if (this.#bytes <= BODY_LIMIT_BYTES) this.#chunks.push(chunk)
    else this.#end(largerThan(BODY_LIMIT_BYTES))
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_: unknown, error: Error): void {
    const { redact, baseUrl } = this.#settings
    const reason = redact(reasonOf(error))
    if (!this.#isSent) this.#end(failureToConnect(error, reason, isLoopback(baseUrl)))
    else if (this.#status === undefined) this.#end({ kind: 'no-response', reason })
    else this.#end(incomplete(this.#bytes))
  }

  get #isSettled(): boolean {
    return this.#settled.signal.aborted
  }

  get #isSent(): boolean {
    return this.#controller !== undefined
  }

  async #onAbort(): Promise<void> {
    const { graceIfSentMs = () => 0 } = this.#request.options
    if (!this.#isSent) this.#end({ kind: 'not-sent', reason: 'the step was aborted before the request was sent' })
    else await this.#waitForResponse(graceIfSentMs())
    this.#end({ kind: 'aborted' })
  }

  async #enforceLimit(): Promise<void> {
    const { limitMs = REQUEST_LIMIT_MS } = this.#request.options
    const ms = Math.min(limitMs, REQUEST_LIMIT_MS)
    await this.#waitForResponse(ms)
    const reason = `no complete response within ${Number((ms / 1000).toPrecision(2))} s`
    this.#end({ kind: this.#isSent ? 'no-response' : 'not-sent', reason })
  }

  async #waitForResponse(ms: number): Promise<void> {
    if (ms > 0) await this.#settings.clock.sleep(ms, this.#settled.signal)
    // After the machine was suspended, the timer fires before the socket is read. A response that is already in the socket
    // still counts.
    await pendingEvents()
  }

  /** Without a failure, the response is complete. A status that is not 2xx counts also if the response is incomplete. */
  #end(failure?: Failure): void {
    if (this.#isSettled) return
    this.#settled.abort()
    const isOtherStatus = this.#status !== undefined && !isSuccess(this.#status)
    this.#result.resolve(failure === undefined || isOtherStatus ? this.#received(isOtherStatus) : failure)
    if (failure !== undefined) this.#controller?.abort(new Error(failure.kind))
  }

  /** A status that is not 2xx counts also if the body cannot be unpacked. */
  #received(isOtherStatus: boolean): ServiceResponse | Failure {
    const options = { limitBytes: BODY_LIMIT_BYTES, mayBeIncomplete: isOtherStatus }
    const body = unpack(Buffer.concat(this.#chunks), this.#header('content-encoding') ?? '', options)
    if (isFailure(body) && !isOtherStatus) return body
    // It also removes the byte order mark that some servers put before the text.
    const text = isFailure(body) ? '' : this.#settings.redact(new TextDecoder().decode(body))
    return { status: this.#status ?? 0, header: (name) => this.#header(name), text }
  }

  #header(name: string): string | undefined {
    const value = this.#headers[name]
    const text = Array.isArray(value) ? value[0] : value
    return text === undefined ? undefined : this.#settings.redact(text)
  }
}

function incomplete(bytes: number): Failure {
  const words = `${bytes} bytes, then the end of the connection`
  return { kind: 'invalid-response', expected: 'a complete response', got: { words } }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

// Node's codes of X.509 verification errors. Node has no name for OpenSSL's newer errors, and says UNSPECIFIED.
const CERTIFICATE_ERROR =
  /CERT|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^UNSPECIFIED$|^UND_ERR_PRX_TLS$/
/** OpenSSL's codes of a failed handshake. Some contain CERT, but are about a client certificate. */
const HANDSHAKE_ERROR = /^ERR_SSL_/
const NO_HANDSHAKE =
  'the TLS handshake failed, perhaps because the port is not for HTTPS, or because a client certificate is required'
/** The words of undici's proxy agent for a refused tunnel. */
const PROXY_WANTS_CREDENTIALS = /^Proxy response \(407\)/

function failureToConnect(error: Error, reason: string, isThisMachine: boolean): Failure {
  if (PROXY_WANTS_CREDENTIALS.test(reason)) return { kind: 'status', status: 407 }
  const code = codeOf(error)
  if (CERTIFICATE_ERROR.test(code) && !HANDSHAKE_ERROR.test(code))
    return { kind: 'not-sent', reason, problem: 'certificate' }
  // If the host has several addresses, Node collects one error for each.
  const errors = error instanceof AggregateError ? error.errors : [error]
  const isRefusedHere = isThisMachine && errors.some((one) => codeOf(one) === 'ECONNREFUSED')
  return { kind: 'not-sent', reason, problem: isRefusedHere ? 'refused here' : undefined }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

function reasonOf(error: Error): string {
  // If the host has several addresses, Node collects one error for each. The first names the cause.
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const code = codeOf(inner)
  // OpenSSL's own messages name functions of its source.
  const message = HANDSHAKE_ERROR.test(code) ? NO_HANDSHAKE : messageOf(inner)
  return message.includes(code) ? message : `${message}; ${code}`
}
