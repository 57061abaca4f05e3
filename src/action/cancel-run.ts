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

/**
 * A request gets half of the time that is left, but at least this long. If less than this is left, it gets all of it. After
 * a try, no other try begins with less than this left, because the time-out of that try would replace the real failure.
 */
const SHORTEST_TRY_MS = 1_000

/**
 * Tries to cancel a run until the result is final or the time is up. If this process is aborted meanwhile, it drops the
 * request in flight, and tries again until `cancelDeadlineMs`. Main and post may both cancel a run, because a second
 * cancel does no harm.
 */
export async function cancelRun(handle: RunHandle, options: CancelOptions, world: CancelWorld): Promise<CancelResult> {
  const { service, signal, log } = world
  if (service.cancel === undefined) return { kind: 'not-supported' }
  log.info(fragment`Run ${handle.id}: cancelling it at the service.`)
  const cancel = new Cancel(handle, service.cancel, options, world)
  if (!signal.aborted) {
    const result = await cancel.tryUntil(options.deadlineMs, signal)
    // If the abort ended the tries, the tries below follow.
    if (!signal.aborted || result.kind !== 'failed') return result
  }
  const never = new AbortController().signal
  return cancel.tryUntil(abortReason(signal).cancelDeadlineMs(handle.knownSinceMs), never)
}

/** A try after which another try may succeed. */
interface NotYet {
  readonly kind: 'not-yet'
  /**
   * Why the run is not known to be cancelled, for the user. If the service accepted the cancel, this is why the run could not
   * be read. Undefined if the service accepted the cancel and no read failed.
   */
  readonly reason: Failure | undefined
  /** The failure of the try's last request, whose response may ask for a pause. Undefined if that request succeeded. */
  readonly lastFailure: Failure | undefined
}

/** The cancel of one run. A try may send two requests: the cancel, and one that reads the run. */
class Cancel {
  readonly #handle: RunHandle
  readonly #send: NonNullable<TestService['cancel']>
  readonly #options: CancelOptions
  readonly #world: CancelWorld
  #mayHaveCancelled = false

  constructor(handle: RunHandle, send: NonNullable<TestService['cancel']>, options: CancelOptions, world: CancelWorld) {
    this.#handle = handle
    this.#send = send
    this.#options = options
    this.#world = world
  }

  /** Tries until a result is final, no time for another try is left, or the signal aborts. */
  async tryUntil(deadlineMs: number, signal: AbortSignal): Promise<CancelResult> {
    const { clock, random } = this.#world
    const requestOptions = (): RequestOptions => {
      const leftMs = Math.max(1, deadlineMs - clock.now())
      const wantedMs = Math.max(leftMs / 2, SHORTEST_TRY_MS)
      return { signal, limitMs: Math.min(wantedMs, leftMs) }
    }
    let reason: Failure | undefined
    for (let tries = 1; !signal.aborted; tries++) {
      const result = await this.#try(requestOptions)
      if (result.kind !== 'not-yet') return result
      reason = result.reason
      const pauseMs = backoffMs(tries, result.lastFailure, random)
      const longestPauseMs = deadlineMs - clock.now() - SHORTEST_TRY_MS
      if (longestPauseMs <= 0) break
      await clock.sleep(Math.min(pauseMs, longestPauseMs), signal)
    }
    return { kind: 'failed', failure: reason }
  }

  async #try(options: () => RequestOptions): Promise<CancelResult | NotYet> {
    const response = await this.#send(this.#handle.id, options())
    if (response === true) return { kind: 'cancelled' }
    // The service accepted the cancel, but does not list the run.
    if (response === false) return this.#readRun(options)
    this.#mayHaveCancelled ||= mayHaveBeenAccepted(response)
    if (isKeyRefused(response) || hasServiceEnded(response)) return { kind: 'failed', failure: response }
    if (shouldReadRun(response)) return this.#readRun(options, response)
    return { kind: 'not-yet', reason: response, lastFailure: response }
  }

  /** The response to a cancel does not say whether the run has finished or does not exist. So this reads the run. */
  async #readRun(options: () => RequestOptions, cancelFailure?: Failure): Promise<CancelResult | NotYet> {
    const { service, clock } = this.#world
    const { id } = this.#handle
    // A request's path cannot contain an unusable id.
    if (!isUsableRunId(id)) return { kind: 'not-yet', reason: cancelFailure, lastFailure: cancelFailure }
    const sentAtMs = clock.now()
    const run = await service.get(id, options())
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (isNotFound(run) && isNotFoundFinal(this.#handle, sentAtMs)) return { kind: 'not-found' }
      return { kind: 'not-yet', reason: cancelFailure ?? run, lastFailure: run }
    }
    this.#options.onRun?.(run)
    if (!isFinished(run)) {
      // If `cancelFailure` is undefined, the service accepted the cancel and did not list the run. That alone proves nothing,
      // because the run may have finished before. This read shows that it had not. So if a later read shows CANCELLED, this
      // cancel did it.
      if (cancelFailure === undefined) this.#mayHaveCancelled = true
      return { kind: 'not-yet', reason: cancelFailure, lastFailure: undefined }
    }
    return this.#mayHaveCancelled && run.status === 'CANCELLED'
      ? { kind: 'cancelled' }
      : { kind: 'already-finished', run }
  }
}

/**
 * Called only if another request may succeed. After an invalid response, and after a status that is not transient, main or
 * post reads the run. After every other failure, the cancel itself is repeated.
 */
function shouldReadRun(failure: Failure): boolean {
  return failure.kind === 'invalid-response' || (failure.kind === 'status' && !isTransient(failure))
}
