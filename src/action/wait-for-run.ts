import { type Failure, hasServiceEnded, isFailure, isNotFound } from '../outcome/failure.ts'
import { isFinished, type Run } from '../outcome/run.ts'
import type { Ending, ExceededLimit, StepFacts } from '../outcome/step-outcome.ts'
import { backoffMs, isTransient } from '../service/retry.ts'
import { isNotFoundFinal, type RunHandle } from '../service/run-handle.ts'
import { abortedEnding } from './abort.ts'
import { progressLog } from './progress-log.ts'
import type { World } from './world.ts'

interface WaitResult extends Pick<StepFacts, 'run' | 'queuedMs'> {
  readonly ending: Extract<Ending, { kind: 'finished' | 'wait-timeout' | 'aborted' | 'poll-failed' }>
}

export interface WaitSettings {
  readonly waitLimitMs: number
  /**
   * How long the run may be QUEUED. If this is given, the time in the queue does not count towards `waitLimitMs`. The time in
   * the queue begins at the first poll and ends at the first status that is not QUEUED. A later QUEUED does not count.
   */
  readonly queueLimitMs?: number | undefined
  readonly pollIntervalMs?: number | undefined
}

export interface WaitOptions extends WaitSettings {
  readonly stepBeganMs: number
  readonly onStatus: (run: Run) => void
}

/** How long polls may fail without a break. */
const FAILURE_STREAK_LIMIT_MS = 300_000
/** The time limit of the last poll, which main sends at the deadline. */
const LAST_POLL_LIMIT_MS = 10_000
/** Earlier polls time out at the deadline, but each gets at least this long. */
const SHORTEST_POLL_LIMIT_MS = 1_000

/** Polls that failed without a successful poll between them. */
interface FailureStreak {
  readonly sinceMs: number
  readonly polls: number
  readonly failure: Failure
}

/** Polls the run until it is finished, a limit is exceeded, the step is aborted, or another poll cannot succeed. */
export async function waitForRun(
  handle: RunHandle,
  options: WaitOptions,
  world: Pick<World, 'service' | 'clock' | 'random' | 'log' | 'signal'>,
): Promise<WaitResult> {
  const { service, clock, random, signal } = world
  const progress = progressLog(handle.id, world)
  const pollingSinceMs = clock.now()
  const timer = waitTimer(pollingSinceMs, options)
  const jitter = random()
  let run: Run | undefined
  let streak: FailureStreak | undefined

  const end = (ending: WaitResult['ending']): WaitResult => ({ ending, run, queuedMs: timer.queuedMs(clock.now()) })

  for (;;) {
    if (signal.aborted) return end(abortedEnding(signal))
    const sentAtMs = clock.now()
    const limitMs = pollLimitMs(timer.deadlineMs() - sentAtMs)
    const response = await service.get(handle.id, { signal, limitMs })
    if (!isFailure(response)) {
      streak = undefined
      progress.onRun(response)
      timer.onRun(response, clock.now())
      if (response.rawStatus !== run?.rawStatus) options.onStatus(response)
      run = response
      if (isFinished(run)) return end({ kind: 'finished', run })
    } else {
      if (signal.aborted) return end(abortedEnding(signal))
      streak = { sinceMs: streak?.sinceMs ?? clock.now(), polls: (streak?.polls ?? 0) + 1, failure: response }
      // If this step has started the run or has read it, a request has succeeded.
      const hasSucceededBefore = handle.knownSinceMs !== undefined || run !== undefined
      const isStreakTooLong = streakLeftMs(streak, clock.now()) <= 0
      if (isStreakTooLong || !mayStillSucceed(response, handle, sentAtMs, hasSucceededBefore)) {
        return end({ kind: 'poll-failed', failure: response })
      }
    }
    // `timer.onRun` may have moved the deadline, so this compares with the new deadline.
    if (sentAtMs >= timer.deadlineMs()) {
      return end({ kind: 'wait-timeout', limit: timer.limit(), failure: streak?.failure })
    }
    if (streak !== undefined) progress.onPollFailed(streak.failure)
    const pauseMs =
      streak === undefined
        ? (options.pollIntervalMs ?? adaptivePauseMs(clock.now() - pollingSinceMs, jitter))
        : streakPauseMs(streak, clock.now(), random)
    await progress.pause(Math.min(clock.now() + pauseMs, timer.deadlineMs()))
  }
}

function pollLimitMs(leftMs: number): number {
  return leftMs > 0 ? Math.max(SHORTEST_POLL_LIMIT_MS, leftMs) : LAST_POLL_LIMIT_MS
}

function mayStillSucceed(failure: Failure, handle: RunHandle, sentAtMs: number, hasSucceededBefore: boolean): boolean {
  if (hasServiceEnded(failure)) return false
  // If no request has succeeded, an untrusted certificate is an error of the setup, and another poll does not
  // help.
  if (failure.kind === 'untrusted-certificate') return hasSucceededBefore
  if (isNotFound(failure)) return !isNotFoundFinal(handle, sentAtMs)
  return isTransient(failure)
}

/** The pause ends no later than the streak's limit, so that main polls once more at that time. */
function streakPauseMs(streak: FailureStreak, nowMs: number, random: () => number): number {
  return Math.min(backoffMs(streak.polls, streak.failure, random), streakLeftMs(streak, nowMs))
}

function streakLeftMs({ sinceMs }: FailureStreak, nowMs: number): number {
  return sinceMs + FAILURE_STREAK_LIMIT_MS - nowMs
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

/** Tells when to stop waiting. */
function waitTimer(pollingSinceMs: number, { stepBeganMs, waitLimitMs, queueLimitMs }: WaitOptions) {
  let phase: 'not read' | 'queued' | 'not queued' = 'not read'
  let inQueueMs: number | undefined
  return {
    onRun({ status }: Run, nowMs: number): void {
      if (phase === 'not queued') return
      if (phase === 'queued' && status !== 'QUEUED') inQueueMs = nowMs - pollingSinceMs
      phase = status === 'QUEUED' ? 'queued' : 'not queued'
    },
    queuedMs: (nowMs: number) => (phase === 'queued' ? nowMs - pollingSinceMs : inQueueMs),
    /** A time of the clock's `now()`. */
    deadlineMs(): number {
      if (queueLimitMs === undefined) return stepBeganMs + waitLimitMs
      return phase === 'queued' ? pollingSinceMs + queueLimitMs : stepBeganMs + waitLimitMs + (inQueueMs ?? 0)
    },
    limit(): ExceededLimit {
      if (phase === 'queued' && queueLimitMs !== undefined) return { input: 'queue-timeout-minutes', ms: queueLimitMs }
      return { input: 'timeout-minutes', ms: waitLimitMs }
    },
  }
}
