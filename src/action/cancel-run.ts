import { type Failure, isFailure, isNotFound } from '../model/failure.ts'
import type { Cancellation } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import {
  askedPauseMs,
  backoffMs,
  FailureStreak,
  isKeyRefused,
  isTransient,
  mayHaveBeenAccepted,
} from '../service/retry.ts'
import type { RequestOptions } from '../service/transport.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import type { RunHandle } from './run-handle.ts'
import type { World } from './world.ts'

type CancelWorld = Pick<World, 'service' | 'clock' | 'random' | 'signal' | 'log'>

type CancelResult = Exclude<Cancellation, { kind: 'not-wanted' | 'no-run' | 'id-unknown' }>

export interface CancelOptions {
  /** If the step is aborted, the deadline of `StepAborted` applies instead. */
  readonly deadlineMs: number
  readonly onRun?: ((run: Run) => void) | undefined
}

/** With less time left, no further try begins, because its time-out would replace the real failure. */
const SHORTEST_TRY_MS = 1_000

/** A try after which another try may succeed. */
interface NotYet {
  readonly kind: 'not-yet'
  /** Why the run is not known to be cancelled. Undefined if the service accepted the cancel, and the run still runs. */
  readonly failure: Failure | undefined
}

/**
 * Tries to cancel a run until the result is final or the time is up. If this process is aborted meanwhile, it drops the
 * request in flight, and tries again until `cancelDeadlineMs`. Main and post may both cancel a run, because a second
 * cancel does no harm.
 */
export async function cancelRun(handle: RunHandle, options: CancelOptions, world: CancelWorld): Promise<CancelResult> {
  const { service, clock, random, log } = world
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  log.info(fragment`Run ${handle.id}: cancelling it at the service.`)
  const streak = new FailureStreak(service, clock)
  /** Whether a run that is CANCELLED now may have been cancelled by this process. */
  let mayBeOurs = false

  /** Sends the cancel. If the response leaves open what became of the run, reads the run. */
  const tryOnce = async (requestOptions: () => RequestOptions): Promise<CancelResult | NotYet> => {
    const response = await cancel(handle.id, requestOptions())
    streak.onResponse(response)
    if (response === true) return { kind: 'cancelled' }
    // Without a failure, the service accepted the cancel, but does not list the run.
    const failure = isFailure(response) ? response : undefined
    if (failure !== undefined) {
      mayBeOurs ||= mayHaveBeenAccepted(failure)
      if (isKeyRefused(failure)) return { kind: 'failed', failure }
      // An invalid response, or a refusal, does not say whether the run has finished or exists.
      const isFromService = failure.kind === 'invalid-response' || (failure.kind === 'status' && !isTransient(failure))
      if (!isFromService) return { kind: 'not-yet', failure }
    }
    const sentAtMs = clock.now()
    const run = await service.get(handle.id, requestOptions())
    streak.onResponse(run)
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (isNotFound(run) && sentAtMs >= handle.notFoundIsFinalFromMs) return { kind: 'not-found' }
      return { kind: 'not-yet', failure: failure ?? run }
    }
    options.onRun?.(run)
    if (isFinished(run)) {
      return mayBeOurs && run.status === 'CANCELLED' ? { kind: 'cancelled' } : { kind: 'already-finished', run }
    }
    // The service accepted the cancel of a run that had not finished. So if the run is CANCELLED later, this cancel did it.
    if (failure === undefined) mayBeOurs = true
    return { kind: 'not-yet', failure }
  }

  /** Tries until a result is final, no time for another try is left, or the signal aborts. */
  const tryUntil = async (deadlineMs: number, signal: AbortSignal): Promise<CancelResult> => {
    // A request gets half of the time that is left, so that a request that hangs leaves time for another try.
    const requestOptions = (): RequestOptions => {
      const leftMs = Math.max(1, deadlineMs - clock.now())
      return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
    }
    let failure: Failure | undefined
    for (let tries = 1; !signal.aborted; tries++) {
      const result = await tryOnce(requestOptions)
      if (result.kind !== 'not-yet') return result
      failure = result.failure
      const leftMs = Math.min(deadlineMs - clock.now() - SHORTEST_TRY_MS, streak.leftMs)
      if (leftMs <= 0) break
      const pauseMs = Math.max(backoffMs(tries, random), askedPauseMs(streak.last))
      await clock.sleep(Math.min(pauseMs, leftMs), signal)
    }
    return { kind: 'failed', failure: streak.atEnd(failure) }
  }

  if (!world.signal.aborted) {
    const result = await tryUntil(options.deadlineMs, world.signal)
    // If the abort ended the tries, the tries below follow.
    if (!world.signal.aborted || result.kind !== 'failed') return result
  }
  const never = new AbortController().signal
  return tryUntil(abortReason(world.signal).cancelDeadlineMs(handle.learnedMs), never)
}
