import { type Failure, isNotFound, ServiceError } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { Cancellation } from '../outcome/step-outcome.ts'
import type { RequestOptions } from '../service/http.ts'
import { backoffMs, isTransient, mayHaveBeenAccepted } from '../service/retry.ts'
import { isUsableRunId, type TestService } from '../service/test-service.ts'
import { cancelReason } from './abort.ts'
import type { World } from './world.ts'

export interface CancelOptions extends Pick<World, 'clock' | 'random' | 'abort'> {
  /** How long to try. If `abort` comes, its deadline replaces this. */
  readonly limitMs: number
  /** Until when, on the clock's `now()`, a 404 may be sent for a run that was only just started. */
  readonly notFoundGraceUntilMs: number
  /** Called with what each look at the run shows. */
  readonly onRun?: ((run: Run) => void) | undefined
}

/** A run that was only just started may not be known yet to the part of the service that responds. */
export const NOT_FOUND_GRACE_MS = 15_000

const BACKOFF = { firstMs: 500, longestMs: 10_000 }
/** What is left at the end is too short for a request, and its failure would hide the real one. */
const SHORTEST_TRY_MS = 20

/**
 * Cancels a run, and tries again until the service confirms the cancel, a look at the run shows that it is finished or
 * gone, or the time has passed. When the runner's signal comes, before it or in the middle of it, what hangs is dropped
 * and tried anew in the time that is left. A second cancel of the same run is harmless, so that main and post may both
 * try. Never throws ServiceError.
 */
export async function cancelRun(service: TestService, runId: string, options: CancelOptions): Promise<Cancellation> {
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  const { clock, abort } = options
  let deadlineMs = clock.now() + options.limitMs
  let signal = abort
  let lastFailure: Failure | undefined
  let mayHaveCancelled = false

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) {
      deadlineMs = cancelReason(abort).cancelDeadlineMs
      signal = new AbortController().signal
      attempt = 1
    }
    if (deadlineMs - clock.now() <= (attempt === 1 ? 0 : SHORTEST_TRY_MS)) break
    const response = await toFailure(() => cancel(runId, requestOptions()))
    if (response === true) return { kind: 'cancelled' }
    lastFailure = response === false ? undefined : response
    if (lastFailure !== undefined) {
      mayHaveCancelled ||= mayHaveBeenAccepted(lastFailure)
      if (isUnauthorized(lastFailure)) break
    }
    if (lastFailure === undefined || isAboutTheRun(lastFailure)) {
      const end = await lookAtRun()
      if (end !== undefined) return end
    }
    const pauseMs = backoffMs(attempt, lastFailure ?? { kind: 'aborted' }, options.random, BACKOFF)
    // If the service asks for more time than is left, the last try comes shortly before the deadline.
    const leftMs = deadlineMs - clock.now()
    await clock.sleep(Math.max(0, Math.min(pauseMs, leftMs > 2_000 ? leftMs - 1_000 : leftMs)), signal)
  }
  return { kind: 'failed', failure: lastFailure }

  /** Only a look tells what a refused cancel means: finished is done, 404 past the grace period is gone. */
  async function lookAtRun(): Promise<Cancellation | undefined> {
    // Such an id cannot stand in a path.
    if (!isUsableRunId(runId)) return undefined
    const sentAtMs = clock.now()
    const look = await toFailure(() => service.get(runId, requestOptions()))
    if (isFailure(look)) {
      return isNotFound(look) && sentAtMs >= options.notFoundGraceUntilMs ? { kind: 'gone' } : undefined
    }
    options.onRun?.(look)
    if (!isTerminal(look)) return undefined
    const isOurDoing = mayHaveCancelled && look.status === 'CANCELLED'
    return { kind: isOurDoing ? 'cancelled' : 'already-finished', run: look }
  }

  /** Half of the time left, so that a request that never gets a response leaves room for another. */
  function requestOptions(): RequestOptions {
    const leftMs = Math.max(1, deadlineMs - clock.now())
    return { signal, limitMs: Math.max(leftMs / 2, Math.min(leftMs, 1_000)) }
  }
}

/** The failure says something about the run. A transient one says something about the way to the service only. */
function isAboutTheRun(failure: Failure): boolean {
  return failure.kind === 'invalid-response' || (failure.kind === 'status' && !isTransient(failure))
}

/** The key may not do this: neither the next cancel nor a look at the run changes that. */
function isUnauthorized(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

function isFailure(response: Run | Failure): response is Failure {
  return 'kind' in response
}

async function toFailure<T>(request: () => Promise<T>): Promise<T | Failure> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ServiceError) return error.failure
    throw error
  }
}
