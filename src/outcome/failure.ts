import type { Untrusted } from './untrusted.ts'

/** Why a request to the service did not bring a usable answer. Sentences for people are made in `report/`. */
export type Failure =
  /** No connection was made, so the service cannot have taken the request. */
  | { readonly kind: 'not-sent'; readonly reason: string; readonly hasProxy?: boolean }
  /** As above, for good: trying again meets the same certificate. */
  | { readonly kind: 'untrusted-certificate'; readonly code: string }
  /** The request was, or may have been, on its way; then the time limit, a reset or a closed connection. */
  | { readonly kind: 'no-response'; readonly reason: string }
  /** An answer other than 2xx. `error` is the text of the service's error object, where it sent one. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly error?: Untrusted
      /** Where a redirect leads: scheme and host alone. */
      readonly location?: Untrusted
      /** How long the service asks to be left alone, in milliseconds. */
      readonly retryAfterMs?: number
    }
  /** A 2xx answer that is not what the interface promises. */
  | {
      readonly kind: 'invalid-response'
      readonly expected: string
      readonly got: Untrusted
      /** It is no JSON at all, so that somebody else may have answered. */
      readonly isNotJson?: boolean
    }
  /** Our own AbortSignal ended it. */
  | { readonly kind: 'aborted' }

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly failure: Failure

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.kind, options)
    this.failure = failure
  }
}

/** The word that there is no such thing: of a run, that the service does not know it, or not any more. */
export function isNotFound(failure: Failure | undefined): boolean {
  return failure?.kind === 'status' && failure.status === 404
}
