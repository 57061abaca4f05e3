import type { Failure } from '../outcome/failure.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, type LogLine, logLine, quote } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'

/** The service's own sentence. Its end often says what to do. */
const SENTENCE_LIMIT_CHARS = 1_000
/** Any other text from outside. */
const EXCERPT_LIMIT_CHARS = 300

export type RequestKind = 'start' | 'poll' | 'cancel'

/** Why a request failed, and what to do about it if something can be done. */
export function failureSentence(failure: Failure, request: RequestKind): LogLine {
  return logLine`The ${predicateOf(failure)}${adviceOn(failure, request)}.`
}

/** Why a request failed and what to do about it, as a part of a sentence. */
export function failureClause(failure: Failure, request: RequestKind): Fragment {
  return fragment`${failureReason(failure)}${adviceOn(failure, request)}`
}

/** Why a request failed, as a part of a sentence. */
export function failureReason(failure: Failure): Fragment {
  return fragment`the ${predicateOf(failure)}`
}

function predicateOf(failure: Failure): Fragment {
  switch (failure.kind) {
    case 'not-sent':
      return fragment`service could not be reached: ${failure.reason}`
    case 'untrusted-certificate':
      return fragment`service's certificate is not trusted (${failure.code})`
    case 'no-response':
      return fragment`service did not respond: ${failure.reason}`
    case 'status': {
      const { status, error, body, location, retryAfterMs, requestId } = failure
      const name = STATUS_NAMES.get(status)
      const words = name === undefined ? fragment`${status}` : fragment`${status} ${name}`
      const to = location === undefined ? fragment`` : fragment` to ${quote(location, EXCERPT_LIMIT_CHARS)}`
      const wait = retryAfterMs === undefined ? fragment`` : fragment` (retry after ${durationText(retryAfterMs)})`
      const said = error === undefined ? undefined : fragment`: ${quote(error, SENTENCE_LIMIT_CHARS)}`
      const came = body === undefined ? fragment`` : fragment`: ${quote(body, EXCERPT_LIMIT_CHARS)}`
      return fragment`service responded with ${words}${to}${wait}${named(requestId)}${said ?? came}`
    }
    case 'invalid-response':
      return fragment`service sent an invalid response${named(failure.requestId)}: expected ${failure.expected}, got ${quote(failure.got, EXCERPT_LIMIT_CHARS)}`
    case 'aborted':
      return fragment`request was cancelled because the step is ending`
  }
}

/** The operators of the service find the request by its id. */
function named(requestId: Untrusted | undefined): Fragment {
  return requestId === undefined ? fragment`` : fragment` (${'x-request-id'} ${requestId})`
}

function adviceOn(failure: Failure, request: RequestKind): Fragment {
  switch (failure.kind) {
    case 'not-sent':
      return fragment`; check the input ${'base-url'}, and that this runner can reach it (through ${'HTTPS_PROXY'}, if that is set)`
    case 'invalid-response':
      if (!failure.isNotJson) return fragment``
      return fragment`; check the path in the input ${'base-url'}, and whether a proxy responds instead of the service`
    case 'untrusted-certificate':
      return certificateAdvice(failure.code)
    case 'status':
      return statusAdvice(failure, request)
    default:
      return fragment``
  }
}

// Codes of OpenSSL's X.509 verification, as Node names them.
function certificateAdvice(code: string): Fragment {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return fragment`; it has expired and must be renewed at the service`
    case 'CERT_NOT_YET_VALID':
      return fragment`; it is not valid yet, so check the clock of this runner`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return fragment`; it is for another host, so check the input ${'base-url'}`
    default:
      return fragment`; if your own certificate authority issued it, set ${'NODE_EXTRA_CA_CERTS'} to that authority's file (in a job with a container, a file in the container)`
  }
}

function statusAdvice({ status, error }: Extract<Failure, { kind: 'status' }>, request: RequestKind): Fragment {
  if (status >= 300 && status < 400) {
    return fragment`; redirects are not followed, so check the input ${'base-url'}`
  }
  switch (status) {
    case 400:
    case 422:
      // If the service itself says what is wrong, advice of ours could contradict it.
      if (request !== 'start' || error !== undefined) return fragment``
      return fragment`; check the inputs, most of all ${'branch'}, ${'environment'} and ${'framework-project'}`
    case 401:
      return fragment`; check the input ${'api-key'}`
    case 403:
      return fragment`; check that the key in ${'api-key'} has access to this project`
    case 404:
      if (request === 'cancel') return fragment``
      if (request === 'start') return fragment`; check the input ${'project'} (or ${'test-suite'}), then ${'base-url'}`
      return fragment`; check the input ${'run-id'} if it is given, then ${'project'} (or ${'test-suite'}) and ${'base-url'}`
    case 407:
      return fragment`; the proxy requires credentials, which go into ${'HTTPS_PROXY'}`
    default:
      return fragment``
  }
}

const STATUS_NAMES: ReadonlyMap<number, Fragment> = new Map([
  [400, fragment`Bad Request`],
  [401, fragment`Unauthorized`],
  [403, fragment`Forbidden`],
  [404, fragment`Not Found`],
  [407, fragment`Proxy Authentication Required`],
  [408, fragment`Request Timeout`],
  [429, fragment`Too Many Requests`],
  [500, fragment`Internal Server Error`],
  [502, fragment`Bad Gateway`],
  [503, fragment`Service Unavailable`],
  [504, fragment`Gateway Timeout`],
])
