import { type Failure, isFailure, isNotFound } from '../model/failure.ts'
import type { Ending, StepHistory } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { progressText } from '../report/counts.ts'
import { failureText } from '../report/failure-text.ts'
import { durationText } from '../report/words.ts'
import { fragment } from '../text/safe-text.ts'
import { abortedEnding } from './abort.ts'
import { doesNotExist, isTransient, pauseMs, pausesWithLines, type RunHandle, retry } from './retry.ts'
import { TestOutput } from './test-output.ts'
import type { World } from './world.ts'

export interface WaitSettings {
  /** How long main waits until the run has finished. It counts from the beginning of the step. */
  readonly waitLimitMs: number
  readonly pollIntervalMs?: number | undefined
  /** Whether the log shows the output of the tests while they run. */
  readonly showOutput: boolean
}

/** The wait's limit cuts a poll short, but only this long after it. So the poll at the limit has time for its response. */
const POLL_AFTER_LIMIT_MS = 5_000
/** How late the output of the tests may make a poll. */
const OUTPUT_LIMIT_MS = 5_000
/** How long main reads the rest of the output when the run has finished. */
const REST_LIMIT_MS = 10_000

export async function waitForRun(
  handle: RunHandle,
  settings: WaitSettings & { readonly stepBeganMs: number },
  world: World,
): Promise<Pick<StepHistory, 'ending' | 'run'>> {
  const { service, clock, random, log, signal } = world
  const deadlineMs = settings.stepBeganMs + settings.waitLimitMs
  const firstPollMs = clock.now()
  const jitter = random()
  const pause = pausesWithLines(world)
  const output = new TestOutput(handle.id, settings.showOutput, world)
  let run: Run | undefined
  let failedPolls = 0
  let failingSinceMs = 0

  const waited = () => durationText(clock.now() - firstPollMs)
  const limitExceeded = (failure?: Failure): Ending => {
    return { kind: 'wait-timeout', limitMs: settings.waitLimitMs, wasQueued: run?.status === 'QUEUED', failure }
  }

  const afterFailure = async (failure: Failure, sentMs: number): Promise<Ending | undefined> => {
    const nowMs = clock.now()
    if (failedPolls++ === 0) failingSinceMs = nowMs
    const untilMs = failingSinceMs + service.failureLimitMs
    const mayStillSucceed = isNotFound(failure) ? !doesNotExist(handle, failure, sentMs) : isTransient(failure)
    if (!mayStillSucceed || nowMs >= untilMs) return { kind: 'poll-failed', failure }
    if (nowMs >= deadlineMs) return limitExceeded(failure)
    const line = () =>
      fragment`Run ${handle.id}: after ${waited()}, the status cannot be read. ${failureText(failure, 'poll')} The step tries again.`
    return pause(Math.min(nowMs + pauseMs(failedPolls, failure, random), untilMs, deadlineMs), line, 'failure')
  }

  const afterResponse = async (current: Run): Promise<Ending | undefined> => {
    const nowMs = clock.now()
    failedPolls = 0
    if (current.rawStatus !== run?.rawStatus) {
      world.setOutput('status', current.status)
      // A final status has no line, because the verdict says it after the last line of the tests.
      if (!isFinished(current)) log.info(fragment`Run ${handle.id}: ${current.rawStatus}${progressText(current)}`)
    }
    run = current
    if (isFinished(current)) return { kind: 'finished' }
    if (nowMs >= deadlineMs) return limitExceeded()
    const intervalMs = settings.pollIntervalMs ?? adaptivePauseMs(nowMs - firstPollMs, jitter)
    await output.readNew(current.outputBytes, Math.min(nowMs + OUTPUT_LIMIT_MS, deadlineMs))
    const line = () => fragment`Run ${handle.id}: still ${current.rawStatus} after ${waited()}${progressText(current)}.`
    return pause(Math.min(nowMs + intervalMs, deadlineMs), line, 'response')
  }

  const poll = async () => {
    if (signal.aborted) return abortedEnding(signal)
    const sentMs = clock.now()
    const limitMs = Math.max(0, deadlineMs - sentMs) + POLL_AFTER_LIMIT_MS
    const response = await service.get(handle.id, { signal, limitMs })
    if (!isFailure(response)) return afterResponse(response)
    return signal.aborted ? abortedEnding(signal) : afterFailure(response, sentMs)
  }

  const ending = await retry(poll)
  const restLimitMs = ending.kind === 'finished' ? REST_LIMIT_MS : 0
  await output.readRest(run?.outputBytes, clock.now() + restLimitMs)
  return { ending, run }
}

const SHORTEST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 15_000

/** `jitter`, from 0 to 1, stays the same for the whole wait, so steps that begin together drift apart. */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  return Math.min(SHORTEST_PAUSE_MS + waitedMs / 50, LONGEST_PAUSE_MS) * (1 + jitter / 10)
}
