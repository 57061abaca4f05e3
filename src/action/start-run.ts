import { type Failure, responseOrFailure } from '../outcome/failure.ts'
import type { StartParameters } from '../outcome/run.ts'
import type { AbortCause } from '../outcome/step-outcome.ts'
import { failureSentence } from '../report/failure-text.ts'
import { backoffMs, mayHaveBeenAccepted, startMayRepeatForMs } from '../service/retry.ts'
import { durationText } from '../text/duration.ts'
import { logLine } from '../text/safe-text.ts'
import { cancelReason } from './abort.ts'
import { quietLog } from './progress-log.ts'
import type { World } from './world.ts'

export type StartEnd =
  /** The id is as the service sent it, and not checked yet. */
  | { readonly kind: 'started'; readonly runId: string }
  | { readonly kind: 'start-failed'; readonly failure: Failure; readonly mayHaveStarted: boolean }
  /** The step was cancelled before an id came. */
  | { readonly kind: 'aborted'; readonly cause: AbortCause; readonly mayHaveStarted: boolean }

type StartWorld = Pick<World, 'service' | 'clock' | 'random' | 'log' | 'abort'>

/**
 * Starts at most one run. The request is sent again only if the service provably did not take the one before, and never
 * after `deadlineMs`. When the step is cancelled, a request that is already out is still awaited for a while, because
 * the id is in its response.
 */
export async function startRun(parameters: StartParameters, deadlineMs: number, world: StartWorld): Promise<StartEnd> {
  const { clock, random, abort } = world
  const begunMs = clock.now()
  const log = quietLog(world, Number.NEGATIVE_INFINITY)
  for (let attempt = 1; ; attempt++) {
    if (abort.aborted) return aborted(abort, false)
    // A service often closes the connection after a 429. Whether it took a start that was sent just then is not known.
    const response = await startOnce(parameters, attempt > 1, world)
    if (typeof response === 'string') return { kind: 'started', runId: response }
    if (abort.aborted) return aborted(abort, mayHaveBeenAccepted(response))

    const nextMs = clock.now() + backoffMs(attempt, response, random)
    const untilMs = Math.min(begunMs + startMayRepeatForMs(response), deadlineMs)
    if (nextMs >= untilMs) {
      return { kind: 'start-failed', failure: response, mayHaveStarted: mayHaveBeenAccepted(response) }
    }
    const reason = failureSentence(response, 'start')
    // A service may ask for minutes.
    await log.pause(nextMs, () => {
      const [next, limit] = [durationText(nextMs - clock.now()), durationText(untilMs - clock.now())]
      return logLine`The run is not started yet; retrying in ${next}, for up to ${limit}. ${reason}`
    })
  }
}

function aborted(abort: AbortSignal, mayHaveStarted: boolean): StartEnd {
  return { kind: 'aborted', cause: cancelReason(abort).by, mayHaveStarted }
}

function startOnce(
  parameters: StartParameters,
  onNewConnection: boolean,
  { service, clock, abort }: StartWorld,
): Promise<string | Failure> {
  const request = new AbortController()
  const limitGrace = () => {
    const grace = clock.timeout(cancelReason(abort).startDeadlineMs - clock.now())
    grace.addEventListener('abort', () => request.abort())
  }
  abort.addEventListener('abort', limitGrace)
  const options = { signal: request.signal, signalUntilSent: abort, onNewConnection }
  return responseOrFailure(service.start(parameters, options)).finally(() =>
    abort.removeEventListener('abort', limitGrace),
  )
}
