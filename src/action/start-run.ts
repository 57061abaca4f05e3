import type { Clock } from '../clock.ts'
import { type Failure, ServiceError } from '../outcome/failure.ts'
import type { StartParameters } from '../outcome/run.ts'
import { failureSentence } from '../report/failure-text.ts'
import { backoffMs, mayHaveBeenAccepted, startMayRepeatForMs } from '../service/retry.ts'
import type { TestService } from '../service/test-service.ts'
import { durationText } from '../text/duration.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import { cancelReason, onAbort } from './abort.ts'
import { HEARTBEAT_MS } from './progress-log.ts'
import type { World } from './world.ts'

export type StartEnd =
  /** The id is as the service sent it, and not checked yet. */
  | { readonly kind: 'started'; readonly runId: string }
  | { readonly kind: 'start-failed'; readonly failure: Failure; readonly mayHaveStarted: boolean }
  /** The step was cancelled before an id came. */
  | { readonly kind: 'aborted'; readonly mayHaveStarted: boolean }

export interface StartOptions extends Pick<World, 'clock' | 'random' | 'log' | 'abort'> {
  /** The wait's limit, which no repetition exceeds. */
  readonly deadlineMs: number
}

const BACKOFF = { firstMs: 1_000, longestMs: 15_000 }

/**
 * Starts at most one run. The request is sent again only if the service provably did not take the one before. When the
 * step is cancelled, a request that is already out is still awaited for a while, because the id is in its response.
 */
export async function startRun(
  service: TestService,
  parameters: StartParameters,
  options: StartOptions,
): Promise<StartEnd> {
  const { clock, random, log, abort } = options
  const begunMs = clock.now()
  let loggedMs = Number.NEGATIVE_INFINITY
  for (let attempt = 1; ; attempt++) {
    if (abort.aborted) return { kind: 'aborted', mayHaveStarted: false }
    const response = await startOnce(service, parameters, attempt, clock, abort)
    if (typeof response === 'string') return { kind: 'started', runId: response }
    if (abort.aborted) return { kind: 'aborted', mayHaveStarted: mayHaveBeenAccepted(response) }

    const pauseMs = backoffMs(attempt, response, random, BACKOFF)
    const untilMs = Math.min(begunMs + startMayRepeatForMs(response), options.deadlineMs)
    if (clock.now() + pauseMs >= untilMs) {
      return { kind: 'start-failed', failure: response, mayHaveStarted: mayHaveBeenAccepted(response) }
    }
    const reason = failureSentence(response, 'start')
    if (clock.now() - loggedMs >= HEARTBEAT_MS) {
      loggedMs = clock.now()
      const limit = durationText(untilMs - loggedMs)
      log.info(logLine`The run is not started yet; retrying for up to ${limit}. ${reason}`)
    }
    await pause(clock.now() + pauseMs, reason)
  }

  /** A service may ask for minutes: the log says about once a minute that the step is still there. */
  async function pause(untilMs: number, reason: LogLine): Promise<void> {
    while (!abort.aborted && clock.now() < untilMs) {
      await clock.sleep(Math.min(untilMs, loggedMs + HEARTBEAT_MS) - clock.now(), abort)
      if (abort.aborted || clock.now() >= untilMs || clock.now() < loggedMs + HEARTBEAT_MS) continue
      loggedMs = clock.now()
      log.info(
        logLine`The run is not started yet; the next attempt is in ${durationText(untilMs - loggedMs)}. ${reason}`,
      )
    }
  }
}

async function startOnce(
  service: TestService,
  parameters: StartParameters,
  attempt: number,
  clock: Clock,
  abort: AbortSignal,
): Promise<string | Failure> {
  const request = new AbortController()
  const forget = onAbort(abort, () => {
    const grace = clock.timeout(cancelReason(abort).startDeadlineMs - clock.now())
    onAbort(grace, () => request.abort())
  })
  try {
    // A service often closes the connection after a 429. Whether it took a start that was sent just then is not known.
    const onNewConnection = attempt > 1
    return await service.start(parameters, { signal: request.signal, signalUntilSent: abort, onNewConnection })
  } catch (error) {
    if (error instanceof ServiceError) return error.failure
    throw error
  } finally {
    forget()
  }
}
