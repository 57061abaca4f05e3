import type { Untrusted } from '../text/untrusted.ts'

/** Why a request to the service brought no usable response. The field `failure` tells it from every response. */
export type Failure = { readonly failure: true } & FailureOfKind

type FailureOfKind =
  /** No byte was sent, so the service cannot have accepted the request. */
  | {
      readonly kind: 'not-sent'
      readonly reason: string
      /** `refused here` means that this machine refused a connection to itself. */
      readonly problem?: 'certificate' | 'refused here' | undefined
    }
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
      readonly retryAfterMs?: number | undefined
    }
  /** A 2xx response that is not what the interface promises. */
  | {
      readonly kind: 'invalid-response'
      readonly expected: string
      /** What the service sent, or words of ours for it, for example `an array`. */
      readonly got: { readonly sent: Untrusted } | { readonly words: string }
      /** Whether the response is not JSON, so that perhaps another server sent it. */
      readonly isNotJson?: boolean | undefined
    }
  /** The service accepted a cancel, but its response does not list the run. The run may still be running. */
  | { readonly kind: 'not-listed' }
  /** The request's AbortSignal ended it. */
  | { readonly kind: 'aborted' }

export function isFailure<Result>(response: Result | Failure): response is Failure {
  return typeof response === 'object' && response !== null && 'failure' in response
}

export function isNotFound(failure: Failure): boolean {
  return failure.kind === 'status' && failure.status === 404
}

export type InvalidResponseFailure = Extract<Failure, { kind: 'invalid-response' }>
