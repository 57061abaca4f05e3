import type { Clock } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import type { StartParameters } from '../outcome/start-parameters.ts'
import { durationText } from '../report/duration.ts'
import { failureSentence } from '../report/failure-sentence.ts'
import { logLine } from '../report/safe-text.ts'
import { backoffMs, mayHaveStarted, startMayRepeatForMs } from '../service/retry.ts'
import type { TestService } from '../service/test-service.ts'
import { cancelReason, onAbort } from './abort.ts'
import type { Log } from './world.ts'

export type StartEnd =
  /** The id is as the service sent it, and not yet looked at. */
  | { readonly kind: 'started'; readonly runId: string }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The step was cancelled before an id came. */
  | { readonly kind: 'aborted'; readonly mayHaveStarted: boolean }

export interface StartOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly abort: AbortSignal
  /** The wait's limit, which no repetition goes past. */
  readonly deadlineMs: number
}

const BACKOFF = { firstMs: 1_000, longestMs: 15_000 }

/**
 * Starts at most one run. The request is sent again only where the service provably did not take the one before.
 * When the step is cancelled, a request that is already out is still awaited for a while, for the id is in its answer.
 */
export async function startRun(
  service: TestService,
  parameters: StartParameters,
  options: StartOptions,
): Promise<StartEnd> {
  const { clock, random, log, abort } = options
  const begunMs = clock.now()
  for (let attempt = 1; ; attempt++) {
    if (abort.aborted) return { kind: 'aborted', mayHaveStarted: false }
    const end = await startOnce(service, parameters, clock, abort)
    if (end.kind === 'started') return end
    if (abort.aborted) return { kind: 'aborted', mayHaveStarted: mayHaveStarted(end.failure) }

    const pauseMs = backoffMs(attempt, end.failure, random, BACKOFF)
    const untilMs = Math.min(begunMs + startMayRepeatForMs(end.failure), options.deadlineMs)
    if (clock.now() + pauseMs >= untilMs) return end
    if (attempt === 1) {
      const limit = durationText(untilMs - begunMs)
      log.info(
        logLine`The run was not started yet, trying again for up to ${limit}. ${failureSentence(end.failure, 'start')}`,
      )
    }
    await clock.sleep(pauseMs, abort)
  }
}

async function startOnce(
  service: TestService,
  parameters: StartParameters,
  clock: Clock,
  abort: AbortSignal,
): Promise<Extract<StartEnd, { kind: 'started' | 'failed' }>> {
  const patience = new AbortController()
  const forget = onAbort(abort, () => {
    const grace = clock.timeout(cancelReason(abort).startDeadlineMs - clock.now())
    onAbort(grace, () => patience.abort())
  })
  try {
    return {
      kind: 'started',
      runId: await service.start(parameters, { signal: patience.signal, signalUntilSent: abort }),
    }
  } catch (error) {
    if (error instanceof ServiceError) return { kind: 'failed', failure: error.failure }
    throw error
  } finally {
    forget()
  }
}
