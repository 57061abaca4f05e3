import { type Failure, isNotFound } from '../model/failure.ts'

// What a failed request says about the run, and about another try:
//
//   failure                             accepted a start or a cancel?   a start is repeated            a poll is repeated
//   not sent                            no                              for 60 s                       yes
//   429, or 503 with `Retry-After`      no                              for 5 minutes                  yes
//   404                                 no                              no                             for 15 s
//   3xx, or 4xx except 408, 425, 429    no                              no                             no
//   425                                 no                              no                             yes
//   anything else                       perhaps                         no, it could start a second    yes
//
// 425 (RFC 8470) is about early data of TLS, which the action never sends. So there is no rule that repeats a start after it.
// A cancel is repeated until the run has finished, except after 401 and 403.
// If the service is on this machine, polls and cancels are repeated for at most 30 s (`failureLimitMs`).

/** A run, and what this process knows about it. */
export interface RunHandle {
  readonly id: string
  /** When this process got the response to the start, or else when it sent its first request about the run. */
  readonly knownSinceMs: number
}

/** For this long, a 404 is not final, because perhaps not every server of the service knows the run yet. */
const NOT_FOUND_GRACE_MS = 15_000

/** Whether the response is a 404 that may only mean that the service does not know the run yet. `sentMs` is when the request was sent. */
export function isPerhapsNotKnownYet({ knownSinceMs }: RunHandle, response: Failure, sentMs: number): boolean {
  return isNotFound(response) && sentMs < knownSinceMs + NOT_FOUND_GRACE_MS
}

/** Request Timeout, Too Early and Too Many Requests. They do not mean that the request is invalid. */
const TRANSIENT_STATUSES = new Set([408, 425, 429])

/** Whether another try may succeed. Only some statuses rule this out, such as 400 or 404. */
export function isTransient(failure: Failure): boolean {
  return failure.kind !== 'status' || failure.status >= 500 || TRANSIENT_STATUSES.has(failure.status)
}

/** Whether the service refuses the key. Then no later request with this key can succeed. */
export function isKeyRefused(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

/** Zero if a start must not be repeated. */
export function startMayRepeatForMs(failure: Failure): number {
  if (failure.kind === 'not-sent') return 60_000
  return isTooBusy(failure) ? 300_000 : 0
}

export function mayHaveBeenAccepted(failure: Failure): boolean {
  if (failure.kind === 'not-sent' || isTooBusy(failure)) return false
  // A 3xx response is of another server, because a service that speaks the interface sends none. A 4xx response means that the
  // service refused the request. Of the 4xx, only 408 leaves this open.
  return failure.kind !== 'status' || failure.status >= 500 || failure.status === 408
}

/** With 429 (RFC 6585, 4), or with 503 and `Retry-After` (RFC 9110, 15.6.4), a server says that it did not handle the request. */
function isTooBusy(failure: Failure): boolean {
  if (failure.kind !== 'status') return false
  return failure.status === 429 || (failure.status === 503 && failure.retryAfterMs !== undefined)
}
