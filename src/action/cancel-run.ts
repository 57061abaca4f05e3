import { type Failure, isFailure } from '../model/failure.ts'
import type { Cancellation } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import type { RequestOptions } from '../service/transport.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import { FailureStreak, isKeyRefused, isTransient, mayHaveBeenAccepted, retry, TryAgain } from './retry.ts'
import { doesNotExist, type RunHandle } from './run-handle.ts'
import type { RunWorld } from './world.ts'

type CancelResult = Exclude<Cancellation, { kind: 'none' | 'not-wanted' | 'id-unknown' }>

export interface CancelOptions {
  /** If the step is aborted, the deadline of `StepAborted` applies instead. */
  readonly deadlineMs: number
  readonly onRun?: ((run: Run) => void) | undefined
}

/** With less time left, no further try begins, because its time-out would replace the real failure. */
const SHORTEST_TRY_MS = 1_000

/**
 * Tries to cancel a run until the result is final or the time is up. If this process is aborted meanwhile, it drops the
 * request in flight, and tries again until `cancelDeadlineMs`. Main and post may both cancel a run, because a second
 * cancel does no harm.
 */
export async function cancelRun(handle: RunHandle, options: CancelOptions, world: RunWorld): Promise<CancelResult> {
  const { service, clock, log } = world
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  log.info(fragment`Cancelling run ${handle.id} at the service.`)
  const streak = new FailureStreak(service, clock)
  /** Whether an earlier try may have cancelled the run. Only then a CANCELLED run counts as cancelled by this step. */
  let mayHaveCancelled = false

  const cancelUntil = (deadlineMs: number, signal: AbortSignal): Promise<CancelResult> => {
    // A request gets half of the time that is left, so that a request that hangs leaves time for another try.
    const requestOptions = (): RequestOptions => {
      const leftMs = Math.max(1, deadlineMs - clock.now())
      return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
    }
    /** Another try, if there is time. Otherwise the cancel fails, and the user reads `reported`. The pause obeys `latest`. */
    const tryAgain = (reported: Failure, latest = reported): TryAgain | CancelResult => {
      const untilMs = Math.min(deadlineMs - SHORTEST_TRY_MS, streak.untilMs)
      if (clock.now() < untilMs) return new TryAgain(latest, untilMs)
      return { kind: 'failed', failure: reported }
    }

    const attempt = async (): Promise<TryAgain | CancelResult> => {
      if (signal.aborted) return { kind: 'failed', failure: { kind: 'aborted' } }
      const response = await cancel(handle.id, requestOptions())
      streak.onResponse(response)
      if (!isFailure(response)) return { kind: 'cancelled' }
      if (isKeyRefused(response)) return { kind: 'failed', failure: response }
      const isNotListed = response.kind === 'not-listed'
      if (!isNotListed) mayHaveCancelled ||= mayHaveBeenAccepted(response)
      if (!mustReadRun(response)) return tryAgain(response)
      const result = await readRun(response)
      // If the service accepted the cancel of a run that had not finished, a later CANCELLED is the work of this cancel.
      mayHaveCancelled ||= isNotListed
      return result
    }

    /** Reads the run, because the response to the cancel leaves open what became of it. */
    const readRun = async (response: Failure): Promise<TryAgain | CancelResult> => {
      const sentMs = clock.now()
      const run = await service.get(handle.id, requestOptions())
      streak.onResponse(run)
      if (isFailure(run)) {
        if (isKeyRefused(run)) return { kind: 'failed', failure: run }
        if (doesNotExist(handle, run, sentMs)) return { kind: 'not-found' }
        return tryAgain(response.kind === 'not-listed' ? run : response, run)
      }
      options.onRun?.(run)
      if (!isFinished(run)) return tryAgain(response)
      return mayHaveCancelled && run.status === 'CANCELLED' ? { kind: 'cancelled' } : { kind: 'already-finished' }
    }
    return retry(attempt, (atMs) => clock.sleep(atMs - clock.now(), signal), world)
  }

  if (!world.signal.aborted) {
    const result = await cancelUntil(options.deadlineMs, world.signal)
    // If the abort ended the tries, the tries below follow.
    if (!world.signal.aborted || result.kind !== 'failed') return result
  }
  const never = new AbortController().signal
  return cancelUntil(abortReason(world.signal).cancelDeadlineMs, never)
}

/** Whether main reads the run before it cancels again. After a transient failure, it only cancels again. */
function mustReadRun(failure: Failure): boolean {
  if (failure.kind === 'status') return !isTransient(failure)
  return failure.kind === 'invalid-response' || failure.kind === 'not-listed'
}
