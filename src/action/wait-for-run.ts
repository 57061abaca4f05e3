import { type Failure, isNotFound, ServiceError } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { Ending, WaitLimit } from '../outcome/step-outcome.ts'
import { backoffMs, isTransient } from '../service/retry.ts'
import { isNotFoundFinal, type RunHandle } from '../service/test-service.ts'
import { adaptivePauseMs } from './poll-schedule.ts'
import { ProgressLog } from './progress-log.ts'
import type { World } from './world.ts'

/** How the waiting ended. */
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
  /** Absent: the adaptive schedule. */
  readonly pollIntervalMs?: number | undefined
}

export interface WaitOptions extends WaitLimits {
  /** When the step began to wait, on the clock's `now()`: before the start. */
  readonly begunMs: number
  /** Called with each run that has another status than the one before. */
  readonly onStatus: (run: Run) => void
}

const FAILURE_STREAK_LIMIT_MS = 300_000
/** The last poll, sent at the deadline, gets this long. */
const LAST_POLL_LIMIT_MS = 10_000
/** A poll before it ends at the deadline, so that one that hangs is not the last; sent just before, it gets this long. */
const SHORTEST_POLL_LIMIT_MS = 1_000

/** Polls the run until it is finished, a limit is exceeded, the step is cancelled or the service stays unavailable. */
export async function waitForRun(
  handle: RunHandle,
  options: WaitOptions,
  world: Pick<World, 'service' | 'clock' | 'random' | 'log' | 'abort'>,
): Promise<WaitEnd> {
  const { service, clock, random, abort } = world
  const progress = new ProgressLog(handle.id, world)
  const pollingSinceMs = clock.now()
  const deadline = new WaitDeadline(pollingSinceMs, options)
  const jitter = random()
  let run: Run | undefined
  let failureStreak: { readonly sinceMs: number; readonly polls: number; readonly failure: Failure } | undefined

  const end = (ending: WaitEnd['ending']): WaitEnd => ({ ending, run, queuedMs: deadline.queuedMs(clock.now()) })

  for (;;) {
    if (abort.aborted) return end({ kind: 'aborted' })
    const sentAtMs = clock.now()
    const isLastPoll = sentAtMs >= deadline.atMs
    try {
      const limitMs = isLastPoll ? LAST_POLL_LIMIT_MS : Math.max(SHORTEST_POLL_LIMIT_MS, deadline.atMs - sentAtMs)
      const seen = await service.get(handle.id, { signal: abort, limitMs })
      failureStreak = undefined
      progress.onRun(seen)
      deadline.onRun(seen, clock.now())
      if (seen.rawStatus !== run?.rawStatus) options.onStatus(seen)
      run = seen
      if (isTerminal(run)) return end({ kind: 'finished', run })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { failure } = error
      if (abort.aborted) continue
      if (!isWorthAnotherPoll(failure, sentAtMs)) return end({ kind: 'poll-failed', failure })
      progress.onPollFailed(failure)
      const { sinceMs, polls } = failureStreak ?? { sinceMs: clock.now(), polls: 0 }
      failureStreak = { sinceMs, polls: polls + 1, failure }
      if (clock.now() - sinceMs >= FAILURE_STREAK_LIMIT_MS) return end({ kind: 'poll-failed', failure })
    }
    // Compared again, because a run that has left the queue has another deadline.
    if (isLastPoll && clock.now() >= deadline.atMs) {
      return end({ kind: 'wait-timeout', limit: deadline.limit, failure: failureStreak?.failure })
    }
    await progress.pause(Math.min(clock.now() + pauseMs(), deadline.atMs))
  }

  function isWorthAnotherPoll(failure: Failure, sentAtMs: number): boolean {
    // Before the service ever responded, a certificate that is not trusted is a matter of setup.
    if (failure.kind === 'untrusted-certificate') return run !== undefined || handle.startedAtMs !== undefined
    if (isNotFound(failure)) return !isNotFoundFinal(handle, sentAtMs)
    return isTransient(failure)
  }

  function pauseMs(): number {
    if (failureStreak === undefined)
      return options.pollIntervalMs ?? adaptivePauseMs(clock.now() - pollingSinceMs, jitter)
    const { sinceMs, polls, failure } = failureStreak
    const leftMs = sinceMs + FAILURE_STREAK_LIMIT_MS - clock.now()
    return Math.min(backoffMs(polls, failure, random), leftMs)
  }
}

/** When to stop waiting. Time in the queue has a limit of its own if one is set, and counts towards the other if not. */
class WaitDeadline {
  readonly #pollingSinceMs: number
  readonly #options: Omit<WaitOptions, 'onStatus'>
  #isQueued = false
  /** Known once the run has left the queue; 0 if it was never seen there. */
  #queuedMs: number | undefined

  constructor(pollingSinceMs: number, options: Omit<WaitOptions, 'onStatus'>) {
    this.#pollingSinceMs = pollingSinceMs
    this.#options = options
  }

  onRun({ status }: Run, nowMs: number): void {
    if (this.#queuedMs !== undefined) return
    if (status !== 'QUEUED') this.#queuedMs = this.#isQueued ? nowMs - this.#pollingSinceMs : 0
    this.#isQueued = status === 'QUEUED'
  }

  /** On the clock's `now()`. */
  get atMs(): number {
    const { begunMs, waitLimitMs, queueLimitMs } = this.#options
    if (queueLimitMs === undefined) return begunMs + waitLimitMs
    return this.#isQueued ? this.#pollingSinceMs + queueLimitMs : begunMs + waitLimitMs + (this.#queuedMs ?? 0)
  }

  get limit(): WaitLimit {
    const { waitLimitMs, queueLimitMs } = this.#options
    if (this.#isQueued && queueLimitMs !== undefined) return { input: 'queue-timeout-minutes', ms: queueLimitMs }
    return { input: 'timeout-minutes', ms: waitLimitMs }
  }

  /** How long the run was seen to be QUEUED; undefined if it never was. */
  queuedMs(nowMs: number): number | undefined {
    return this.#isQueued ? nowMs - this.#pollingSinceMs : this.#queuedMs || undefined
  }
}
