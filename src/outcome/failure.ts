import type { Untrusted } from '../text/untrusted.ts'

/** Why a request to the service brought no usable response. Sentences for people are made in `report/`. */
export type Failure =
  /** Not a byte went out, so the service cannot have taken the request. */
  | {
      readonly kind: 'not-sent'
      readonly reason: string
      /** A proxy is set. The request may have bypassed it, because `NO_PROXY` names the host. */
      readonly hasProxy?: boolean | undefined
    }
  /** As above, for good: trying again meets the same certificate. */
  | {
      readonly kind: 'untrusted-certificate'
      /** Node's code of the X.509 verification error. */
      readonly code: string
      /** `NODE_EXTRA_CA_CERTS` is set, and its file cannot be read. */
      readonly hasUnreadableCaFile?: boolean | undefined
    }
  /** The request was, or may have been, on its way; then the time limit, a reset or a closed connection. */
  | { readonly kind: 'no-response'; readonly reason: string }
  /** A response other than 2xx. `error` is the text of the service's error object, if it sent one. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly error?: Untrusted | undefined
      /** The target of a redirect: scheme and host alone. */
      readonly location?: Untrusted | undefined
      /** The pause that the service asks for. */
      readonly retryAfterMs?: number | undefined
    }
  /** A 2xx response that is not what the interface promises. */
  | {
      readonly kind: 'invalid-response'
      readonly expected: string
      readonly got: Untrusted
      /** It is no JSON at all, so that another server may have sent it. */
      readonly isNotJson?: boolean | undefined
    }
  /** Our own AbortSignal ended it. */
  | { readonly kind: 'aborted' }

/** What every request to the service throws. The message is for developers; `failure` is what the action works with. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly failure: Failure

  constructor(failure: Failure, options?: ErrorOptions) {
    super(describe(failure), options)
    this.failure = failure
  }
}

function describe(failure: Failure): string {
  switch (failure.kind) {
    case 'not-sent':
    case 'no-response':
      return `${failure.kind}: ${failure.reason}`
    case 'untrusted-certificate':
      return `${failure.kind}: ${failure.code}`
    case 'status':
      return `status ${failure.status}`
    case 'invalid-response':
      return `${failure.kind}: expected ${failure.expected}`
    case 'aborted':
      return failure.kind
  }
}

/** The service says that there is no such thing: of a run, that it does not know it, or not any more. */
export function isNotFound(failure: Failure | undefined): boolean {
  return failure?.kind === 'status' && failure.status === 404
}
