import type { Failure } from '../outcome/failure.ts'

/** Statuses that say nothing about the request itself: time limit, too early, too many. */
const TRANSIENT_STATUSES = new Set([408, 425, 429])

/** Whether the same poll or cancel may bring something else a moment later. */
export function isTransient(failure: Failure): boolean {
  switch (failure.kind) {
    case 'not-sent':
    case 'untrusted-certificate': // a node behind a balancer may have one that the others do not
    case 'no-response':
    case 'invalid-response':
      return true
    case 'status':
      return failure.status >= 500 || TRANSIENT_STATUSES.has(failure.status)
    case 'aborted':
      return false
  }
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
  switch (failure.kind) {
    case 'not-sent':
    case 'untrusted-certificate':
      return false
    case 'status':
      // A 4xx response says that the request was invalid, except the one for the service's own time limit.
      return failure.status < 400 || failure.status >= 500 || failure.status === 408
    case 'no-response':
    case 'invalid-response':
    case 'aborted':
      return true
  }
}

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/**
 * The pause before the next attempt, after this many failed ones. It doubles each time. Its upper half is random, so that
 * many steps do not come back together. It is never less than the service asked for.
 */
export function backoffMs(failedAttempts: number, failure: Failure | undefined, random: () => number): number {
  const fullMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failedAttempts - 1, 30))
  const pauseMs = fullMs * (0.5 + random() / 2)
  const askedMs = failure?.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
  return Math.max(pauseMs, askedMs)
}
