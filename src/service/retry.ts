import type { Failure } from '../outcome/failure.ts'

/** Statuses that say nothing about the request itself: time limit, too early, too many. */
const TRANSIENT_STATUSES = new Set([408, 425, 429])

/**
 * Whether the same poll or cancel may bring something else a moment later. A certificate may: a node behind a balancer
 * can have one that the others do not.
 */
export function isTransient(failure: Failure): boolean {
  if (failure.kind === 'status') return failure.status >= 500 || TRANSIENT_STATUSES.has(failure.status)
  return failure.kind !== 'aborted'
}

/**
 * For how long, counted from the first attempt, a start that failed like this may be sent again. Zero if the
 * service may have taken the request: a second one could start a second run.
 */
export function startMayRepeatForMs(failure: Failure): number {
  if (failure.kind === 'not-sent') return 60_000
  if (failure.kind === 'status' && failure.status === 429) return 300_000
  return 0
}

/** Whether the service may have accepted a request that failed like this: a start may then have started a run. */
export function mayHaveBeenAccepted(failure: Failure): boolean {
  // A 4xx response says that the request was invalid, except the one for the service's own time limit.
  if (failure.kind === 'status') return failure.status < 400 || failure.status >= 500 || failure.status === 408
  return failure.kind !== 'not-sent' && failure.kind !== 'untrusted-certificate'
}

/** Whether the service refuses the key. No later request with this key brings anything else. */
export function isKeyRefused(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/**
 * The pause before the next attempt, after this many failed ones. It doubles each time. Its upper half is random, so that
 * many steps do not come back together. It is never less than the service asked for.
 */
export function backoffMs(failedAttempts: number, failure: Failure | undefined, random: () => number): number {
  const fullMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedAttempts - 1))
  const pauseMs = fullMs * (0.5 + random() / 2)
  const askedMs = failure?.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
  return Math.max(pauseMs, askedMs)
}
