import { type Clock, eventLoopTurn } from '../clock.ts'
import { type Failure, isFailure } from '../outcome/failure.ts'
import { fieldsOf, parseJson, parseKeepingNumbers } from '../text/json.ts'
import { untrusted } from '../text/untrusted.ts'
import { InvalidResponse, shortened } from './decode.ts'
import type { Redact } from './key-redaction.ts'
import { requestLog } from './request-log.ts'
import { isSuccess, type RequestOptions, type ServiceResponse, send, type TransportSettings } from './transport.ts'

/**
 * Sends one request and decodes the JSON of a 2xx response. `decode` also gets the text of the body, without the key. It
 * may throw an InvalidResponse.
 */
export type SendJson = <T>(
  method: 'GET' | 'POST',
  path: readonly string[],
  body: object | undefined,
  options: RequestOptions,
  decode: (json: unknown, text: string, redact: Redact) => T,
) => Promise<T | Failure>

/**
 * Sends requests to paths below `baseUrl`. Percent-encodes each segment of a path. The caller must refuse `.` and `..`,
 * because URL parsing would collapse them.
 */
export function createSendJson(settings: TransportSettings): SendJson {
  const prefix = settings.baseUrl.pathname.replace(/\/$/, '')
  const logBegin = settings.debug && requestLog(settings.debug, settings)
  return async (method, path, body, options, decode) => {
    const request = {
      method,
      path: `${prefix}/${path.map(encodeURIComponent).join('/')}`,
      json: body && JSON.stringify(body),
      options,
    }
    const logEnd = logBegin?.(request)
    const response = await send(settings, request)
    if (isFailure(response)) {
      logEnd?.(response)
      return response
    }
    // undici uses a connection again one event-loop turn after its response. A request before that, such as the first
    // poll, would open another connection.
    await eventLoopTurn()
    // Only a response to POST has an id. The id may be a number with more digits than JavaScript's numbers hold.
    const parse = method === 'POST' ? parseKeepingNumbers : JSON.parse
    const result = isSuccess(response.status)
      ? decodedOrInvalid(response, () => decode(parseBody(response, parse), response.text, settings.redact))
      : failureOfStatus(response, settings)
    logEnd?.(isFailure(result) ? result : response)
    return result
  }
}

function decodedOrInvalid<T>({ requestId }: ServiceResponse, decode: () => T): T | Failure {
  try {
    return decode()
  } catch (error) {
    if (error instanceof InvalidResponse) return { ...error.failure, requestId }
    throw error
  }
}

function parseBody({ header, text }: ServiceResponse, parse: (text: string) => unknown): unknown {
  const contentType = header('content-type')
  if (contentType !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) {
    const got = shortened(text === '' ? contentType : `${contentType}: ${text}`)
    throw new InvalidResponse({ expected: 'the content type application/json', got, isNotJson: true })
  }
  try {
    return parse(text)
  } catch {
    const sent = text === '' ? { found: 'an empty body' } : { got: shortened(text) }
    throw new InvalidResponse({ expected: 'JSON', ...sent, isNotJson: true })
  }
}

function failureOfStatus(response: ServiceResponse, { baseUrl, clock }: TransportSettings): Failure {
  const { status, header, text, requestId } = response
  const { error } = fieldsOf(parseJson(text))
  const sentence = typeof error === 'string' && error.trim() !== '' ? shortened(error) : undefined
  const start = text.trimStart()
  const redirect = status < 400 ? header('location') : undefined
  // Only the origin is kept, because the rest of the address may be long or secret.
  const location = redirect === undefined ? undefined : URL.parse(redirect, baseUrl.href)?.origin
  return {
    kind: 'status',
    status,
    error: sentence,
    body: sentence === undefined && start !== '' ? shortened(start) : undefined,
    location: location === undefined ? undefined : untrusted(location),
    retryAfterMs: parseRetryAfter(header('retry-after'), clock),
    requestId,
  }
}

/** The longest wait that an input allows. The limit keeps absurd values printable. */
const RETRY_AFTER_LIMIT_MS = 35_000 * 60_000

/** Reads both forms of RFC 9110, seconds and a date. Returns milliseconds from now, which are never negative. */
export function parseRetryAfter(value: string | undefined, clock: Pick<Clock, 'epochMs'>): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.epochMs()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_LIMIT_MS)
}
