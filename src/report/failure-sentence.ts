import type { Failure } from '../domain/errors.ts'
import { durationText } from './duration.ts'
import { type LogLine, line, type Phrase, phrase, quote } from './inert.ts'

const ERROR_LIMIT_CHARS = 300

/** What was asked of the service: what helps depends on what was sent. */
export type Request = 'start' | 'poll' | 'cancel'

/** Why a request brought nothing, and what to do about it where something can be done. */
export function failureSentence(failure: Failure, request: Request): LogLine {
  return line`The ${predicateOf(failure)}${adviceOn(failure, request)}.`
}

/** The same within a sentence. */
export function failureClause(failure: Failure, request: Request): Phrase {
  return phrase`the ${predicateOf(failure)}${adviceOn(failure, request)}`
}

/** Within a sentence, and without advice. */
export function failureReason(failure: Failure): Phrase {
  return phrase`the ${predicateOf(failure)}`
}

function predicateOf(failure: Failure): Phrase {
  switch (failure.kind) {
    case 'not-sent':
      return phrase`service could not be reached${failure.hasProxy === true ? phrase`, with a proxy set` : phrase``}: ${failure.reason}`
    case 'untrusted-certificate':
      return phrase`service's certificate is not accepted (${failure.code})`
    case 'no-answer':
      return phrase`service did not answer: ${failure.reason}`
    case 'status': {
      const name = STATUS_NAMES.get(failure.status)
      const status = name === undefined ? phrase`${failure.status}` : phrase`${failure.status} ${name}`
      const { error, location, retryAfterMs } = failure
      const wait =
        retryAfterMs === undefined ? phrase`` : phrase`, to be asked again after ${durationText(retryAfterMs)}`
      const where = location === undefined ? phrase`` : phrase`, which leads to ${quote(location, ERROR_LIMIT_CHARS)}`
      if (error === undefined) return phrase`service answered ${status}${where}${wait}`
      return phrase`service answered ${status}${where}${wait}: ${quote(error, ERROR_LIMIT_CHARS)}`
    }
    case 'broken-answer':
      return phrase`service's answer is broken: expected ${failure.expected}, got ${quote(failure.got, ERROR_LIMIT_CHARS)}`
    case 'aborted':
      return phrase`request was given up, since the step was ending`
  }
}

function adviceOn(failure: Failure, request: Request): Phrase {
  switch (failure.kind) {
    case 'not-sent':
      if (failure.hasProxy) return phrase`; check ${'HTTPS_PROXY'} and ${'NO_PROXY'}, then the input ${'base-url'}`
      return phrase`; check the input ${'base-url'}, and that this runner can reach it`
    case 'broken-answer':
      if (!failure.isForeign) return phrase``
      return phrase`; check the path in the input ${'base-url'}, and whether a proxy answers in the service's place`
    case 'untrusted-certificate':
      return certificateAdvice(failure.code)
    case 'status':
      return statusAdvice(failure.status, request)
    default:
      return phrase``
  }
}

// Codes of Node's TLS (X.509 verification).
function certificateAdvice(code: string): Phrase {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return phrase`; it has expired and must be renewed at the service`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return phrase`; it is for another host, so check the input ${'base-url'}`
    default:
      return phrase`; where an authority of your own issued it, name that authority's file in ${'NODE_EXTRA_CA_CERTS'}`
  }
}

function statusAdvice(status: number, request: Request): Phrase {
  if (status >= 300 && status < 400) {
    return phrase`; redirects are not followed, so check the input ${'base-url'}`
  }
  switch (status) {
    case 400:
    case 422:
      if (request !== 'start') return phrase``
      return phrase`; check the inputs, above all ${'branch'}, ${'environment'} and ${'framework-project'}`
    case 401:
      return phrase`; check the input ${'api-key'}`
    case 403:
      return phrase`; check that the key in ${'api-key'} has a right to this project`
    case 404:
      if (request === 'cancel') return phrase``
      if (request === 'start') return phrase`; check the input ${'project'} (or ${'test-suite'}), then ${'base-url'}`
      return phrase`; check the input ${'run-id'} where it is given, then ${'project'} (or ${'test-suite'}) and ${'base-url'}`
    case 407:
      return phrase`; the proxy wants credentials, which go into ${'HTTPS_PROXY'}`
    default:
      return phrase``
  }
}

const STATUS_NAMES: ReadonlyMap<number, Phrase> = new Map([
  [301, phrase`Moved Permanently`],
  [302, phrase`Found`],
  [303, phrase`See Other`],
  [307, phrase`Temporary Redirect`],
  [308, phrase`Permanent Redirect`],
  [400, phrase`Bad Request`],
  [401, phrase`Unauthorized`],
  [403, phrase`Forbidden`],
  [404, phrase`Not Found`],
  [405, phrase`Method Not Allowed`],
  [407, phrase`Proxy Authentication Required`],
  [408, phrase`Request Timeout`],
  [409, phrase`Conflict`],
  [410, phrase`Gone`],
  [413, phrase`Content Too Large`],
  [415, phrase`Unsupported Media Type`],
  [422, phrase`Unprocessable Content`],
  [425, phrase`Too Early`],
  [429, phrase`Too Many Requests`],
  [500, phrase`Internal Server Error`],
  [502, phrase`Bad Gateway`],
  [503, phrase`Service Unavailable`],
  [504, phrase`Gateway Timeout`],
])
