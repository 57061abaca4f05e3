import type { Dispatcher } from 'undici'
import { type Clock, eventLoopTurn } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import { untrusted } from '../text/untrusted.ts'
import type { Connections } from './connection.ts'
import type { Redact } from './redact.ts'

/** A hundred thousand test cases are 11 MB. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

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

export interface TransportSettings {
  readonly baseUrl: URL
  readonly apiKey: string
  /** Applied to each body once, before it is decoded, and to whatever else comes from outside. */
  readonly redact: Redact
  readonly userAgent: string
  readonly connections: Connections
  readonly hasUnreadableCaFile?: boolean | undefined
  readonly clock: Clock
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json: string | undefined
  readonly options: RequestOptions
}

/** A complete response, or one whose status is not 2xx as far as it came. Without the key. */
export interface Response {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/**
 * Sends one request. Redirects are not followed and nothing is repeated here. Throws ServiceError, and nothing else.
 *
 * Over undici's `dispatch`, because it alone tells the moment before the first byte is written: what fails earlier
 * cannot have reached the service.
 */
export function send(settings: TransportSettings, { method, path, json, options }: OutgoingRequest): Promise<Response> {
  const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let isSettled = false
    let status: number | undefined
    let headers: Record<string, string | string[] | undefined> = {}
    const chunks: Buffer[] = []
    let bytes = 0
    const settled = new AbortController()

    function settle(callback: () => void): void {
      if (isSettled) return
      isSettled = true
      settled.abort()
      options.signal.removeEventListener('abort', onAbort)
      options.signalUntilSent?.removeEventListener('abort', onAbortUntilSent)
      callback()
    }
    function fail(failure: Failure, cause?: unknown): void {
      settle(() => {
        controller?.abort(new Error(failure.kind))
        reject(new ServiceError(failure, { cause }))
      })
    }
    function deliver(): void {
      settle(() => resolve({ status: status ?? 0, header, text: settings.redact(textOf(chunks)) }))
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
        bytes += chunk.byteLength
        if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
        else if (!deliverErrorStatus()) fail(invalid(`a body of at most ${BODY_LIMIT_BYTES} bytes`, 'a larger one'))
      },
      onResponseEnd: deliver,
      onResponseError(_, error) {
        if (deliverErrorStatus()) return
        if (controller === undefined) fail(failureToConnect(error, settings), error)
        else if (status === undefined) fail({ kind: 'no-response', reason: reasonOf(error, settings) }, error)
        else fail(invalid('a complete response', `${bytes} bytes, then the end of the connection`), error)
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

export function isErrorStatus(status: number | undefined): boolean {
  return status !== undefined && (status < 200 || status > 299)
}

/** The text of a body, without the byte order mark that some servers put before it. */
function textOf(chunks: readonly Buffer[]): string {
  const text = Buffer.concat(chunks).toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function invalid(expected: string, got: string): Failure {
  return { kind: 'invalid-response', expected, got: untrusted(got) }
}

// X.509 verification errors, as Node's TLS names them in `error.code`. OpenSSL's newer ones have no name there.
const CERTIFICATE_ERROR =
  /CERT|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$|^UNSPECIFIED$|^UND_ERR_PRX_TLS$/
/** An alert of the other side, about a certificate of ours. */
const TLS_ALERT = /^ERR_SSL_/

/** The words of undici's proxy agent for a refused tunnel. */
const PROXY_WANTS_CREDENTIALS = /^Proxy response \(407\)/

function failureToConnect(error: unknown, settings: TransportSettings): Failure {
  const code = codeOf(error)
  if (code !== undefined && CERTIFICATE_ERROR.test(code) && !TLS_ALERT.test(code)) {
    return { kind: 'untrusted-certificate', code, hasUnreadableCaFile: settings.hasUnreadableCaFile }
  }
  const reason = reasonOf(error, settings)
  return PROXY_WANTS_CREDENTIALS.test(reason) ? { kind: 'status', status: 407 } : notSent(reason, settings)
}

function notSent(reason: string, { connections }: TransportSettings): Failure {
  return { kind: 'not-sent', reason, hasProxy: connections.hasProxy }
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

function reasonOf(error: unknown, { redact }: TransportSettings): string {
  // "Happy eyeballs" wraps one error per address; the first names the cause.
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const message = redact(inner instanceof Error ? inner.message : String(inner))
  const code = codeOf(inner)
  if (code === undefined) return message
  const known = TLS_REASONS.find(([codes]) => codes.test(code))
  if (known !== undefined) return `${known[1]} (${code})`
  return message.includes(code) ? message : `${message} (${code})`
}
