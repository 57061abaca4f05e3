import type { Dispatcher } from 'undici'
import { type Clock, eventLoopTurn } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import { untrusted } from '../text/untrusted.ts'
import type { Connections } from './connection.ts'
import { exceededJsonLimit } from './json-limits.ts'
import type { Redact } from './redact.ts'

/** A body beyond this is refused: no run has so many test cases, and the runner has only so much memory. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

/** What is quoted of a response is for a sentence. */
const EXCERPT_LIMIT_CHARS = 500

export interface RequestOptions {
  /** Ends the request at any stage. */
  readonly signal: AbortSignal
  /** Ends the request only while none of it has gone out, so that nothing can have happened at the service. */
  readonly signalUntilSent?: AbortSignal | undefined
  /** Never more than `REQUEST_LIMIT_MS`, which is also the default. */
  readonly limitMs?: number | undefined
  /** Not over a connection that is open already: the service may be about to close it. */
  readonly onNewConnection?: boolean | undefined
}

export interface HttpSettings {
  readonly baseUrl: URL
  readonly apiKey: string
  /** Applied to each body once, before it is decoded, and to whatever else comes from outside. */
  readonly redact: Redact
  readonly userAgent: string
  readonly connections: Connections
  /** `NODE_TLS_REJECT_UNAUTHORIZED=0` is set. Certificates are checked all the same. */
  readonly isCheckDisabled: boolean
  readonly clock: Clock
}

/** Sends one request and returns the decoded JSON of a 2xx response. Throws ServiceError, and nothing else. */
export type SendJson = (
  method: 'GET' | 'POST',
  path: readonly string[],
  body: object | undefined,
  options: RequestOptions,
) => Promise<unknown>

/**
 * Requests to the service's paths below `baseUrl`. Each segment of a path is percent-encoded; the caller has refused
 * `.` and `..`, which URL parsing would collapse. Redirects are not followed and nothing is repeated here.
 */
export function createSendJson(settings: HttpSettings): SendJson {
  const prefix = settings.baseUrl.pathname.replace(/\/$/, '')
  return async (method, path, body, options) => {
    const response = await send(settings, {
      method,
      path: `${prefix}/${path.map(encodeURIComponent).join('/')}`,
      json: body === undefined ? undefined : JSON.stringify(body),
      options,
    })
    // undici takes a connection back one turn after its response: a request sent before, as the first poll is right
    // after the start, would open another.
    await eventLoopTurn()
    return decode(response, settings, method === 'POST')
  }
}

/** An id may be a number with more digits than JavaScript's numbers hold. */
function keepLargeIntegers(_: string, value: unknown, context?: { source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value
}

interface Response {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
  /** The limit on JSON that the body exceeds, in words. */
  readonly exceededLimit: string | undefined
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json: string | undefined
  readonly options: RequestOptions
}

function send(settings: HttpSettings, { method, path, json, options }: OutgoingRequest): Promise<Response> {
  const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let isSettled = false
    let status: number | undefined
    let headers: Record<string, string | string[] | undefined> = {}
    const buffer = new ArrayBuffer(0, { maxByteLength: BODY_LIMIT_BYTES })
    let bytes = 0
    const settled = new AbortController()

    function settle(callback: () => void): void {
      if (isSettled) return
      isSettled = true
      settled.abort()
      options.signal.removeEventListener('abort', onAbort)
      options.signalUntilSent?.removeEventListener('abort', onAbortUntilSent)
      callback()
      // Returned now: left to the collector, a large body would still be there while the reports are made.
      buffer.resize(0)
    }
    function fail(failure: Failure, cause?: unknown): void {
      settle(() => {
        controller?.abort(new Error(failure.kind))
        reject(new ServiceError(failure, { cause }))
      })
    }
    function deliver(): void {
      if (isSettled) return
      const body = Buffer.from(buffer, 0, bytes)
      const exceededLimit = isErrorStatus(status) ? undefined : exceededJsonLimit(body)
      const text = settings.redact(textOf(body))
      settle(() => resolve({ status: status ?? 0, header, text, exceededLimit }))
    }
    function header(name: string): string | undefined {
      const value = headers[name]
      const text = Array.isArray(value) ? value[0] : value
      return text === undefined ? undefined : settings.redact(text)
    }
    /** An error status counts as soon as the head is complete, whatever becomes of the body. Tells whether it is one. */
    function deliverErrorStatus(): boolean {
      if (!isErrorStatus(status)) return false
      deliver()
      controller?.abort(new Error('the status is enough'))
      return true
    }
    function onAbort(): void {
      void eventLoopTurn().then(() => deliverErrorStatus() || fail({ kind: 'aborted' }))
    }
    function onAbortUntilSent(): void {
      if (controller === undefined) fail({ kind: 'not-sent', reason: 'the request was cancelled before it was sent' })
    }
    async function enforceLimit(): Promise<void> {
      await settings.clock.sleep(limitMs, settled.signal)
      if (isSettled) return
      // After a pause of the whole machine the timer fires first: what lies in the socket already counts.
      await eventLoopTurn()
      if (deliverErrorStatus()) return
      const reason = `no complete response within ${Number((limitMs / 1000).toPrecision(2))} s`
      fail(controller === undefined ? notSent(reason, settings) : { kind: 'no-response', reason })
    }

    const handler: Dispatcher.DispatchHandler = {
      // undici calls this with the connection made, immediately before the first byte is written.
      onRequestStart(itsController) {
        controller = itsController
        if (isSettled) controller.abort(new Error('no longer wanted'))
      },
      onResponseStart(_, itsStatus, itsHeaders) {
        if (itsStatus < 200) return
        status = itsStatus
        headers = itsHeaders
      },
      onResponseData(_, chunk) {
        if (isSettled) return
        const total = bytes + chunk.byteLength
        if (total > BODY_LIMIT_BYTES) {
          if (!deliverErrorStatus()) fail(invalid(`a body of at most ${BODY_LIMIT_BYTES} bytes`, 'a larger one'))
          return
        }
        if (total > buffer.byteLength) buffer.resize(Math.min(BODY_LIMIT_BYTES, Math.max(total, 2 * bytes)))
        new Uint8Array(buffer).set(chunk, bytes)
        bytes = total
      },
      onResponseEnd: deliver,
      onResponseError(_, error) {
        if (deliverErrorStatus()) return
        if (controller === undefined) fail(failureToConnect(error, settings), error)
        else fail(failureOfTransport(error, status === undefined ? undefined : bytes, settings), error)
      },
    }

    if (options.signal.aborted) return fail({ kind: 'aborted' })
    if (options.signalUntilSent?.aborted) return onAbortUntilSent()
    options.signal.addEventListener('abort', onAbort)
    options.signalUntilSent?.addEventListener('abort', onAbortUntilSent)
    void enforceLimit()
    try {
      if (options.onNewConnection) settings.connections.renew()
      settings.connections.dispatcher.dispatch(
        {
          origin: settings.baseUrl.origin,
          method,
          path,
          headers: {
            accept: 'application/json',
            // Nothing here decompresses anything.
            'accept-encoding': 'identity',
            authorization: `Bearer ${settings.apiKey}`,
            'user-agent': settings.userAgent,
            'content-type': json === undefined ? undefined : 'application/json',
          },
          body: json ?? null,
        },
        handler,
      )
    } catch (error) {
      fail(notSent(reasonOf(error, settings), settings), error)
    }
  })
}

// --- failures of the transport

// X.509 verification errors, as Node's TLS names them in `error.code`. OpenSSL's newer ones have no name there.
const CERTIFICATE_ERROR =
  /CERT|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$|^UNSPECIFIED$|^UND_ERR_PRX_TLS$/
/** An alert of the other side, about a certificate of ours. */
const TLS_ALERT = /^ERR_SSL_/

/** The words of undici's proxy agent for a refused tunnel. */
const PROXY_WANTS_CREDENTIALS = /^Proxy response \(407\)/

function failureToConnect(error: unknown, settings: HttpSettings): Failure {
  const code = codeOf(error)
  if (code !== undefined && CERTIFICATE_ERROR.test(code) && !TLS_ALERT.test(code)) {
    return { kind: 'untrusted-certificate', code, isCheckDisabled: settings.isCheckDisabled }
  }
  const reason = reasonOf(error, settings)
  return PROXY_WANTS_CREDENTIALS.test(reason) ? { kind: 'status', status: 407 } : notSent(reason, settings)
}

function notSent(reason: string, { connections }: HttpSettings): Failure {
  return { kind: 'not-sent', reason, hasProxy: connections.hasProxy }
}

function failureOfTransport(error: unknown, bodyBytes: number | undefined, settings: HttpSettings): Failure {
  if (bodyBytes !== undefined)
    return invalid('a complete response', `${bodyBytes} bytes, then the end of the connection`)
  return { kind: 'no-response', reason: reasonOf(error, settings) }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** What OpenSSL's codes mean for whoever has to set this up; its own messages name functions of its source. */
const TLS_REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/,
    'it speaks plain HTTP on this port, not HTTPS',
  ],
  [
    /^ERR_SSL_(UNSUPPORTED_PROTOCOL|.*ALERT_PROTOCOL_VERSION)$/,
    'it supports no TLS version that is safe to use (1.2 or 1.3)',
  ],
  [/^ERR_SSL_.*ALERT_NO_APPLICATION_PROTOCOL$/, 'it offers HTTP/2 only, and this action speaks HTTP/1.1'],
  [
    /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE)$/,
    'it asks for a client certificate, which this action does not have',
  ],
  // The same in TLS 1.2, which has no alert of its own for it.
  [
    /^ERR_SSL_.*ALERT_HANDSHAKE_FAILURE$/,
    'it refused the TLS handshake: it may ask for a client certificate, which this action does not have, or for another cipher',
  ],
]

function reasonOf(error: unknown, { redact }: HttpSettings): string {
  // "Happy eyeballs" wraps one error per address; the first names the cause.
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const message = redact(inner instanceof Error ? inner.message : String(inner))
  const code = codeOf(inner)
  if (code === undefined) return message
  const known = TLS_REASONS.find(([codes]) => codes.test(code))
  if (known !== undefined) return `${known[1]} (${code})`
  return message.includes(code) ? message : `${message} (${code})`
}

// --- what a response says

/** A response with an id or an error is small; parsing each value of a large one takes longer than a request may. */
const SMALL_BODY_CHARS = 100_000

function decode(response: Response, settings: HttpSettings, mayHoldId: boolean): unknown {
  const { status, header, text, exceededLimit } = response
  if (isErrorStatus(status)) throw new ServiceError(failureOfStatus(response, settings))
  const encoding = header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError(invalid('an uncompressed body', `the content encoding ${excerpt(encoding)}`))
  }
  const contentType = header('content-type')
  if (contentType !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) {
    const got = text === '' ? excerpt(contentType) : `${excerpt(contentType)}: ${excerpt(text)}`
    throw new ServiceError(notJson('the content type application/json', got))
  }
  if (exceededLimit !== undefined) throw new ServiceError(invalid(exceededLimit, 'more'))
  try {
    return JSON.parse(text, mayHoldId && text.length <= SMALL_BODY_CHARS ? keepLargeIntegers : undefined)
  } catch (cause) {
    throw new ServiceError(notJson('JSON', text === '' ? 'an empty body' : excerpt(text)), { cause })
  }
}

/** The text of a body, without the byte order mark that some servers put before it. */
function textOf(body: Buffer): string {
  const text = body.toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function invalid(expected: string, got: string): Failure {
  return { kind: 'invalid-response', expected, got: untrusted(got) }
}

function notJson(expected: string, got: string): Failure {
  return { kind: 'invalid-response', expected, got: untrusted(got), isNotJson: true }
}

function isErrorStatus(status: number | undefined): boolean {
  return status !== undefined && (status < 200 || status > 299)
}

function failureOfStatus(response: Response, { baseUrl, clock, redact }: HttpSettings): Failure {
  const { status, header, text } = response
  const error = errorTextOf(text)
  const redirect = status < 400 ? header('location') : undefined
  // What comes after the host may be as long as it likes, and hold what nobody should read.
  const location = redirect === undefined ? undefined : URL.parse(redirect, baseUrl.href)?.origin
  return {
    kind: 'status',
    status,
    error: error === undefined ? undefined : untrusted(error),
    // Parsing writes a host in lower case, and drops what is not visible.
    location: location === undefined ? undefined : untrusted(redact(location)),
    retryAfterMs: parseRetryAfter(header('retry-after'), clock),
  }
}

/** The text of the service's error object, or else the beginning of whatever a proxy in between wrote. */
function errorTextOf(text: string): string | undefined {
  if (text.length <= SMALL_BODY_CHARS) {
    try {
      const { error } = JSON.parse(text)
      if (typeof error === 'string') return excerpt(error)
    } catch {
      // Not the service's JSON.
    }
  }
  const beginning = excerpt(text)
  return beginning.trim() === '' ? undefined : beginning
}

function excerpt(text: string): string {
  return text.slice(0, EXCERPT_LIMIT_CHARS)
}

/** Longer than any wait may last (35,000 minutes), so that absurd values stay numbers that can be printed. */
const RETRY_AFTER_LIMIT_MS = 35_000 * 60_000

/** Both forms of RFC 9110: seconds, or a date. Milliseconds from now, never negative. */
export function parseRetryAfter(value: string | undefined, clock: Pick<Clock, 'epochMs'>): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.epochMs()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_LIMIT_MS)
}
