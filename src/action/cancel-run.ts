import { type Failure, hasServiceEnded, isFailure, isNotFound } from '../outcome/failure.ts'
import { isFinished, type Run } from '../outcome/run.ts'
import type { Cancellation } from '../outcome/step-outcome.ts'
import { backoffMs, isKeyRefused, isTransient, mayHaveBeenAccepted } from '../service/retry.ts'
import { isNotFoundFinal, isUsableRunId, type RunHandle } from '../service/run-handle.ts'
import type { TestService } from '../service/test-service.ts'
import type { RequestOptions } from '../service/transport.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import type { World } from './world.ts'

type CancelWorld = Pick<World, 'service' | 'clock' | 'random' | 'signal' | 'log'>

type CancelResult = Exclude<Cancellation, { kind: 'not-wanted' | 'no-run' | 'id-unknown' }>

export interface CancelOptions {
  /** If the step is aborted, the deadline of `StepAborted` applies instead. */
  readonly deadlineMs: number
  readonly onRun?: ((run: Run) => void) | undefined
}

/** Each try gets at least this long. The time-out of a shorter try would replace the real failure. */
const SHORTEST_TRY_MS = 1_000

/**
 * Tries to cancel a run until the result is final or the time is up. If this process is aborted meanwhile, it drops the
 * request in flight, and tries again until `cancelDeadlineMs`. Main and post may both cancel a run, because a second
 * cancel does no harm.
 */
export async function cancelRun(handle: RunHandle, options: CancelOptions, world: CancelWorld): Promise<CancelResult> {
  const { service, signal } = world
  if (service.cancel === undefined) return { kind: 'not-supported' }
  world.log.info(fragment`Run ${handle.id}: cancelling it at the service.`)
  const tryOnce = createTry(handle, service.cancel, options, world)
  if (!signal.aborted) {
    const result = await tryUntil(options.deadlineMs, signal, tryOnce, world)
    // If the abort ended the tries, the tries below follow.
    if (!signal.aborted || result.kind !== 'failed') return result
  }
  const never = new AbortController().signal
  return tryUntil(abortReason(signal).cancelDeadlineMs(handle.knownSinceMs), never, tryOnce, world)
}

type TryResult = CancelResult | NotYet

/** A try after which another try may succeed. `reason` is for the user, and `lastFailure` is for the pause. */
interface NotYet {
  readonly kind: 'not-yet'
  /** Why the run is not cancelled yet. Undefined if the service accepted the cancel, but the run has not finished. */
  readonly reason: Failure | undefined
  /** The failure of the try's last request, in which the service may ask for a pause. */
  readonly lastFailure: Failure | undefined
}

/** A try may send two requests, and each has its own time limit. */
type Try = (options: () => RequestOptions) => Promise<TryResult>

/** Tries until a result is final, no time for another try is left, or the signal aborts. */
async function tryUntil(
  deadlineMs: number,
  signal: AbortSignal,
  tryOnce: Try,
  { clock, random }: CancelWorld,
): Promise<CancelResult> {
  // A request gets half of the time left, so that another try is possible.
  const requestOptions = (): RequestOptions => {
    const leftMs = Math.max(1, deadlineMs - clock.now())
    return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
  }
  let reason: Failure | undefined
  for (let tries = 1; !signal.aborted; tries++) {
    const result = await tryOnce(requestOptions)
    if (result.kind !== 'not-yet') return result
    reason = result.reason
    const pauseMs = backoffMs(tries, result.lastFailure, random)
    const longestPauseMs = deadlineMs - clock.now() - SHORTEST_TRY_MS
    if (longestPauseMs <= 0) break
    await clock.sleep(Math.min(pauseMs, longestPauseMs), signal)
  }
  return { kind: 'failed', failure: reason }
}

function createTry(
  handle: RunHandle,
  cancel: NonNullable<TestService['cancel']>,
  { onRun }: CancelOptions,
  { service, clock }: CancelWorld,
): Try {
  let mayHaveCancelled = false

  /** The response to a cancel does not say whether the run has finished or does not exist. So this reads the run. */
  async function readRun(options: () => RequestOptions, cancelFailure?: Failure): Promise<TryResult> {
    // A request's path cannot contain an unusable id.
    if (!isUsableRunId(handle.id)) return { kind: 'not-yet', reason: cancelFailure, lastFailure: cancelFailure }
    const sentAtMs = clock.now()
    const run = await service.get(handle.id, options())
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (isNotFound(run) && isNotFoundFinal(handle, sentAtMs)) return { kind: 'not-found' }
      return { kind: 'not-yet', reason: cancelFailure ?? run, lastFailure: run }
    }
    onRun?.(run)
    if (!isFinished(run)) {
      // Without a failure, the service accepted the cancel. The run has not finished yet, so if it is CANCELLED later, this
      // cancel did it.
      mayHaveCancelled ||= cancelFailure === undefined
      return { kind: 'not-yet', reason: cancelFailure, lastFailure: undefined }
    }
    return mayHaveCancelled && run.status === 'CANCELLED' ? { kind: 'cancelled' } : { kind: 'already-finished', run }
  }

  return async (options) => {
    // `true`: the response lists the run as cancelled. `false`: the service accepted the cancel, but does not list the run.
    const response = await cancel(handle.id, options())
    if (response === true) return { kind: 'cancelled' }
    if (response === false) return readRun(options)
    mayHaveCancelled ||= mayHaveBeenAccepted(response)
    if (isKeyRefused(response) || hasServiceEnded(response)) return { kind: 'failed', failure: response }
    if (shouldReadRun(response)) return readRun(options, response)
    return { kind: 'not-yet', reason: response, lastFailure: response }
  }
}

/** After an invalid response, and after a status that is not transient, the run tells whether it is cancelled. */
function shouldReadRun(failure: Failure): boolean {
  return failure.kind === 'invalid-response' || (failure.kind === 'status' && !isTransient(failure))
}
