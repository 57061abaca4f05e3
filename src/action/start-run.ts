import { isFailure } from '../model/failure.ts'
import type { Cancellation, EndedStep } from '../model/outcome.ts'
import type { StartParameters } from '../model/run.ts'
import { failureSentences } from '../report/failure-text.ts'
import { durationText } from '../report/phrases.ts'
import { fragment } from '../text/safe-text.ts'
import { abortedEnding, abortReason } from './abort.ts'
import { mayHaveBeenAccepted, startMayRepeatForMs } from './failures.ts'
import { askedPauseMs, LoggedPauses, pauseMs } from './pauses.ts'
import type { RunWorld } from './world.ts'

/** No run was started, or its id is unknown. */
type NoRun = Pick<EndedStep, 'ending' | 'cancellation'>

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
  const pauses = new LoggedPauses(world, firstTryMs)
  /**
   * The longest limit of all failures so far. For example, 429 allows 5 minutes. If the service then restarts and refuses connections, which
   * alone would allow 60 s, the 5 minutes stay.
   */
  let repeatForMs = 0

  for (let tries = 1; ; tries++) {
    if (signal.aborted) return { ending: abortedEnding(signal), cancellation: { kind: 'none' } }
    const response = await service.start(parameters, {
      signal,
      graceIfSentMs: () => abortReason(signal).startDeadlineMs - clock.now(),
    })
    if (!isFailure(response)) return response

    const cancellation: Cancellation = mayHaveBeenAccepted(response)
      ? { kind: 'id-unknown', failure: response }
      : { kind: 'none' }
    if (signal.aborted) return { ending: abortedEnding(signal), cancellation }
    const failed: NoRun = { ending: { kind: 'start-failed', failure: response }, cancellation }
    if (startMayRepeatForMs(response) === 0) return failed
    repeatForMs = Math.max(repeatForMs, startMayRepeatForMs(response))
    const lastTryMs = Math.min(firstTryMs + repeatForMs, deadlineMs - SHORTEST_WAIT_MS)
    const nowMs = clock.now()
    // If the pause that the service asks for ends after `lastTryMs`, main gives up.
    if (nowMs >= lastTryMs || nowMs + askedPauseMs(response) > lastTryMs) return failed

    // As checked above, a pause that the service asks for ends before `lastTryMs`. So `Math.min` shortens only main's own pause.
    const nextTryMs = Math.min(nowMs + pauseMs(tries, response, random), lastTryMs)
    const timeUntil = (atMs: number) => durationText(atMs - clock.now())
    const line = () =>
      fragment`The run is not started yet, because ${failureSentences(response)} The step tries again in ${timeUntil(nextTryMs)}, for ${timeUntil(lastTryMs)} at most.`
    await pauses.until(nextTryMs, line)
  }
}
