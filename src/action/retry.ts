import type { Clock } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'

// What a failure means for the next request.

/** Request Timeout, Too Early and Too Many Requests. They do not mean that the request is invalid. */
const TRANSIENT_STATUSES = new Set([408, 425, 429])

/** Whether a poll or a cancel may succeed if it is repeated. */
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
  // A 3xx response is of another server, because a service that speaks the interface sends none. A 4xx response means that the
  // service refused the request. Of the 4xx, only 408 leaves this open.
  if (failure.kind === 'status') return failure.status >= 500 || failure.status === 408
  return failure.kind !== 'not-sent'
}

/** Whether the service refuses the key. Then no later request with this key can succeed. */
export function isKeyRefused(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 15_000

/**
 * The pause after this many failed tries. It doubles each time. Its upper half is random, so that many steps do not
 * try again at the same time.
 */
export function backoffMs(failedTries: number, random: () => number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1)) * (0.5 + random() / 2)
}

/** The pause that the service asks for with `Retry-After`. */
export function askedPauseMs(failure: Failure): number {
  return failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0
}

/** The failures since the last request that succeeded. When they have lasted too long, no request is repeated. */
export class FailureStreak {
  readonly #limitMs: number
  readonly #clock: Pick<Clock, 'now'>
  #sinceMs: number | undefined

  constructor({ failureLimitMs }: { readonly failureLimitMs: number }, clock: Pick<Clock, 'now'>) {
    this.#limitMs = failureLimitMs
    this.#clock = clock
  }

  /** Call this with the response to each request. */
  onResponse<Result>(response: Result | Failure): void {
    this.#sinceMs = isFailure(response) ? (this.#sinceMs ?? this.#clock.now()) : undefined
  }

  /** Until when requests may be repeated. */
  get untilMs(): number {
    return this.#sinceMs === undefined ? Number.POSITIVE_INFINITY : this.#sinceMs + this.#limitMs
  }
}

/** A try without a result. Another try follows. It begins at `untilMs` at the latest. */
export class TryAgain {
  readonly failure: Failure
  readonly untilMs: number

  constructor(failure: Failure, untilMs: number) {
    this.failure = failure
    this.untilMs = untilMs
  }
}

/**
 * Tries until a try gives a result. A failure after which no other try may follow is a result too. The pauses grow, and obey
 * `Retry-After`. No pause goes beyond `untilMs`, so the last try is made at the limit.
 */
export async function retry<Result>(
  attempt: (tries: number) => Promise<Result | TryAgain>,
  pauseUntil: (atMs: number, after: TryAgain) => Promise<void>,
  { clock, random }: { readonly clock: Pick<Clock, 'now'>; readonly random: () => number },
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const result = await attempt(tries)
    if (!(result instanceof TryAgain)) return result
    const pauseMs = Math.max(backoffMs(tries, random), askedPauseMs(result.failure))
    await pauseUntil(Math.min(clock.now() + pauseMs, result.untilMs), result)
  }
}
