import { type Failure, isFailure, isNotFound, responseOrFailure } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { Cancellation } from '../outcome/step-outcome.ts'
import { backoffMs, isTransient, mayHaveBeenAccepted } from '../service/retry.ts'
import { isNotFoundFinal, isUsableRunId, type RunHandle } from '../service/test-service.ts'
import type { RequestOptions } from '../service/transport.ts'
import { cancelReason } from './abort.ts'
import type { World } from './world.ts'

export interface CancelOptions {
  readonly limitMs: number
  readonly onRun?: ((run: Run) => void) | undefined
}

/** What is left at the end is too short for a request, and its failure would hide the real one. */
const SHORTEST_TRY_MS = 20

/**
 * Cancels a run, and tries again until the service confirms the cancel, the run turns out to be finished or not to
 * exist, or the time has passed. When the runner's signal comes, before it or in the middle of it, what hangs is dropped
 * and tried anew in the time that is left. A second cancel of the same run is harmless, so that main and post may both
 * try. Never throws ServiceError.
 */
export async function cancelRun(
  handle: RunHandle,
  options: CancelOptions,
  { service, clock, random, abort }: Pick<World, 'service' | 'clock' | 'random' | 'abort'>,
): Promise<Cancellation> {
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  let deadlineMs = clock.now() + options.limitMs
  let signal = abort
  let lastFailure: Failure | undefined
  let mayHaveCancelled = false

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) {
      deadlineMs = cancelReason(abort).cancelDeadlineMs(handle)
      signal = new AbortController().signal
      attempt = 1
    }
    if (deadlineMs - clock.now() <= (attempt === 1 ? 0 : SHORTEST_TRY_MS)) break
    const response = await responseOrFailure(cancel(handle.id, requestOptions()))
    if (response === true) return { kind: 'cancelled' }
    lastFailure = response === false ? undefined : response
    if (lastFailure !== undefined) {
      mayHaveCancelled ||= mayHaveBeenAccepted(lastFailure)
      if (isUnauthorized(lastFailure)) break
    }
    if (lastFailure === undefined || isAboutTheRun(lastFailure)) {
      const end = await readRun()
      if (end !== undefined) return end
    }
    const pauseMs = backoffMs(attempt, lastFailure, random)
    // If the service asks for more time than is left, the last try comes shortly before the deadline.
    const leftMs = deadlineMs - clock.now()
    await clock.sleep(Math.max(0, Math.min(pauseMs, leftMs > 2_000 ? leftMs - 1_000 : leftMs)), signal)
  }
  return { kind: 'failed', failure: lastFailure }

  /** Only the run itself tells what a refused cancel means: that it is finished, or that there is none. */
  async function readRun(): Promise<Cancellation | undefined> {
    // Such an id cannot stand in a path.
    if (!isUsableRunId(handle.id)) return undefined
    const sentAtMs = clock.now()
    const run = await responseOrFailure(service.get(handle.id, requestOptions()))
    if (isFailure(run)) return isNotFound(run) && isNotFoundFinal(handle, sentAtMs) ? { kind: 'not-found' } : undefined
    options.onRun?.(run)
    if (!isTerminal(run)) return undefined
    const isOurDoing = mayHaveCancelled && run.status === 'CANCELLED'
    return { kind: isOurDoing ? 'cancelled' : 'already-finished', run }
  }

  /** Half of the time left, so that a request that never gets a response leaves room for another. */
  function requestOptions(): RequestOptions {
    const leftMs = Math.max(1, deadlineMs - clock.now())
    return { signal, limitMs: Math.max(leftMs / 2, Math.min(leftMs, 1_000)) }
  }
}

/** A transient failure says nothing about the run. */
function isAboutTheRun(failure: Failure): boolean {
  return failure.kind === 'invalid-response' || (failure.kind === 'status' && !isTransient(failure))
}

/** The key may not do this: neither the next cancel nor reading the run changes that. */
function isUnauthorized(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}
