import type { Clock } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'
import { fieldsOf, parseJson } from '../text/json.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { rawText, untrusted } from '../text/untrusted.ts'
import { firstLineOf } from '../text/visible-text.ts'
import { InvalidResponse, shortened } from './decode.ts'
import type { Redact } from './key-redaction.ts'
import { isSuccess, type RequestOptions, type ServiceResponse, send, type TransportSettings } from './transport.ts'

/** A request below `baseUrl`. Each segment of the path is percent-encoded. */
interface JsonRequest {
  readonly method: 'GET' | 'POST'
  readonly path: readonly string[]
  readonly query?: string | undefined
  readonly body?: object | undefined
  readonly isStart?: boolean | undefined
}

/** `decode` gets the JSON of a 2xx response, and the text of its body without the key. It may throw an InvalidResponse. */
export type SendJson = <T>(
  request: JsonRequest,
  options: RequestOptions,
  decode: (json: unknown, text: string, redact: Redact) => T,
) => Promise<T | Failure>

/** The caller must refuse the segments `.` and `..`, because URL parsing would collapse them. */
export function createSendJson(settings: TransportSettings): SendJson {
  const prefix = settings.baseUrl.pathname.replace(/\/$/, '')
  const { clock, redact } = settings
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    authorization: `Bearer ${settings.apiKey}`,
    'user-agent': settings.userAgent,
  }
  return async ({ method, path: segments, query = '', body, isStart }, options, decode) => {
    const path = `${prefix}/${segments.map(encodeURIComponent).join('/')}${query}`
    const contentType = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = body === undefined ? null : JSON.stringify(body)
    const request = { method, path, headers: { ...headers, ...contentType }, body: sent }
    // A service may be about to close an open connection, as many do after a 429. If main sent a start on it, nobody would know whether
    // the service accepted that start.
    if (isStart) settings.connections.renew()
    const sentMs = clock.now()
    const response = await send(request, options, settings)
    const tookMs = Math.round(clock.now() - sentMs)
    settings.debug?.(fragment`${method} ${redact(path)}: ${statusOrFailure(response)}, ${tookMs} ms`)
    if (isFailure(response)) return response
    if (!isSuccess(response.status)) return failureOfStatus(response, settings)
    try {
      return decode(parseBody(response), response.text, redact)
    } catch (error) {
      if (error instanceof InvalidResponse) return error.failure
      throw error
    }
  }
}

/** For the debug log, which contains no header's value and nothing of a body. */
function statusOrFailure(response: ServiceResponse | Failure): Fragment {
  if (!isFailure(response)) return fragment`status ${response.status}`
  return 'reason' in response ? fragment`${response.kind} (${response.reason})` : fragment`${response.kind}`
}

function parseBody({ header, text }: ServiceResponse): unknown {
  const contentType = header('content-type')
  if (contentType !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) {
    const got = { sent: shortened(text === '' ? contentType : `${contentType}: ${text}`) }
    throw new InvalidResponse({ expected: 'the content type application/json', got, isNotJson: true })
  }
  try {
    return JSON.parse(text)
  } catch {
    const got = text === '' ? { words: 'an empty body' } : { sent: shortened(text) }
    throw new InvalidResponse({ expected: 'JSON', got, isNotJson: true })
  }
}

function failureOfStatus(response: ServiceResponse, { clock }: TransportSettings): Failure {
  const { status, header, text } = response
  const { error } = fieldsOf(parseJson(text))
  const given = untrusted(typeof error === 'string' ? error : '')
  const sentence = rawText(firstLineOf(given)) === '' ? undefined : given
  const start = text.trimStart()
  return {
    failure: true,
    kind: 'status',
    status,
    error: sentence,
    body: sentence === undefined && start !== '' ? shortened(start) : undefined,
    retryAfterMs: parseRetryAfter(header('retry-after'), clock),
  }
}

/**
 * Returns milliseconds from now, which are never negative. RFC 9110 (10.2.3) allows whole seconds, and a date in the form of
 * `toUTCString`. Every other value counts as absent. Otherwise, a 503 with an unusable `Retry-After` would count as a proof that a start was not
 * accepted, and main would repeat the start. For example, `Date.parse` takes `1.5` for a day of 2001.
 */
export function parseRetryAfter(value: string | undefined, clock: Pick<Clock, 'epochMs'>): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const atMs = Date.parse(value)
  const isHttpDate = !Number.isNaN(atMs) && new Date(atMs).toUTCString() === value
  return isHttpDate ? Math.max(0, atMs - clock.epochMs()) : undefined
}
