import { type Failure, isFailure, isNotFound } from '../model/failure.ts'
import type { Cancellation } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import type { ServiceClient } from '../service/client.ts'
import type { RequestOptions } from '../service/transport.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import { isKeyRefused, isPerhapsNotKnownYet, isTransient, mayHaveBeenAccepted, type RunHandle } from './failures.ts'
import { pauseMs } from './pauses.ts'
import type { RunWorld } from './world.ts'

type Cancel = NonNullable<ServiceClient['cancel']>
type CancelResult = Exclude<Cancellation, { kind: 'none' | 'not-allowed' | 'id-unknown' }>

/** What a try shows if the run may still be running. */
interface NoResult {
  readonly kind: 'no result'
  /** The response to the cancel. */
  readonly response: Failure
  /** The failure whose `Retry-After` counts. */
  readonly pauseAskedBy: Failure
}

function noResult(response: Failure, pauseAskedBy = response): NoResult {
  return { kind: 'no result', response, pauseAskedBy }
}

/** With less time left, no further try begins, because its time-out would replace the real failure. */
const SHORTEST_TRY_MS = 1_000

interface RunToCancel {
  readonly handle: RunHandle
  /** Gets the run each time that it is read. */
  readonly onRun?: (run: Run) => void
}

/** Tries to cancel a run until the result is final or the time is up. Main and post may both do so, because a second cancel does no harm. */
export async function cancelRun(run: RunToCancel, deadlineMs: number, world: RunWorld): Promise<CancelResult> {
  const { service, log, signal } = world
  if (service.cancel === undefined) return { kind: 'not-supported' }
  log.info(fragment`Cancelling run ${run.handle.id} at the service.`)
  const tries = new CancelTries(run, service.cancel, world)
  if (!signal.aborted) {
    const result = await tries.until(deadlineMs, signal)
    if (result !== 'aborted') return result
  }
  // The abort gives the cancel another deadline. A step is aborted only once, so nothing aborts these tries.
  return tries.until(abortReason(signal).cancelDeadlineMs)
}

class CancelTries {
  readonly #run: RunToCancel
  readonly #cancel: Cancel
  readonly #world: RunWorld
  /** Whether a request of this step may have cancelled the run. */
  #mayHaveCancelled = false
  /** Since when no request has told anything about the run. */
  #failingSinceMs: number | undefined

  constructor(run: RunToCancel, cancel: Cancel, world: RunWorld) {
    this.#run = run
    this.#cancel = cancel
    this.#world = world
  }

  until(deadlineMs: number): Promise<CancelResult>
  until(deadlineMs: number, signal: AbortSignal): Promise<CancelResult | 'aborted'>
  async until(deadlineMs: number, signal = new AbortController().signal): Promise<CancelResult | 'aborted'> {
    const { clock, random, service } = this.#world
    for (let tries = 1; !signal.aborted; tries++) {
      const result = await this.#tryOnce(deadlineMs, signal)
      if (result.kind !== 'no result') return result
      if (signal.aborted) break
      const nowMs = clock.now()
      const giveUpMs = (this.#failingSinceMs ?? nowMs) + service.failureLimitMs
      const lastTryMs = Math.min(deadlineMs - SHORTEST_TRY_MS, giveUpMs)
      if (nowMs >= lastTryMs) return { kind: 'failed', failure: result.response }
      const nextTryMs = Math.min(nowMs + pauseMs(tries, result.pauseAskedBy, random), lastTryMs)
      await clock.sleep(nextTryMs - nowMs, signal)
    }
    return 'aborted'
  }

  async #tryOnce(deadlineMs: number, signal: AbortSignal): Promise<CancelResult | NoResult> {
    const response = await this.#cancel(this.#run.handle.id, this.#requestOptions(deadlineMs, signal))
    if (!isFailure(response)) return { kind: 'cancelled' }
    this.#failingSinceMs ??= this.#world.clock.now()
    if (isKeyRefused(response)) return { kind: 'failed', failure: response }
    // If the run turns out to be CANCELLED, who has done it? This step, if one of its requests may have cancelled the run:
    //
    //   the response              if the run is CANCELLED now             if it is CANCELLED after a later try
    //   404, 409, …               somebody else                           somebody else
    //   not listed                somebody else                           this step, because the request may still take effect
    //   2xx, but not valid        this step                               this step
    //   500, none, …              nobody knows, the run is not read now   this step
    // `isOurs` is the column in the middle, and `#mayHaveCancelled` the last one. An earlier request of this step outweighs both.
    const mayBeAccepted = mayHaveBeenAccepted(response)
    const isOurs = this.#mayHaveCancelled || (mayBeAccepted && response.kind !== 'not-listed')
    this.#mayHaveCancelled ||= mayBeAccepted
    if (!mustReadRun(response)) return noResult(response)
    return this.#readRun(response, isOurs, this.#requestOptions(deadlineMs, signal))
  }

  /** `isOurs` says who has cancelled the run, if it is CANCELLED. */
  async #readRun(response: Failure, isOurs: boolean, options: RequestOptions): Promise<CancelResult | NoResult> {
    const { clock, service } = this.#world
    const { handle, onRun } = this.#run
    const sentMs = clock.now()
    const run = await service.get(handle.id, options)
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (isNotFound(run) && !isPerhapsNotKnownYet(handle, run, sentMs)) return { kind: 'not-found' }
      return noResult(response, run)
    }
    this.#failingSinceMs = undefined
    onRun?.(run)
    if (!isFinished(run)) return noResult(response)
    return { kind: run.status === 'CANCELLED' && isOurs ? 'cancelled' : 'already-finished' }
  }

  /**
   * A request gets half of the time that is left, but at least a second, and never more than is left. So a request that hangs leaves
   * time for another try.
   */
  #requestOptions(deadlineMs: number, signal: AbortSignal): RequestOptions {
    const leftMs = Math.max(1, deadlineMs - this.#world.clock.now())
    return { signal, limitMs: Math.min(leftMs, Math.max(leftMs / 2, SHORTEST_TRY_MS)) }
  }
}

/**
 * Whether main or post reads the run before it cancels again. They do if the service has handled the cancel: it refused the cancel, or
 * its 2xx response does not show that the run is cancelled. After every other failure, they only cancel again.
 */
function mustReadRun(failure: Failure): boolean {
  switch (failure.kind) {
    case 'status':
      // A status that another try cannot change, such as 404 or 409, says that the service refused the cancel.
      return !isTransient(failure)
    case 'invalid-response':
    case 'not-listed':
      return true
    case 'not-sent':
    case 'no-response':
    case 'aborted':
      return false
  }
}
