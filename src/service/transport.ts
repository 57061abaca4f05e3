import type { Dispatcher } from 'undici'
import { type Clock, eventLoopTurn } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import { untrusted } from '../text/untrusted.ts'
import type { Connections } from './connection.ts'

/** A hundred thousand test cases are 11 MB. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

export type Redact = (text: string) => string

export interface RequestOptions {
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
    let status: number | undefined
    let headers: Record<string, string | string[] | undefined> = {}
    const chunks: Buffer[] = []
    let bytes = 0
    const settled = new AbortController()

    function settle(failure?: Failure, cause?: unknown): void {
      if (settled.signal.aborted) return
      settled.abort()
      // An error status counts as soon as the head is complete, whatever becomes of the body.
      if (failure === undefined || isErrorStatus(status)) {
        resolve({ status: status ?? 0, header, text: settings.redact(textOf(chunks)) })
      } else reject(new ServiceError(failure, { cause }))
      if (failure !== undefined) controller?.abort(new Error(failure.kind))
    }
    function header(name: string): string | undefined {
      const value = headers[name]
      const text = Array.isArray(value) ? value[0] : value
      return text === undefined ? undefined : settings.redact(text)
    }
    function onAbort(): void {
      void eventLoopTurn().then(() => settle({ kind: 'aborted' }))
    }
    function onAbortUntilSent(): void {
      if (controller === undefined) settle({ kind: 'not-sent', reason: 'the request was cancelled before it was sent' })
    }
    async function enforceLimit(): Promise<void> {
      await settings.clock.sleep(limitMs, settled.signal)
      // After a pause of the whole machine the timer fires first: what lies in the socket already counts.
      await eventLoopTurn()
      const reason = `no complete response within ${Number((limitMs / 1000).toPrecision(2))} s`
      settle({ kind: controller === undefined ? 'not-sent' : 'no-response', reason })
    }

    const handler: Dispatcher.DispatchHandler = {
      // undici calls this with the connection made, immediately before the first byte is written.
      onRequestStart(itsController) {
        controller = itsController
        if (settled.signal.aborted) controller.abort(new Error('no longer wanted'))
      },
      onResponseStart(_, itsStatus, itsHeaders) {
        if (itsStatus < 200) return
        status = itsStatus
        headers = itsHeaders
      },
      onResponseData(_, chunk) {
        bytes += chunk.byteLength
        if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
        else settle(invalid(`a body of at most ${BODY_LIMIT_BYTES} bytes`, 'a larger one'))
      },
      onResponseEnd: () => settle(),
      onResponseError(_, error) {
        if (controller === undefined) settle(failureToConnect(error, settings.redact), error)
        else if (status === undefined) settle({ kind: 'no-response', reason: reasonOf(error, settings.redact) }, error)
        else settle(invalid('a complete response', `${bytes} bytes, then the end of the connection`), error)
      },
    }

    if (options.signal.aborted) return settle({ kind: 'aborted' })
    if (options.signalUntilSent?.aborted) return onAbortUntilSent()
    options.signal.addEventListener('abort', onAbort, { signal: settled.signal })
    options.signalUntilSent?.addEventListener('abort', onAbortUntilSent, { signal: settled.signal })
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
      settle({ kind: 'not-sent', reason: reasonOf(error, settings.redact) }, error)
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
/** OpenSSL's codes of a failed handshake, alerts of the other side about a certificate of ours among them. */
const HANDSHAKE_ERROR = /^ERR_SSL_/
/** The words of undici's proxy agent for a refused tunnel. */
const PROXY_WANTS_CREDENTIALS = /^Proxy response \(407\)/

function failureToConnect(error: unknown, redact: Redact): Failure {
  const code = codeOf(error)
  if (CERTIFICATE_ERROR.test(code) && !HANDSHAKE_ERROR.test(code)) return { kind: 'untrusted-certificate', code }
  const reason = reasonOf(error, redact)
  return PROXY_WANTS_CREDENTIALS.test(reason) ? { kind: 'status', status: 407 } : { kind: 'not-sent', reason }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** What OpenSSL's codes mean for whoever has to set this up; its own messages name functions of its source. */
const TLS_REASONS: readonly (readonly [RegExp, string])[] = [
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, 'it speaks plain HTTP on this port, not HTTPS'],
  [/UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION/, 'it supports no TLS version that is safe to use (1.2 or 1.3)'],
  [/ALERT_NO_APPLICATION_PROTOCOL/, 'it offers HTTP/2 only, and this action speaks HTTP/1.1'],
  [/CERTIFICATE_REQUIRED|BAD_CERTIFICATE/, 'it asks for a client certificate, which this action does not have'],
  // TLS 1.2 has no alert of its own for a client certificate.
  [/HANDSHAKE_FAILURE/, 'it refused the TLS handshake: it may ask for a client certificate, or for another cipher'],
]

function reasonOf(error: unknown, redact: Redact): string {
  // "Happy eyeballs" wraps one error per address; the first names the cause.
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const code = codeOf(inner)
  const known = HANDSHAKE_ERROR.test(code) ? TLS_REASONS.find(([codes]) => codes.test(code))?.[1] : undefined
  const message = known ?? redact(inner instanceof Error ? inner.message : String(inner))
  return message.includes(code) ? message : `${message} (${code})`
}
