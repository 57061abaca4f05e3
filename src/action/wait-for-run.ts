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

  const poll = async (): Promise<Ending | undefined> => {
    if (signal.aborted) return abortedEnding(signal)
    const sentMs = clock.now()
    const response = await service.get(handle.id, { signal })
    const nowMs = clock.now()
    if (isFailure(response)) {
      if (signal.aborted) return abortedEnding(signal)
      if (failedPolls++ === 0) failingSinceMs = nowMs
      const untilMs = failingSinceMs + service.failureLimitMs
      const mayStillSucceed = isNotFound(response) ? !doesNotExist(handle, response, sentMs) : isTransient(response)
      if (!mayStillSucceed || nowMs >= untilMs) return { kind: 'poll-failed', failure: response }
      if (nowMs >= deadlineMs) return limitExceeded(response)
      const line = () =>
        fragment`Run ${handle.id}: after ${waited()}, the status cannot be read. ${failureText(response, 'poll')} The step tries again.`
      const nextPollMs = Math.min(nowMs + pauseMs(failedPolls, response, random), untilMs, deadlineMs)
      return pause(nextPollMs, line, true)
    }

    failedPolls = 0
    if (response.rawStatus !== run?.rawStatus) {
      world.setOutput('status', response.status)
      // A final status has no line, because the verdict says it after the last line of the tests.
      if (!isFinished(response)) log.info(fragment`Run ${handle.id}: ${response.rawStatus}${progressText(response)}`)
    }
    run = response
    if (isFinished(response)) return { kind: 'finished' }
    if (nowMs >= deadlineMs) return limitExceeded()
    const intervalMs = settings.pollIntervalMs ?? adaptivePauseMs(nowMs - firstPollMs, jitter)
    await output.read(response.outputBytes, Math.min(nowMs + OUTPUT_LIMIT_MS, deadlineMs))
    const line = () =>
      fragment`Run ${handle.id}: still ${response.rawStatus} after ${waited()}${progressText(response)}.`
    return pause(Math.min(nowMs + intervalMs, deadlineMs), line, false)
  }

  const ending = await retry(poll)
  await output.read(run?.outputBytes, clock.now() + (ending.kind === 'finished' ? REST_LIMIT_MS : 0), true)
  return { ending, run }
}

const SHORTEST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 15_000

/** `jitter`, from 0 to 1, stays the same for the whole wait, so steps that begin together drift apart. */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  return Math.min(SHORTEST_PAUSE_MS + waitedMs / 50, LONGEST_PAUSE_MS) * (1 + jitter / 10)
}
