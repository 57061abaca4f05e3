import type { Clock } from '../clock.ts'
import { type Failure, isNotFound, ServiceError } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { Cancellation } from '../outcome/verdict.ts'
import type { RequestOptions } from '../service/http.ts'
import { backoffMs, isTransient, mayHaveStarted as mayHaveBeenTaken } from '../service/retry.ts'
import { isUsableRunId, type TestService } from '../service/test-service.ts'
import { cancelReason } from './abort.ts'
import { isWithinNotFoundGrace } from './not-found-grace.ts'

export interface CancelOptions {
  readonly clock: Clock
  readonly random: () => number
  /** How long to try, unless the signal comes. */
  readonly limitMs: number
  /** Aborts, with a `StepCancelled`, when the runner tells the step to end: what is left of the time is its then. */
  readonly abort: AbortSignal
  /** When the run was started; absent where that is not known and may have been just now, as in post. */
  readonly startedAtMs?: number
  /** Called with what each look at the run brings. */
  readonly onRun?: (run: Run) => void
}

const BACKOFF = { firstMs: 500, longestMs: 10_000 }
/** 404 counts as over. Where a poll does not say so too, the cancel is sent so many times in all, and that is told. */
const TRIES_AGAINST_404 = 4
/** So often a cancel may be refused, and a look say nothing of the run going on, before the refusal is believed. */
const TRIES_AGAINST_REFUSAL = 3
/** What is left at the end is too short for a request, and its failure would hide the real one. */
const SHORTEST_TRY_MS = 20

/**
 * Cancels a run, and tries again until the service says that it is cancelled or over, or the time has passed. When the
 * runner's signal comes, before it or in the middle of it, what hangs is dropped and tried anew in the time that is
 * left. A second cancel of the same run is harmless, so that main and post may both try. Never throws ServiceError.
 */
export async function cancelRun(service: TestService, runId: string, options: CancelOptions): Promise<Cancellation> {
  const { cancel } = service
  if (cancel === undefined) return { kind: 'not-supported' }
  const { clock, abort } = options
  const startedAtMs = options.startedAtMs ?? clock.now()
  let deadlineMs = clock.now() + options.limitMs
  let signal = abort
  let lastFailure: Failure | undefined
  let mayHaveCancelled = false
  let notFound = 0
  let refused = 0

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) {
      deadlineMs = cancelReason(abort).cancelDeadlineMs
      signal = new AbortController().signal
      attempt = 1
    }
    if (deadlineMs - clock.now() <= (attempt === 1 ? 0 : SHORTEST_TRY_MS)) break
    const mayBeUnknown = isWithinNotFoundGrace(startedAtMs, clock.now())
    const answer = await toFailure(() => cancel(runId, patience()))
    if (answer === true) return { kind: 'cancelled' }
    if (answer !== false) mayHaveCancelled ||= mayHaveBeenTaken(answer)
    if (answer === false || mayMeanOver(answer)) {
      const run = isUsableRunId(runId) ? await toFailure(() => service.get(runId, patience())) : undefined
      if (isRun(run)) options.onRun?.(run)
      if (isRun(run) && isTerminal(run)) {
        const isOurDoing = mayHaveCancelled && run.status === 'CANCELLED'
        return { kind: isOurDoing ? 'cancelled' : 'already-finished', run }
      }
      if (answer !== false && isNotFound(answer) && (isRun(run) || !mayBeUnknown)) {
        const isGone = !isRun(run) && (run === undefined || isNotFound(run))
        if (isGone) return { kind: 'already-finished' }
        if (++notFound >= TRIES_AGAINST_404) return { kind: 'failed', failure: answer }
      }
      if (isRefusal(answer) && !mayBeGoing(run) && ++refused >= TRIES_AGAINST_REFUSAL)
        return { kind: 'already-finished' }
    }
    lastFailure = answer === false ? undefined : answer
    if (lastFailure !== undefined && isFinal(lastFailure)) break

    const pauseMs = backoffMs(attempt, lastFailure ?? { kind: 'aborted' }, options.random, BACKOFF)
    // Where the service asks for more time than is left, the last try comes shortly before the deadline.
    const leftMs = deadlineMs - clock.now()
    await clock.sleep(Math.max(0, Math.min(pauseMs, leftMs > 2_000 ? leftMs - 1_000 : leftMs)), signal)
  }
  return { kind: 'failed', ...(lastFailure === undefined ? {} : { failure: lastFailure }) }

  /** Half of the time left, so that a request that is never answered leaves room for another. */
  function patience(): RequestOptions {
    const leftMs = Math.max(1, deadlineMs - clock.now())
    return { signal, limitMs: Math.max(leftMs / 2, Math.min(leftMs, 1_000)) }
  }
}

/** What a look at the run brought says that it goes on, or says nothing at all. */
function mayBeGoing(look: Run | Failure | undefined): boolean {
  if (look === undefined) return false
  return isRun(look) ? look.status === 'QUEUED' || look.status === 'RUNNING' : isTransient(look)
}

/** An answer about the run's state, not about the caller: the run may be over already. */
function mayMeanOver(failure: Failure): boolean {
  if (failure.kind === 'invalid-response') return true
  return failure.kind === 'status' && !isTransient(failure) && !isFinal(failure)
}

/** The service's word that this run cannot be cancelled: by the interface only one that is queued or running can. */
function isRefusal(answer: Failure | false): boolean {
  return answer !== false && answer.kind === 'status' && answer.status >= 400 && !isNotFound(answer)
}

function isFinal(failure: Failure): boolean {
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

function isRun(answer: Run | Failure | undefined): answer is Run {
  return answer !== undefined && 'rawStatus' in answer
}

async function toFailure<T>(request: () => Promise<T>): Promise<T | Failure> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ServiceError) return error.failure
    throw error
  }
}
