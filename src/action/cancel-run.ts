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
  let mayHaveCancelled = false
  let failingSinceMs: number | undefined

  const tryUntil = async (deadlineMs: number, signal: AbortSignal): Promise<CancelResult | undefined> => {
    // A request gets half of the time that is left, so that a request that hangs leaves time for another try.
    const request = () => {
      const leftMs = Math.max(1, deadlineMs - clock.now())
      return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
    }
    for (let tries = 1; !signal.aborted; tries++) {
      const response = await cancel(handle.id, request())
      if (!isFailure(response)) return { kind: 'cancelled' }
      if (isKeyRefused(response)) return { kind: 'failed', failure: response }
      // The service does not list a run that was CANCELLED before. So then only an earlier try can have cancelled it.
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

      const nowMs = clock.now()
      if (signal.aborted) return undefined
      const lastTryMs = Math.min(deadlineMs - SHORTEST_TRY_MS, (failingSinceMs ?? nowMs) + service.failureLimitMs)
      if (nowMs >= lastTryMs) return { kind: 'failed', failure: response }
      const nextTryMs = Math.min(nowMs + pauseMs(tries, isFailure(run) ? run : response, random), lastTryMs)
      await clock.sleep(nextTryMs - nowMs, signal)
    }
    return undefined
  }
  // Nothing ends the tries after an abort, except its deadline.
  return retry(() => {
    const { signal } = world
    if (!signal.aborted) return tryUntil(options.deadlineMs, signal)
    return tryUntil(abortReason(signal).cancelDeadlineMs, new AbortController().signal)
  })
}

/** Whether main reads the run before it cancels again. After a transient failure, it only cancels again. */
function mustReadRun(failure: Failure): boolean {
  if (failure.kind === 'status') return !isTransient(failure)
  return failure.kind === 'invalid-response' || failure.kind === 'not-listed'
}
