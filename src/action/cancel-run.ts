import { type Failure, isFailure, isNotFound } from '../outcome/failure.ts'
import { isFinished, type Run } from '../outcome/run.ts'
import type { Cancellation } from '../outcome/step-outcome.ts'
import type { ServiceClient } from '../service/client.ts'
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

/** No request gets less time than this, and no try begins with less time left: its time-out would replace the real failure. */
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
  return cancel.tryUntil(abortReason(signal).cancelDeadlineMs(handle.learnedMs), never)
}

/** A try after which another try may succeed. */
interface NotYet {
  readonly kind: 'not-yet'
  /** Why the run is not known to be cancelled. Undefined if the service accepted the cancel, and the run still runs. */
  readonly failure: Failure | undefined
}

/** The cancel of one run. A try sends the cancel. If the response leaves open what became of the run, it reads the run. */
class Cancel {
  readonly #handle: RunHandle
  readonly #send: NonNullable<ServiceClient['cancel']>
  readonly #options: CancelOptions
  readonly #world: CancelWorld
  readonly #streak: FailureStreak
  /** Whether a run that is CANCELLED now may have been cancelled by this process. */
  #mayBeOurs = false

  constructor(
    handle: RunHandle,
    send: NonNullable<ServiceClient['cancel']>,
    options: CancelOptions,
    world: CancelWorld,
  ) {
    this.#handle = handle
    this.#send = send
    this.#options = options
    this.#world = world
    this.#streak = new FailureStreak(world.service, world.clock)
  }

  /** Tries until a result is final, no time for another try is left, or the signal aborts. */
  async tryUntil(deadlineMs: number, signal: AbortSignal): Promise<CancelResult> {
    const { clock, random } = this.#world
    // A request gets half of the time, so that a request that hangs leaves time for another try.
    const requestOptions = (): RequestOptions => {
      const leftMs = Math.max(1, deadlineMs - clock.now())
      return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
    }
    let failure: Failure | undefined
    for (let tries = 1; !signal.aborted; tries++) {
      const result = await this.#try(requestOptions)
      if (result.kind !== 'not-yet') return result
      failure = result.failure
      const leftMs = Math.min(deadlineMs - clock.now() - SHORTEST_TRY_MS, this.#streak.leftMs)
      if (leftMs <= 0) break
      const pauseMs = Math.max(backoffMs(tries, random), askedPauseMs(this.#streak.last))
      await clock.sleep(Math.min(pauseMs, leftMs), signal)
    }
    return { kind: 'failed', failure: this.#streak.atEnd(failure) }
  }

  async #try(options: () => RequestOptions): Promise<CancelResult | NotYet> {
    const isListed = await this.#send(this.#handle.id, options())
    this.#streak.onResponse(isListed)
    if (isListed === true) return { kind: 'cancelled' }
    // The service accepted the cancel, but does not list the run.
    if (isListed === false) return this.#readRun(options)
    this.#mayBeOurs ||= mayHaveBeenAccepted(isListed)
    if (isKeyRefused(isListed)) return { kind: 'failed', failure: isListed }
    // An invalid response, or a refusal, does not say whether the run has finished or exists.
    const isOpen = isListed.kind === 'invalid-response' || (isListed.kind === 'status' && !isTransient(isListed))
    return isOpen ? this.#readRun(options, isListed) : { kind: 'not-yet', failure: isListed }
  }

  /** @param cancelFailure absent if the service accepted the cancel */
  async #readRun(options: () => RequestOptions, cancelFailure?: Failure): Promise<CancelResult | NotYet> {
    const { service, clock } = this.#world
    const sentAtMs = clock.now()
    const run = await service.get(this.#handle.id, options())
    this.#streak.onResponse(run)
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (isNotFound(run) && sentAtMs >= this.#handle.notFoundIsFinalFromMs) return { kind: 'not-found' }
      return { kind: 'not-yet', failure: cancelFailure ?? run }
    }
    this.#options.onRun?.(run)
    if (isFinished(run)) {
      const isOurs = this.#mayBeOurs && run.status === 'CANCELLED'
      return isOurs ? { kind: 'cancelled' } : { kind: 'already-finished', run }
    }
    // The service accepted the cancel of a run that had not finished. So if the run is CANCELLED later, this cancel did it.
    if (cancelFailure === undefined) this.#mayBeOurs = true
    return { kind: 'not-yet', failure: cancelFailure }
  }
}
