import { type Failure, isFailure, isNotFound } from '../model/failure.ts'
import type { Ending, StepHistory } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { askedPauseMs, backoffMs, FailureStreak, isTransient } from '../service/retry.ts'
import { abortedEnding } from './abort.ts'
import { progressLog } from './progress-log.ts'
import type { RunHandle } from './run-handle.ts'
import { TestOutput } from './test-output.ts'
import type { World } from './world.ts'

interface WaitResult extends Pick<StepHistory, 'run'> {
  readonly ending: Extract<Ending, { kind: 'finished' | 'wait-timeout' | 'aborted' | 'poll-failed' }>
}

export interface WaitSettings {
  /** How long main waits until the run has left the status QUEUED, and how long main then waits until the run finishes. */
  readonly waitLimitMs: number
  readonly pollIntervalMs?: number | undefined
  /** Whether the log shows the output of the tests while they run. */
  readonly showOutput: boolean
}

export interface WaitOptions extends WaitSettings {
  readonly stepBeganMs: number
  readonly onStatus: (run: Run) => void
}

/** The time limit of the last poll, which main sends at the deadline. */
const LAST_POLL_LIMIT_MS = 10_000
/** Earlier polls time out at the deadline, but each gets at least this long. */
const SHORTEST_POLL_LIMIT_MS = 1_000

/** Polls the run until it is finished, a limit is exceeded, the step is aborted, or another poll cannot succeed. */
export async function waitForRun(
  handle: RunHandle,
  options: WaitOptions,
  world: Pick<World, 'service' | 'clock' | 'random' | 'log' | 'signal'>,
): Promise<WaitResult> {
  const { service, clock, random, signal } = world
  const { stepBeganMs, waitLimitMs, pollIntervalMs, onStatus, showOutput } = options
  const progress = progressLog(handle.id, world)
  const output = new TestOutput(handle.id, world, showOutput)
  const pollingSinceMs = clock.now()
  const jitter = random()
  let deadlineMs = stepBeganMs + waitLimitMs
  let hasBegun = false
  let run: Run | undefined
  const streak = new FailureStreak(service, clock)

  const end = (ending: WaitResult['ending']): WaitResult => {
    output.end()
    return { ending, run }
  }
  const limitExceeded = (failure?: Failure) =>
    end({ kind: 'wait-timeout', limitMs: waitLimitMs, wasQueued: run !== undefined && !hasBegun, failure })

  for (;;) {
    if (signal.aborted) return end(abortedEnding(signal))
    const sentAtMs = clock.now()
    const isLastPoll = sentAtMs >= deadlineMs
    const limitMs = isLastPoll ? LAST_POLL_LIMIT_MS : Math.max(SHORTEST_POLL_LIMIT_MS, deadlineMs - sentAtMs)
    const response = await service.get(handle.id, { signal, limitMs })
    streak.onResponse(response)
    let pauseMs: number
    if (isFailure(response)) {
      if (signal.aborted) return end(abortedEnding(signal))
      const hasResponded = handle.hasServiceResponded || run !== undefined
      if (streak.leftMs <= 0 || !mayStillSucceed(response, handle, sentAtMs, hasResponded)) {
        return end({ kind: 'poll-failed', failure: streak.atEnd(response) })
      }
      if (isLastPoll) return limitExceeded(response)
      progress.onPollFailed(response)
      // The pause ends no later than the streak's limit, so that main polls once more at that time.
      pauseMs = Math.min(Math.max(backoffMs(streak.failures, random), askedPauseMs(response)), streak.leftMs)
    } else {
      progress.onRun(response)
      if (response.rawStatus !== run?.rawStatus) onStatus(response)
      run = response
      if (isFinished(run)) {
        await output.finish(run)
        return end({ kind: 'finished', run })
      }
      if (!hasBegun && run.status !== 'QUEUED') {
        // The limit holds once more from now on. It does not begin again if the service queues the run again.
        hasBegun = true
        deadlineMs = clock.now() + waitLimitMs
      } else if (isLastPoll) return limitExceeded()
      pauseMs = pollIntervalMs ?? adaptivePauseMs(clock.now() - pollingSinceMs, jitter)
    }
    const nextPollMs = Math.min(clock.now() + pauseMs, deadlineMs)
    if (!isFailure(response)) output.onRun(response, nextPollMs)
    await progress.pause(nextPollMs)
  }
}

function mayStillSucceed(failure: Failure, handle: RunHandle, sentAtMs: number, hasResponded: boolean): boolean {
  // If the service has never responded, an untrusted certificate is an error of the setup, and another poll does not help.
  if (failure.kind === 'untrusted-certificate') return hasResponded
  if (isNotFound(failure)) return sentAtMs < handle.notFoundIsFinalFromMs
  return isTransient(failure)
}

const SHORTEST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 15_000

/**
 * The pause grows with the time waited. If a run takes up to 12 minutes, main learns of its end within about 2 % of its
 * length plus 0.3 s. `jitter`, from 0 to 1, stays the same for the whole wait, so steps that begin together drift apart.
 */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  return Math.min(SHORTEST_PAUSE_MS + waitedMs / 50, LONGEST_PAUSE_MS) * (1 + jitter / 10)
}
