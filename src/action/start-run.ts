import { isFailure } from '../model/failure.ts'
import type { Ending, StepHistory } from '../model/outcome.ts'
import type { StartParameters } from '../model/run.ts'
import { failureText } from '../report/failure-text.ts'
import { durationText } from '../report/words.ts'
import { fragment } from '../text/safe-text.ts'
import { abortedEnding, abortReason } from './abort.ts'
import { askedPauseMs, mayHaveBeenAccepted, pauseMs, pausesWithLines, retry, startMayRepeatForMs } from './retry.ts'
import type { RunWorld } from './world.ts'

/** No run, or no id of it. */
type NoRun = Pick<StepHistory, 'ending' | 'cancellation'>

/** With less time left, main does not try again, because it could only cancel the run. */
const SHORTEST_WAIT_MS = 1_000

/**
 * Starts at most one run, and returns its id. If no id came, returns how the start ended. Main repeats the request only if the
 * service provably did not accept it, and never after `deadlineMs`. If the step is aborted while a start is in flight, main waits
 * until `startDeadlineMs` for the response, because the response contains the id.
 */
export async function startRun(
  parameters: StartParameters,
  deadlineMs: number,
  world: RunWorld,
): Promise<string | NoRun> {
  const { service, clock, random, signal } = world
  const firstTryMs = clock.now()
  const pause = pausesWithLines(world)

  const attempt = async (tries: number) => {
    if (signal.aborted) return withoutRun(abortedEnding(signal), 'none')
    // A repeated start uses a new connection. After a 429, a service often closes the old connection. If main sent the next
    // start on that connection, nobody would know whether the service accepted it.
    const response = await service.start(parameters, {
      signal,
      graceIfSentMs: () => abortReason(signal).startDeadlineMs - clock.now(),
      onNewConnection: tries > 1,
    })
    if (!isFailure(response)) return response
    const cancellation = mayHaveBeenAccepted(response) ? 'id-unknown' : 'none'
    if (signal.aborted) return withoutRun(abortedEnding(signal), cancellation)

    const nowMs = clock.now()
    const repeatLimitMs = Math.min(startMayRepeatForMs(response), service.failureLimitMs)
    const untilMs = Math.min(firstTryMs + repeatLimitMs, deadlineMs - SHORTEST_WAIT_MS)
    // The pause that the service asks for is never shortened before a start.
    if (nowMs >= untilMs || nowMs + askedPauseMs(response) > untilMs)
      return withoutRun({ kind: 'start-failed', failure: response }, cancellation)
    const nextTryMs = Math.min(nowMs + pauseMs(tries, response, random), untilMs)
    const timeUntil = (atMs: number) => durationText(atMs - clock.now())
    const line = () =>
      fragment`The run is not started yet. ${failureText(response, 'start')} The step tries again in ${timeUntil(nextTryMs)}, for ${timeUntil(untilMs)} at most.`
    return pause(nextTryMs, line, 'failure')
  }
  return retry(attempt)
}

function withoutRun(ending: Ending, kind: 'none' | 'id-unknown'): NoRun {
  return { ending, cancellation: { kind } }
}
