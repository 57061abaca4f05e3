import { type Failure, isFailure, isNotFound, responseOrFailure } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { Ending, WaitLimit } from '../outcome/step-outcome.ts'
import { backoffMs, isTransient } from '../service/retry.ts'
import { isNotFoundFinal, type RunHandle } from '../service/run-handle.ts'
import { cancelReason } from './abort.ts'
import { progressLog } from './progress-log.ts'
import type { World } from './world.ts'

export interface WaitEnd {
  readonly ending: Extract<Ending, { kind: 'finished' | 'wait-timeout' | 'aborted' | 'poll-failed' }>
  /** What the service last said; absent if it never did. */
  readonly run?: Run | undefined
  /** How long the run was seen to be QUEUED; absent if it never was. */
  readonly queuedMs?: number | undefined
}

export interface WaitLimits {
  readonly waitLimitMs: number
  /** How long the run may be QUEUED. That time does not count towards `waitLimitMs` then. */
  readonly queueLimitMs?: number | undefined
  readonly pollIntervalMs?: number | undefined
}

export interface WaitOptions extends WaitLimits {
  readonly begunMs: number
  readonly onStatus: (run: Run) => void
}

const FAILURE_STREAK_LIMIT_MS = 300_000
/** The last poll is sent at the deadline, and gets this long. */
const LAST_POLL_LIMIT_MS = 10_000
/** Earlier polls time out at the deadline, but each gets at least this long. */
const SHORTEST_POLL_LIMIT_MS = 1_000

/** Polls that failed one after the other. */
interface FailureStreak {
  readonly sinceMs: number
  readonly polls: number
  readonly failure: Failure
}

/** Polls the run until it is finished, a limit is exceeded, the step is aborted or the service stays unavailable. */
export async function waitForRun(
  handle: RunHandle,
  options: WaitOptions,
  world: Pick<World, 'service' | 'clock' | 'random' | 'log' | 'abort'>,
): Promise<WaitEnd> {
  const { service, clock, random, abort } = world
  const progress = progressLog(handle.id, world)
  const pollingSinceMs = clock.now()
  const deadline = waitDeadline(pollingSinceMs, options)
  const jitter = random()
  let run: Run | undefined
  let streak: FailureStreak | undefined

  const end = (ending: WaitEnd['ending']): WaitEnd => ({ ending, run, queuedMs: deadline.queuedMs(clock.now()) })

  for (;;) {
    if (abort.aborted) return end({ kind: 'aborted', cause: cancelReason(abort).by })
    const sentAtMs = clock.now()
    const limitMs = pollLimitMs(deadline.atMs() - sentAtMs)
    const response = await responseOrFailure(service.get(handle.id, { signal: abort, limitMs }))
    if (!isFailure(response)) {
      streak = undefined
      progress.onRun(response)
      deadline.onRun(response, clock.now())
      if (response.rawStatus !== run?.rawStatus) options.onStatus(response)
      run = response
      if (isTerminal(run)) return end({ kind: 'finished', run })
    } else {
      if (abort.aborted) continue
      streak = { sinceMs: streak?.sinceMs ?? clock.now(), polls: (streak?.polls ?? 0) + 1, failure: response }
      const isLongEnough = clock.now() - streak.sinceMs >= FAILURE_STREAK_LIMIT_MS
      if (isLongEnough || !mayPass(response, handle, sentAtMs, run !== undefined)) {
        return end({ kind: 'poll-failed', failure: response })
      }
      progress.onPollFailed(response)
    }
    // The deadline of a run that has just left the queue is a later one, and has a last poll of its own.
    if (sentAtMs >= deadline.atMs()) {
      return end({ kind: 'wait-timeout', limit: deadline.limit(), failure: streak?.failure })
    }
    const pauseMs =
      streak === undefined
        ? (options.pollIntervalMs ?? adaptivePauseMs(clock.now() - pollingSinceMs, jitter))
        : streakPauseMs(streak, clock.now(), random)
    await progress.pause(Math.min(clock.now() + pauseMs, deadline.atMs()))
  }
}

function pollLimitMs(leftMs: number): number {
  return leftMs > 0 ? Math.max(SHORTEST_POLL_LIMIT_MS, leftMs) : LAST_POLL_LIMIT_MS
}

function mayPass(failure: Failure, handle: RunHandle, sentAtMs: number, hasResponded: boolean): boolean {
  // Before the service ever responded, a certificate that is not trusted is a matter of setup.
  if (failure.kind === 'untrusted-certificate') return hasResponded || handle.knownSinceMs !== undefined
  if (isNotFound(failure)) return !isNotFoundFinal(handle, sentAtMs)
  return isTransient(failure)
}

/** The last poll of a streak comes when the streak is long enough. */
function streakPauseMs({ sinceMs, polls, failure }: FailureStreak, nowMs: number, random: () => number): number {
  return Math.min(backoffMs(polls, failure, random), sinceMs + FAILURE_STREAK_LIMIT_MS - nowMs)
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/**
 * How long to pause before the next poll. A fiftieth of the time already waited keeps the delay at about 2 % of the
 * run's length and the number of polls at a logarithm of it, until the longest pause makes it one poll in 15 s.
 *
 * @param jitter a number from 0 to 1, drawn once for the whole wait, which makes each pause up to a tenth longer. A step
 *   with its own jitter steadily leaves those that began with it; with a new number for each pause it would stay near
 *   them on average. At the longest pause the jitter is a two-hundredth, which keeps an hour's run under 400 requests.
 */
export function adaptivePauseMs(waitedMs: number, jitter: number): number {
  const grownMs = Math.max(SHORTEST_PAUSE_MS, waitedMs / 50) * (1 + jitter / 10)
  return Math.min(grownMs, LONGEST_PAUSE_MS * (1 - (1 - jitter) / 200))
}

/** When to stop waiting. Time in the queue has a limit of its own if one is set, and counts towards the other if not. */
function waitDeadline(pollingSinceMs: number, { begunMs, waitLimitMs, queueLimitMs }: WaitOptions) {
  let isQueued = false
  // Known once the run has left the queue; 0 if it was never seen there.
  let queuedMs: number | undefined
  return {
    onRun({ status }: Run, nowMs: number): void {
      if (queuedMs !== undefined) return
      if (status !== 'QUEUED') queuedMs = isQueued ? nowMs - pollingSinceMs : 0
      isQueued = status === 'QUEUED'
    },
    /** On the clock's `now()`. */
    atMs(): number {
      if (queueLimitMs === undefined) return begunMs + waitLimitMs
      return isQueued ? pollingSinceMs + queueLimitMs : begunMs + waitLimitMs + (queuedMs ?? 0)
    },
    limit(): WaitLimit {
      if (isQueued && queueLimitMs !== undefined) return { input: 'queue-timeout-minutes', ms: queueLimitMs }
      return { input: 'timeout-minutes', ms: waitLimitMs }
    },
    /** How long the run was seen to be QUEUED; undefined if it never was. */
    queuedMs: (nowMs: number) => (isQueued ? nowMs - pollingSinceMs : queuedMs || undefined),
  }
}
