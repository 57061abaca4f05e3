import type { Untrusted } from '../text/untrusted.ts'

/**
 * Why a request to the service brought no usable response. `requestId` is the response's `x-request-id`, made safe. The
 * service's operators can find the request by this id.
 */
export type Failure =
  /** No byte was sent, so the service cannot have accepted the request. */
  | {
      readonly kind: 'not-sent'
      readonly reason: string
      /**
       * How long this machine has refused all connections. Absent if the service is on another machine, if there is a proxy,
       * or if the request was not sent for another reason.
       */
      readonly refusedForMs?: number | undefined
    }
  /** No byte was sent, because the certificate is not trusted. `code` is Node's code of the X.509 error. */
  | { readonly kind: 'untrusted-certificate'; readonly code: string }
  /** The request was sent, at least in part. Then the time limit passed or the connection ended. */
  | { readonly kind: 'no-response'; readonly reason: string }
  /** A response whose status is not 2xx. */
  | {
      readonly kind: 'status'
      readonly status: number
      /** The service's own sentence: the field `error` of its error object. */
      readonly error?: Untrusted | undefined
      /** The beginning of the body, if the body has no such sentence. Perhaps a proxy wrote it. */
      readonly body?: Untrusted | undefined
      /** The scheme and the host of a redirect's target. */
      readonly location?: Untrusted | undefined
      readonly retryAfterMs?: number | undefined
      readonly requestId?: Untrusted | undefined
    }
  /** A 2xx response that is not what the interface promises. */
  | {
      readonly kind: 'invalid-response'
      readonly expected: string
      /** What the service sent. Absent if `found` is given. */
      readonly got?: Untrusted | undefined
      /** What came, in our words, for example `an array`. */
      readonly found?: string | undefined
      /** Whether the response is not JSON, so that perhaps another server sent it. */
      readonly isNotJson?: boolean | undefined
      readonly requestId?: Untrusted | undefined
    }
  /** The request's AbortSignal ended it. */
  | { readonly kind: 'aborted' }

export function isFailure(response: unknown): response is Failure {
  return typeof response === 'object' && response !== null && 'kind' in response
}

/** Whether the service responded with 404. */
export function isNotFound(failure: Failure): boolean {
  return failure.kind === 'status' && failure.status === 404
}

/**
 * If a service on this machine refuses connections for this long, it has ended. The limit is not shorter, because the
 * address may be that of a tunnel, and a tunnel that restarts may refuse connections for nearly this long.
 */
const REFUSED_LIMIT_MS = 30_000

/** How long until a service that refuses connections counts as ended. Infinity for every other failure. */
export function msUntilServiceCountsAsEnded(failure: Failure): number {
  const refusedForMs = failure.kind === 'not-sent' ? failure.refusedForMs : undefined
  return refusedForMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, REFUSED_LIMIT_MS - refusedForMs)
}

/** Whether the service was on this machine and has ended. */
export function hasServiceEnded(failure: Failure): boolean {
  return msUntilServiceCountsAsEnded(failure) === 0
}

/** Whether two requests failed for the same reason. `requestId` and `refusedForMs` differ from request to request. */
export function isSameFailure(one: Failure | undefined, other: Failure | undefined): boolean {
  const reasonOf = (failure: Failure | undefined) =>
    JSON.stringify({ ...failure, requestId: undefined, refusedForMs: undefined })
  return reasonOf(one) === reasonOf(other)
}
