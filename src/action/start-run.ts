import { type Failure, hasServiceEnded, retryMayHelpForMs } from '../outcome/failure.ts'
import type { StartParameters } from '../outcome/run.ts'
import type { Cancellation, Ending } from '../outcome/step-outcome.ts'
import { failureText } from '../report/failure-text.ts'
import { backoffMs, mayHaveBeenAccepted, startMayRepeatForMs } from '../service/retry.ts'
import { durationText } from '../text/duration.ts'
import { fragment } from '../text/safe-text.ts'
import { abortReason } from './abort.ts'
import { quietLog } from './progress-log.ts'
import type { World } from './world.ts'

/** Why there is no id of a run. */
interface NoId {
  readonly ending: Ending
  readonly cancellation: Cancellation
}

type StartWorld = Pick<World, 'service' | 'clock' | 'random' | 'log' | 'signal'>

/**
 * Starts at most one run, and returns its id as the service sent it. Main repeats the request only if the service
 * provably did not accept it, and never after `deadlineMs`. If the step is aborted, main waits a while for a start in
 * flight, because its response contains the id.
 */
export async function startRun(
  parameters: StartParameters,
  deadlineMs: number,
  world: StartWorld,
): Promise<string | NoId> {
  const { clock, random, signal } = world
  const firstTryMs = clock.now()
  const log = quietLog(world, { writesAtOnce: true })
  for (let tries = 1; ; tries++) {
    if (signal.aborted) return noId(aborted(signal), 'no-run')
    // A repeated start uses a new connection. After a 429, a service often closes the old connection. Nobody would then
    // know whether the service accepted the start.
    const response = await startOnce(parameters, tries > 1, world)
    if (typeof response === 'string') return response
    const cancellation = mayHaveBeenAccepted(response) ? 'id-unknown' : 'no-run'
    if (signal.aborted) return noId(aborted(signal), cancellation)

    const nextTryMs = clock.now() + backoffMs(tries, response, random)
    const allowedUntilMs = Math.min(firstTryMs + startMayRepeatForMs(response), deadlineMs)
    // Only the log uses this time. A pause never ends after it: `backoffMs` limits the pause to `retryMayHelpForMs`, and the
    // check below returns if `nextTryMs` is not before `allowedUntilMs`.
    const triesEndMs = Math.min(allowedUntilMs, clock.now() + retryMayHelpForMs(response))
    if (hasServiceEnded(response) || nextTryMs >= allowedUntilMs) {
      return noId({ kind: 'start-failed', failure: response }, cancellation)
    }
    const reason = failureText(response, 'start')
    // The pause may take minutes, because the service may ask for it.
    await log.pause(nextTryMs, () => {
      const untilNextTry = durationText(nextTryMs - clock.now())
      const untilLastTry = durationText(triesEndMs - clock.now())
      return fragment`The run is not started yet. The next try is in ${untilNextTry}. The step tries for ${untilLastTry} more. ${reason}`
    })
  }
}

function noId(ending: Ending, cancellation: 'no-run' | 'id-unknown'): NoId {
  return { ending, cancellation: { kind: cancellation } }
}

function aborted(signal: AbortSignal): Ending {
  return { kind: 'aborted', cause: abortReason(signal).cause }
}

function startOnce(
  parameters: StartParameters,
  onNewConnection: boolean,
  { service, clock, signal }: StartWorld,
): Promise<string | Failure> {
  const controller = new AbortController()
  const limitWait = () => {
    const timeLimit = clock.timeout(abortReason(signal).startDeadlineMs - clock.now())
    timeLimit.addEventListener('abort', () => controller.abort())
  }
  signal.addEventListener('abort', limitWait)
  const options = { signal: controller.signal, signalUntilSent: signal, onNewConnection }
  return service.start(parameters, options).finally(() => signal.removeEventListener('abort', limitWait))
}
