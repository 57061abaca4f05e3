import { type Failure, isFailure } from '../model/failure.ts'
import type { Cancellation } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import { doesNotExist, isKeyRefused, isTransient, mayHaveBeenAccepted, type RunHandle } from './failures.ts'
import { pauseMs } from './pauses.ts'
import type { RunWorld } from './world.ts'

type CancelResult = Exclude<Cancellation, { kind: 'none' | 'not-allowed' | 'id-unknown' }>

/** After a try that ended without a result: the response to the cancel, and the failure whose `Retry-After` counts. */
interface NoResult {
  readonly kind: 'no result'
  readonly response: Failure
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
  const { cancel } = world.service
  if (cancel === undefined) return { kind: 'not-supported' }
  world.log.info(fragment`Cancelling run ${run.handle.id} at the service.`)
  return new Cancelling({ ...run, cancel }, world).tryUntil(deadlineMs, world.signal)
}

type CancellableRun = RunToCancel & Required<Pick<RunWorld['service'], 'cancel'>>

class Cancelling {
  readonly #run: CancellableRun
  readonly #world: RunWorld
  /** Whether the service may have accepted one of the cancels so far. */
  #mayBeAccepted = false
  /** Since when no request has told anything about the run. */
  #failingSinceMs: number | undefined

  constructor(run: CancellableRun, world: RunWorld) {
    this.#run = run
    this.#world = world
  }

  /** If the signal aborts, drops the request in flight, and goes on until `cancelDeadlineMs`. */
  async tryUntil(deadlineMs: number, signal: AbortSignal): Promise<CancelResult> {
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
    // The step was aborted, which gives the cancel another deadline. So the tries begin again, with a signal that nothing aborts.
    return this.tryUntil(abortReason(signal).cancelDeadlineMs, new AbortController().signal)
  }

  async #tryOnce(deadlineMs: number, signal: AbortSignal): Promise<CancelResult | NoResult> {
    const { handle, cancel } = this.#run
    const response = await cancel(handle.id, this.#requestOptions(deadlineMs, signal))
    if (!isFailure(response)) return { kind: 'cancelled' }
    this.#failingSinceMs ??= this.#world.clock.now()
    if (isKeyRefused(response)) return { kind: 'failed', failure: response }
    const mayBeAccepted = mayHaveBeenAccepted(response)
    // `not-listed` says that the run was not cancelled when the service responded. So if the run is CANCELLED now, somebody else has
    // cancelled it. But the service has accepted this cancel, so it counts from the next try on.
    if (response.kind !== 'not-listed') this.#mayBeAccepted ||= mayBeAccepted
    const result = mustReadRun(response) ? await this.#readRun(response, deadlineMs, signal) : noResult(response)
    this.#mayBeAccepted ||= mayBeAccepted
    return result
  }

  async #readRun(response: Failure, deadlineMs: number, signal: AbortSignal): Promise<CancelResult | NoResult> {
    const { clock, service } = this.#world
    const { handle, onRun } = this.#run
    const sentMs = clock.now()
    const run = await service.get(handle.id, this.#requestOptions(deadlineMs, signal))
    if (isFailure(run)) {
      if (isKeyRefused(run)) return { kind: 'failed', failure: run }
      if (doesNotExist(handle, run, sentMs)) return { kind: 'not-found' }
      return noResult(response, run)
    }
    this.#failingSinceMs = undefined
    onRun?.(run)
    if (!isFinished(run)) return noResult(response)
    return { kind: run.status === 'CANCELLED' && this.#mayBeAccepted ? 'cancelled' : 'already-finished' }
  }

  /**
   * A request gets half of the time that is left, but at least a second, and never more than is left. So a request that hangs leaves
   * time for another try.
   */
  #requestOptions(deadlineMs: number, signal: AbortSignal) {
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
