import { type Failure, isFailure, isNotFound } from '../model/failure.ts'
import type { Ending, StepHistory } from '../model/outcome.ts'
import { isFinished, type Run } from '../model/run.ts'
import { abortedEnding } from './abort.ts'
import { progressLog } from './progress-log.ts'
import { FailureStreak, isTransient, retry, TryAgain } from './retry.ts'
import { doesNotExist, type RunHandle } from './run-handle.ts'
import { TestOutput } from './test-output.ts'
import type { RunWorld } from './world.ts'

type WaitEnding = Exclude<Ending, { kind: 'started' | 'start-failed' }>

interface WaitResult extends Pick<StepHistory, 'run'> {
  readonly ending: WaitEnding
}

export interface WaitSettings {
  /** How long main waits until the run has finished. It counts from the beginning of the step. */
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
export async function waitForRun(handle: RunHandle, options: WaitOptions, world: RunWorld): Promise<WaitResult> {
  const { service, clock, random, signal } = world
  const { stepBeganMs, waitLimitMs, pollIntervalMs, onStatus, showOutput } = options
  const progress = progressLog(handle.id, world)
  const output = new TestOutput(handle.id, world, showOutput)
  const streak = new FailureStreak(service, clock)
  const pollingSinceMs = clock.now()
  const jitter = random()
  const deadlineMs = stepBeganMs + waitLimitMs
  let isLastPoll = false
  let run: Run | undefined

  const limitExceeded = (failure?: Failure): WaitEnding => ({
    kind: 'wait-timeout',
    limitMs: waitLimitMs,
    wasQueued: run?.status === 'QUEUED',
    failure,
  })

  const poll = async (): Promise<{ readonly kind: 'read'; readonly run: Run } | WaitEnding | TryAgain> => {
    if (signal.aborted) return abortedEnding(signal)
    const sentMs = clock.now()
    isLastPoll = sentMs >= deadlineMs
    const limitMs = isLastPoll ? LAST_POLL_LIMIT_MS : Math.max(SHORTEST_POLL_LIMIT_MS, deadlineMs - sentMs)
    const response = await service.get(handle.id, { signal, limitMs })
    streak.onResponse(response)
    if (!isFailure(response)) return { kind: 'read', run: response }
    if (signal.aborted) return abortedEnding(signal)
    if (clock.now() >= streak.untilMs || !mayStillSucceed(response, handle, sentMs))
      return { kind: 'poll-failed', failure: response }
    if (isLastPoll) return limitExceeded(response)
    progress.onPollFailed(response)
    return new TryAgain(response, Math.min(streak.untilMs, deadlineMs))
  }

  /** Returns when the run has finished, or if the wait cannot go on. */
  const ending = async (): Promise<WaitEnding> => {
    for (;;) {
      const polled = await retry(poll, progress.pauseAfterFailure, world)
      if (polled.kind !== 'read') return polled
      progress.onRun(polled.run)
      if (polled.run.rawStatus !== run?.rawStatus) onStatus(polled.run)
      run = polled.run
      if (isFinished(run)) {
        await output.finish(run.outputBytes)
        return { kind: 'finished' }
      }
      if (isLastPoll) return limitExceeded()
      const pauseMs = pollIntervalMs ?? adaptivePauseMs(clock.now() - pollingSinceMs, jitter)
      const nextPollMs = Math.min(clock.now() + pauseMs, deadlineMs)
      await output.readUntil(nextPollMs, run.outputBytes)
      await progress.pauseAfterRun(nextPollMs, run)
    }
  }

  const ended = await ending()
  output.end()
  return { ending: ended, run }
}

function mayStillSucceed(failure: Failure, handle: RunHandle, sentMs: number): boolean {
  return isNotFound(failure) ? !doesNotExist(handle, failure, sentMs) : isTransient(failure)
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
