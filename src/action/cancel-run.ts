import { type Failure, isFailure } from '../model/failure.ts'
import type { Cancellation } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import {
  doesNotExist,
  isKeyRefused,
  isTransient,
  mayHaveBeenAccepted,
  pauseMs,
  type RunHandle,
  retry,
} from './retry.ts'
import type { RunWorld } from './world.ts'

type CancelResult = Exclude<Cancellation, { kind: 'none' | 'not-wanted' | 'id-unknown' }>

/** With less time left, no further try begins, because its time-out would replace the real failure. */
const SHORTEST_TRY_MS = 1_000

/**
 * Tries to cancel a run until the result is final or the time is up. If this process is aborted meanwhile, it drops the
 * request in flight, and tries again until `cancelDeadlineMs`. Main and post may both cancel a run, because a second
 * cancel does no harm.
 */
export async function cancelRun(
  handle: RunHandle,
  options: { readonly deadlineMs: number; readonly onRun?: (run: Run) => void },
  world: RunWorld,
): Promise<CancelResult> {
  const { service, clock, random, log } = world
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  log.info(fragment`Cancelling run ${handle.id} at the service.`)
  let { signal } = world
  let { deadlineMs } = options
  let pauses = 0
  let mayHaveCancelled = false
  let failingSinceMs: number | undefined

  /** A request gets half of the time that is left, so that a request that hangs leaves time for another try. */
  const request = () => {
    const leftMs = Math.max(1, deadlineMs - clock.now())
    return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
  }

  const attempt = async (): Promise<CancelResult | undefined> => {
    if (signal.aborted) {
      deadlineMs = abortReason(signal).cancelDeadlineMs
      // From now on, only the deadline ends the tries.
      signal = new AbortController().signal
      pauses = 0
    }
    const response = await cancel(handle.id, request())
    if (!isFailure(response)) return { kind: 'cancelled' }
    if (isKeyRefused(response)) return { kind: 'failed', failure: response }
    // If the service does not list the run, this try has not cancelled it. If the run is CANCELLED then, an earlier try did that.
    const isOurs = mayHaveCancelled || (response.kind !== 'not-listed' && mayHaveBeenAccepted(response))
    mayHaveCancelled ||= mayHaveBeenAccepted(response)
    failingSinceMs ??= clock.now()
    const sentMs = clock.now()
    const run = mustReadRun(response) ? await service.get(handle.id, request()) : response
    if (!isFailure(run)) {
      options.onRun?.(run)
      if (isFinished(run)) return { kind: run.status === 'CANCELLED' && isOurs ? 'cancelled' : 'already-finished' }
      failingSinceMs = undefined
    } else if (isKeyRefused(run)) return { kind: 'failed', failure: run }
    else if (doesNotExist(handle, run, sentMs)) return { kind: 'not-found' }

    if (signal.aborted) return undefined
    const nowMs = clock.now()
    const lastTryMs = Math.min(deadlineMs - SHORTEST_TRY_MS, (failingSinceMs ?? nowMs) + service.failureLimitMs)
    if (nowMs >= lastTryMs) return { kind: 'failed', failure: response }
    const pauseEndMs = nowMs + pauseMs(++pauses, isFailure(run) ? run : response, random)
    await clock.sleep(Math.min(pauseEndMs, lastTryMs) - nowMs, signal)
    return undefined
  }
  return retry(attempt)
}

/** Whether main reads the run before it cancels again. After a transient failure, it only cancels again. */
function mustReadRun(failure: Failure): boolean {
  if (failure.kind === 'status') return !isTransient(failure)
  return failure.kind === 'invalid-response' || failure.kind === 'not-listed'
}
