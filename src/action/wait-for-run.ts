import { type Failure, isFailure } from '../model/failure.ts'
import type { EndedStep, Ending } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { progressText } from '../report/counts.ts'
import { failureSentences } from '../report/failure-text.ts'
import { durationText } from '../report/phrases.ts'
import { fragment } from '../text/safe-text.ts'
import { abortedEnding } from './abort.ts'
import { isPerhapsNotKnownYet, isTransient, type RunHandle } from './failures.ts'
import { LINE_INTERVAL_MS, LoggedPauses, pauseMs } from './pauses.ts'
import type { TestOutput } from './test-output.ts'
import type { World } from './world.ts'

export interface WaitSettings {
  /** How long main waits until the run has finished. It counts from the beginning of the step. */
  readonly waitLimitMs: number
  readonly pollIntervalMs?: number | undefined
}

/** How the wait ended, and the run as a poll last described it. */
type Waited = Pick<EndedStep, 'ending' | 'run'>

/** How long after the wait's limit a poll may end. The last poll is sent at the limit, and needs time for its response. */
const POLL_AFTER_LIMIT_MS = 5_000
/** How long main reads the output of the tests after a poll. So the output delays the next poll by at most this long. */
const OUTPUT_LIMIT_MS = 5_000

interface Wait extends WaitSettings {
  readonly handle: RunHandle
  readonly deadlineMs: number
  readonly output: TestOutput
}

/** Waits until the run has finished, until `deadlineMs`, or until the service has failed for too long. */
export async function waitForRun(wait: Wait, world: World): Promise<Waited> {
  const { handle, deadlineMs, waitLimitMs, pollIntervalMs, output } = wait
  const { service, clock, random, signal } = world
  const firstPollMs = clock.now()
  const jitter = random()
  const outageLines = new LoggedPauses(world, firstPollMs)
  const heartbeatLines = new LoggedPauses(world, firstPollMs + LINE_INTERVAL_MS)
  const waited = () => durationText(clock.now() - firstPollMs)
  let run: Run | undefined
  /** The polls that have failed since the last poll that succeeded. */
  let outage: { readonly sinceMs: number; readonly polls: number } | undefined

  for (;;) {
    if (signal.aborted) return { ending: abortedEnding(signal), run }
    const sentMs = clock.now()
    const untilDeadlineMs = Math.max(0, deadlineMs - sentMs)
    const response = await service.get(handle.id, { signal, limitMs: untilDeadlineMs + POLL_AFTER_LIMIT_MS })
    const nowMs = clock.now()

    if (isFailure(response)) {
      if (signal.aborted) return { ending: abortedEnding(signal), run }
      outage = { sinceMs: outage?.sinceMs ?? nowMs, polls: (outage?.polls ?? 0) + 1 }
      const giveUpMs = outage.sinceMs + service.failureLimitMs
      const lastPollMs = Math.min(giveUpMs, deadlineMs)
      const failed: Waited = { ending: { kind: 'poll-failed', failure: response }, run }
      const mayNextPollSucceed = isTransient(response) || isPerhapsNotKnownYet(handle, response, sentMs)
      if (!mayNextPollSucceed) return failed
      // The limit that comes first ends the wait.
      if (nowMs >= lastPollMs)
        return giveUpMs < deadlineMs ? failed : { ending: limitExceeded(waitLimitMs, run, response), run }
      const nextPollMs = Math.min(nowMs + pauseMs(outage.polls, response, random), lastPollMs)
      const line = () =>
        fragment`Run ${handle.id}: after ${waited()}, the status cannot be read, because ${failureSentences(response)} The step tries again.`
      await outageLines.until(nextPollMs, line)
    } else {
      outage = undefined
      if (response.rawStatus !== run?.rawStatus) announceStatus(handle, response, world)
      run = response
      if (isFinished(response)) return { ending: { kind: 'finished' }, run }
      if (nowMs >= deadlineMs) return { ending: limitExceeded(waitLimitMs, run), run }
      // Computed before the output is read, because the time of the reading is a part of the pause.
      const nextPollMs = Math.min(nowMs + (pollIntervalMs ?? adaptivePauseMs(nowMs - firstPollMs, jitter)), deadlineMs)
      await output.readNew(response.outputBytes, Math.min(nowMs + OUTPUT_LIMIT_MS, deadlineMs))
      const line = () =>
        fragment`Run ${handle.id}: still ${response.rawStatus} after ${waited()}${progressText(response)}.`
      await heartbeatLines.until(nextPollMs, line)
    }
  }
}

function limitExceeded(limitMs: number, run: Run | undefined, failure?: Failure): Ending {
  // After a failed poll, nobody knows whether the run is still QUEUED.
  return { kind: 'wait-timeout', limitMs, wasQueued: failure === undefined && run?.status === 'QUEUED', failure }
}

function announceStatus(handle: RunHandle, run: Run, world: World): void {
  world.setOutput('status', run.status)
  // A final status has no line, because the verdict says it after the last line of the tests.
  if (!isFinished(run)) world.log.info(fragment`Run ${handle.id}: ${run.rawStatus}${progressText(run)}`)
}

const SHORTEST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 15_000

/** `jitter`, from 0 to 1, stays the same for the whole wait, so steps that begin together drift apart. */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  return Math.min(SHORTEST_PAUSE_MS + waitedMs / 50, LONGEST_PAUSE_MS) * (1 + jitter / 10)
}
