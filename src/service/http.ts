import type { Dispatcher } from 'undici'
import { type Clock, eventLoopTurn } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import { untrusted } from '../outcome/untrusted.ts'
import type { Redact } from '../outcome/without-key.ts'

/** A body beyond this is refused: no run has so many test cases, and the runner has only so much memory. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024

export const REQUEST_LIMIT_MS = 30_000

export interface RequestOptions {
  /** Ends the request wherever it is. */
  readonly signal: AbortSignal
  /** Ends the request only while none of it has gone out, so that nothing can have happened at the service. */
  readonly signalUntilSent?: AbortSignal
  /** Never more than `REQUEST_LIMIT_MS`, which is also the default. */
  readonly limitMs?: number
}

export interface HttpSettings {
  readonly baseUrl: URL
  readonly apiKey: string
  /** Masks the key in what is quoted of an answer, which must be done before the quotation is cut. */
  readonly redact: Redact
  readonly userAgent: string
  readonly connections: Dispatcher
  /** The connections may go through a proxy. */
  readonly hasProxy: boolean
  readonly clock: Clock
}

/** Sends one request and gives back the decoded JSON of a 2xx answer. Throws ServiceError, and nothing else. */
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
  const prefix = settings.baseUrl.pathname.replace(/\/+$/, '')
  return async (method, path, body, options) => {
    const answer = await send(settings, {
      method,
      path: `${prefix}/${path.map(encodeURIComponent).join('/')}`,
      json: body === undefined ? undefined : JSON.stringify(body),
      options,
    })
    // undici takes a connection back one turn after its answer: a request sent before, as the first poll is right after
    // the start, would open another.
    await eventLoopTurn()
    return decode(answer, settings)
  }
}

interface Answer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json: string | undefined
  readonly options: RequestOptions
}

function send(settings: HttpSettings, { method, path, json, options }: OutgoingRequest): Promise<Answer> {
  const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let status: number | undefined
    let headers: Record<string, string | string[] | undefined> = {}
    const body = new ArrayBuffer(0, { maxByteLength: BODY_LIMIT_BYTES })
    let bytes = 0
    const ended = new AbortController()

    function settle(task: () => void): void {
      if (settled) return
      settled = true
      ended.abort()
      options.signal.removeEventListener('abort', onAbort)
      options.signalUntilSent?.removeEventListener('abort', onAbortUntilSent)
      task()
      // Given back now: left to the collector, a large body would still be there while the reports are made.
      body.resize(0)
    }
    function fail(failure: Failure, cause?: unknown): void {
      settle(() => {
        controller?.abort(new Error(failure.kind))
        reject(new ServiceError(failure, { cause }))
      })
    }
    function onAbort(): void {
      fail({ kind: 'aborted' })
    }
    function onAbortUntilSent(): void {
      if (controller === undefined) fail({ kind: 'not-sent', reason: 'given up before the request went out' })
    }

    const handler: Dispatcher.DispatchHandler = {
      // undici calls this with the connection made, immediately before the first byte is written.
      onRequestStart(itsController) {
        controller = itsController
        if (settled) controller.abort(new Error('no longer wanted'))
      },
      onResponseStart(_, itsStatus, itsHeaders) {
        if (itsStatus < 200) return
        status = itsStatus
        headers = itsHeaders
      },
      onResponseData(_, chunk) {
        if (settled) return
        bytes += chunk.byteLength
        if (bytes > BODY_LIMIT_BYTES) {
          if (isRefusal(status)) {
            deliver()
            return controller?.abort(new Error('enough is known'))
          }
          fail(broken(`a body of at most ${BODY_LIMIT_BYTES} bytes`, 'a larger one'))
        } else {
          body.resize(bytes)
          new Uint8Array(body).set(chunk, bytes - chunk.byteLength)
        }
      },
      onResponseEnd: deliver,
      onResponseError(_, error) {
        // A refusal is one whether or not all of its words came.
        if (isRefusal(status)) return deliver()
        if (controller === undefined) fail(failureToConnect(error, settings), error)
        else fail(failureOfTransport(error, status === undefined ? undefined : bytes), error)
      },
    }

    function deliver(): void {
      settle(() => {
        const header = (name: string) => {
          const value = headers[name]
          return Array.isArray(value) ? value[0] : value
        }
        const text = Buffer.from(body).toString('utf8')
        resolve({ status: status ?? 0, header, text })
      })
    }

    if (options.signal.aborted) return onAbort()
    if (options.signalUntilSent?.aborted) return onAbortUntilSent()
    options.signal.addEventListener('abort', onAbort)
    options.signalUntilSent?.addEventListener('abort', onAbortUntilSent)
    void settings.clock.sleep(limitMs, ended.signal).then(() => {
      const reason = `no complete answer within ${Number((limitMs / 1000).toPrecision(2))} s`
      fail(controller === undefined ? notSent(reason, settings) : { kind: 'no-response', reason })
    })
    try {
      settings.connections.dispatch(
        {
          origin: settings.baseUrl.origin,
          method,
          path,
          headers: {
            accept: 'application/json',
            // Nothing here unpacks anything.
            'accept-encoding': 'identity',
            authorization: `Bearer ${settings.apiKey}`,
            'user-agent': settings.userAgent,
            ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: json ?? null,
        },
        handler,
      )
    } catch (error) {
      fail(notSent(reasonOf(error), settings), error)
    }
  })
}

// X.509 verification errors, as Node's TLS names them in `error.code`.
const CERTIFICATE_ERROR =
  /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$|^INVALID_CA$|^INVALID_PURPOSE$|^HOSTNAME_MISMATCH$|^UND_ERR_PRX_TLS$/

/** The words of undici's proxy agent for a refused tunnel. */
const PROXY_WANTS_CREDENTIALS = /^Proxy response \(407\)/

function failureToConnect(error: unknown, settings: HttpSettings): Failure {
  const code = codeOf(error)
  if (code !== undefined && CERTIFICATE_ERROR.test(code)) return { kind: 'untrusted-certificate', code }
  if (PROXY_WANTS_CREDENTIALS.test(reasonOf(error))) return { kind: 'status', status: 407 }
  return notSent(reasonOf(error), settings)
}

function notSent(reason: string, { hasProxy }: HttpSettings): Failure {
  return { kind: 'not-sent', reason, ...(hasProxy ? { hasProxy } : {}) }
}

function failureOfTransport(error: unknown, bodyBytes: number | undefined): Failure {
  if (bodyBytes !== undefined) return broken('a complete answer', `${bodyBytes} bytes, then the end of the connection`)
  return { kind: 'no-response', reason: reasonOf(error) }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

function reasonOf(error: unknown): string {
  // "Happy eyeballs" wraps one error per address; the first names the cause.
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const message = inner instanceof Error ? inner.message : String(inner)
  const code = codeOf(inner)
  return code === undefined || message.includes(code) ? message : `${message} (${code})`
}

function broken(expected: string, got: string): Failure {
  return { kind: 'invalid-response', expected, got: untrusted(got) }
}

function decode(answer: Answer, settings: HttpSettings): unknown {
  const { redact } = settings
  const { status, text } = answer
  if (isRefusal(status)) throw new ServiceError(failureOfStatus(answer, settings))
  const encoding = answer.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError(broken('a body that is not packed', `the content encoding ${encoding}`))
  }
  const contentType = answer.header('content-type')
  if (contentType !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) {
    throw new ServiceError(
      foreign(
        'the content type application/json',
        text === '' ? contentType : `${contentType}: ${excerpt(text, redact)}`,
      ),
    )
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new ServiceError(foreign('JSON', text === '' ? 'an empty body' : excerpt(text, redact)), { cause })
  }
}

function foreign(expected: string, got: string): Failure {
  return { kind: 'invalid-response', expected, got: untrusted(got), isNotJson: true }
}

function isRefusal(status: number | undefined): boolean {
  return status !== undefined && (status < 200 || status > 299)
}

function failureOfStatus(answer: Answer, { baseUrl, redact, clock }: HttpSettings): Failure {
  const error = errorTextOf(answer.text, redact)
  const redirect = answer.status < 400 ? answer.header('location') : undefined
  const location = redirect === undefined ? null : URL.parse(redirect, baseUrl.href)
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), clock)
  return {
    kind: 'status',
    status: answer.status,
    ...(error === undefined ? {} : { error: untrusted(error) }),
    // What comes after the host may be as long as it likes, and hold what nobody should read.
    ...(location === null ? {} : { location: untrusted(location.origin) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** The text of the service's error object, or else the beginning of whatever a proxy in between wrote. */
function errorTextOf(text: string, redact: Redact): string | undefined {
  try {
    const { error } = JSON.parse(text)
    if (typeof error === 'string') return excerpt(error, redact)
  } catch {
    // Not the service's JSON.
  }
  return text.trim() === '' ? undefined : excerpt(text, redact)
}

/** The key is masked before the cut, which could leave a part of it that nothing recognises any more. */
function excerpt(text: string, redact: Redact): string {
  return redact(text).slice(0, 500)
}

/** Both forms of RFC 9110: seconds, or a date. Milliseconds from now, never negative. */
export function parseRetryAfter(value: string | undefined, clock: Pick<Clock, 'epochMs'>): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const dateMs = Date.parse(value)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - clock.epochMs())
}
