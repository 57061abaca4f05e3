import { type Failure, msUntilServiceCountsAsEnded } from '../outcome/failure.ts'

// What a failure means for the next request. What reports need to know about a failure is in outcome/failure.ts.

/** Request Timeout, Too Early and Too Many Requests. They do not mean that the request is invalid. */
const TRANSIENT_STATUSES = new Set([408, 425, 429])

/**
 * Whether a poll or a cancel may succeed if it is repeated. After an untrusted certificate it may, because perhaps only
 * one server behind a load balancer has this certificate.
 */
export function isTransient(failure: Failure): boolean {
  if (failure.kind === 'status') return failure.status >= 500 || TRANSIENT_STATUSES.has(failure.status)
  return failure.kind !== 'aborted'
}

/**
 * How long after the first try a start that failed like this may be repeated. Zero if the service may have accepted
 * the request, because a repeated request could then start a second run.
 */
export function startMayRepeatForMs(failure: Failure): number {
  if (failure.kind === 'not-sent') return 60_000
  if (failure.kind === 'status' && failure.status === 429) return 300_000
  return 0
}

/** Whether the service may have accepted a request that failed like this. A start may then have started a run. */
export function mayHaveBeenAccepted(failure: Failure): boolean {
  // A 4xx response means that the service refused the request. Of the 4xx, only 408 leaves this open.
  if (failure.kind === 'status') return failure.status < 400 || failure.status >= 500 || failure.status === 408
  return failure.kind !== 'not-sent' && failure.kind !== 'untrusted-certificate'
}

/** Whether the service refuses the key. Then no later request with this key can succeed. */
export function isKeyRefused(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/**
 * The pause after this many failed tries. It doubles each time. Its upper half is random, so that many steps do not
 * try again at the same time. It is never shorter than the service asked for. If a service on this machine refuses
 * connections, the pause ends when it has refused them for long enough, so that main asks once more at that time.
 */
export function backoffMs(failedTries: number, failure: Failure | undefined, random: () => number): number {
  const fullMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1))
  const pauseMs = fullMs * (0.5 + random() / 2)
  if (failure === undefined) return pauseMs
  const askedMs = failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
  return Math.min(Math.max(pauseMs, askedMs), msUntilServiceCountsAsEnded(failure))
}
