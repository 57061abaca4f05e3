import type { Failure } from '../outcome/failure.ts'
import { durationText } from './duration.ts'
import { type Fragment, fragment, type LogLine, logLine, quote } from './safe-text.ts'

const ERROR_LIMIT_CHARS = 300

/** What was asked of the service: what helps depends on what was sent. */
export type Request = 'start' | 'poll' | 'cancel'

/** Why a request brought nothing, and what to do about it where something can be done. */
export function failureSentence(failure: Failure, request: Request): LogLine {
  return logLine`The ${predicateOf(failure)}${adviceOn(failure, request)}.`
}

/** The same within a sentence. */
export function failureClause(failure: Failure, request: Request): Fragment {
  return fragment`the ${predicateOf(failure)}${adviceOn(failure, request)}`
}

/** Within a sentence, and without advice. */
export function failureReason(failure: Failure): Fragment {
  return fragment`the ${predicateOf(failure)}`
}

function predicateOf(failure: Failure): Fragment {
  switch (failure.kind) {
    case 'not-sent':
      return fragment`service could not be reached${failure.hasProxy === true ? fragment`, with a proxy set` : fragment``}: ${failure.reason}`
    case 'untrusted-certificate':
      return fragment`service's certificate is not accepted (${failure.code})`
    case 'no-response':
      return fragment`service did not answer: ${failure.reason}`
    case 'status': {
      const name = STATUS_NAMES.get(failure.status)
      const status = name === undefined ? fragment`${failure.status}` : fragment`${failure.status} ${name}`
      const { error, location, retryAfterMs } = failure
      const wait =
        retryAfterMs === undefined ? fragment`` : fragment`, to be asked again after ${durationText(retryAfterMs)}`
      const where =
        location === undefined ? fragment`` : fragment`, which leads to ${quote(location, ERROR_LIMIT_CHARS)}`
      if (error === undefined) return fragment`service answered ${status}${where}${wait}`
      return fragment`service answered ${status}${where}${wait}: ${quote(error, ERROR_LIMIT_CHARS)}`
    }
    case 'invalid-response':
      return fragment`service's answer is broken: expected ${failure.expected}, got ${quote(failure.got, ERROR_LIMIT_CHARS)}`
    case 'aborted':
      return fragment`request was given up, since the step was ending`
  }
}

function adviceOn(failure: Failure, request: Request): Fragment {
  switch (failure.kind) {
    case 'not-sent':
      if (failure.hasProxy) return fragment`; check ${'HTTPS_PROXY'} and ${'NO_PROXY'}, then the input ${'base-url'}`
      return fragment`; check the input ${'base-url'}, and that this runner can reach it`
    case 'invalid-response':
      if (!failure.isNotJson) return fragment``
      return fragment`; check the path in the input ${'base-url'}, and whether a proxy answers in the service's place`
    case 'untrusted-certificate':
      return certificateAdvice(failure.code)
    case 'status':
      return statusAdvice(failure.status, request)
    default:
      return fragment``
  }
}

// Codes of Node's TLS (X.509 verification).
function certificateAdvice(code: string): Fragment {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return fragment`; it has expired and must be renewed at the service`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return fragment`; it is for another host, so check the input ${'base-url'}`
    default:
      return fragment`; where an authority of your own issued it, name that authority's file in ${'NODE_EXTRA_CA_CERTS'}`
  }
}

function statusAdvice(status: number, request: Request): Fragment {
  if (status >= 300 && status < 400) {
    return fragment`; redirects are not followed, so check the input ${'base-url'}`
  }
  switch (status) {
    case 400:
    case 422:
      if (request !== 'start') return fragment``
      return fragment`; check the inputs, above all ${'branch'}, ${'environment'} and ${'framework-project'}`
    case 401:
      return fragment`; check the input ${'api-key'}`
    case 403:
      return fragment`; check that the key in ${'api-key'} has a right to this project`
    case 404:
      if (request === 'cancel') return fragment``
      if (request === 'start') return fragment`; check the input ${'project'} (or ${'test-suite'}), then ${'base-url'}`
      return fragment`; check the input ${'run-id'} where it is given, then ${'project'} (or ${'test-suite'}) and ${'base-url'}`
    case 407:
      return fragment`; the proxy wants credentials, which go into ${'HTTPS_PROXY'}`
    default:
      return fragment``
  }
}

const STATUS_NAMES: ReadonlyMap<number, Fragment> = new Map([
  [301, fragment`Moved Permanently`],
  [302, fragment`Found`],
  [303, fragment`See Other`],
  [307, fragment`Temporary Redirect`],
  [308, fragment`Permanent Redirect`],
  [400, fragment`Bad Request`],
  [401, fragment`Unauthorized`],
  [403, fragment`Forbidden`],
  [404, fragment`Not Found`],
  [405, fragment`Method Not Allowed`],
  [407, fragment`Proxy Authentication Required`],
  [408, fragment`Request Timeout`],
  [409, fragment`Conflict`],
  [410, fragment`Gone`],
  [413, fragment`Content Too Large`],
  [415, fragment`Unsupported Media Type`],
  [422, fragment`Unprocessable Content`],
  [425, fragment`Too Early`],
  [429, fragment`Too Many Requests`],
  [500, fragment`Internal Server Error`],
  [502, fragment`Bad Gateway`],
  [503, fragment`Service Unavailable`],
  [504, fragment`Gateway Timeout`],
])
