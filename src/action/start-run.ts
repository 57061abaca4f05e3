import { type Failure, hasServiceEnded, retryMayHelpForMs } from '../outcome/failure.ts'
import type { StartParameters } from '../outcome/run.ts'
import type { AbortCause } from '../outcome/step-outcome.ts'
import { failureText } from '../report/failure-text.ts'
import { backoffMs, mayHaveBeenAccepted, startMayRepeatForMs } from '../service/retry.ts'
import { durationText } from '../text/duration.ts'
import { logLine } from '../text/safe-text.ts'
import { cancelReason } from './abort.ts'
import { quietLog } from './progress-log.ts'
import type { World } from './world.ts'

type StartResult =
  /** The id is not checked yet. */
  | { readonly kind: 'started'; readonly runId: string }
  | { readonly kind: 'start-failed'; readonly failure: Failure; readonly mayHaveStarted: boolean }
  /** The step was cancelled before a response with an id came. */
  | { readonly kind: 'aborted'; readonly cause: AbortCause; readonly mayHaveStarted: boolean }

type StartWorld = Pick<World, 'service' | 'clock' | 'random' | 'log' | 'signal'>

/**
 * Starts at most one run. Main repeats the request only if the service provably did not take it, and never after
 * `deadlineMs`. If the step is cancelled, main waits a while for a start in flight, because its response contains the
 * id.
 */
export async function startRun(
  parameters: StartParameters,
  deadlineMs: number,
  world: StartWorld,
): Promise<StartResult> {
  const { clock, random, signal } = world
  const begunMs = clock.now()
  const log = quietLog(world, Number.NEGATIVE_INFINITY)
  for (let tries = 1; ; tries++) {
    if (signal.aborted) return aborted(signal, false)
    // A repeated start uses a new connection. After a 429, a service often closes the old connection. Nobody would then
    // know whether the service took the start.
    const response = await startOnce(parameters, tries > 1, world)
    if (typeof response === 'string') return { kind: 'started', runId: response }
    if (signal.aborted) return aborted(signal, mayHaveBeenAccepted(response))

    const nowMs = clock.now()
    const mayHelpUntilMs = nowMs + retryMayHelpForMs(response)
    const allowedUntilMs = Math.min(begunMs + startMayRepeatForMs(response), deadlineMs)
    const nextTryMs = Math.min(nowMs + backoffMs(tries, response, random), mayHelpUntilMs)
    if (hasServiceEnded(response) || nextTryMs >= allowedUntilMs) {
      return { kind: 'start-failed', failure: response, mayHaveStarted: mayHaveBeenAccepted(response) }
    }
    const reason = failureText(response, 'start')
    // The pause may take minutes, because the service may ask for it.
    await log.pause(nextTryMs, () => {
      const untilNextTry = durationText(nextTryMs - clock.now())
      const untilLastTry = durationText(Math.min(allowedUntilMs, mayHelpUntilMs) - clock.now())
      return logLine`The run is not started yet. The next try is in ${untilNextTry}. The step tries for ${untilLastTry} more. ${reason}`
    })
  }
}

function aborted(signal: AbortSignal, mayHaveStarted: boolean): StartResult {
  return { kind: 'aborted', cause: cancelReason(signal).by, mayHaveStarted }
}

function startOnce(
  parameters: StartParameters,
  onNewConnection: boolean,
  { service, clock, signal }: StartWorld,
): Promise<string | Failure> {
  const request = new AbortController()
  const limitWait = () => {
    const timeLimit = clock.timeout(cancelReason(signal).startDeadlineMs - clock.now())
    timeLimit.addEventListener('abort', () => request.abort())
  }
  signal.addEventListener('abort', limitWait)
  const options = { signal: request.signal, signalUntilSent: signal, onNewConnection }
  return service.start(parameters, options).finally(() => signal.removeEventListener('abort', limitWait))
}
