import type { Clock } from '../clock.ts'
import { type Failure, isNotFound, ServiceError } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import { durationText } from '../report/duration.ts'
import { failureSentence } from '../report/failure-sentence.ts'
import { logLine } from '../report/safe-text.ts'
import { backoffMs, isTransient } from '../service/retry.ts'
import type { TestService } from '../service/test-service.ts'
import { isWithinNotFoundGrace } from './not-found-grace.ts'
import { adaptivePauseMs } from './poll-schedule.ts'
import type { Log } from './world.ts'

/** How the waiting ended; `run` is what the service last said. */
export type WaitEnd =
  | { readonly kind: 'finished'; readonly run: Run }
  | { readonly kind: 'timed-out'; readonly run?: Run; readonly failure?: Failure }
  | { readonly kind: 'aborted'; readonly run?: Run }
  | { readonly kind: 'gave-up'; readonly run?: Run; readonly failure: Failure }

export interface WaitOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly abort: AbortSignal
  /** When to stop waiting, on the clock's `now()`. */
  readonly deadlineMs: number
  /** Absent: the adaptive schedule. */
  readonly pollIntervalMs?: number
  /** When this step started the run; absent where it was given one. */
  readonly startedAtMs?: number
  /** Called with each run that has another status than the one before. */
  readonly onStatus: (run: Run) => void
}

const BACKOFF = { firstMs: 1_000, longestMs: 30_000 }
const FAILING_LIMIT_MS = 300_000
const HEARTBEAT_MS = 60_000
/** The last poll, sent at the deadline, gets this long. */
const LAST_POLL_LIMIT_MS = 10_000
/** A poll before it ends at the deadline, so that one that hangs is not the last; sent just before, it gets this long. */
const SHORTEST_POLL_LIMIT_MS = 1_000

/** Polls the run until it is over, the deadline passes, the step is cancelled or the service is given up. */
export async function waitForRun(service: TestService, runId: string, options: WaitOptions): Promise<WaitEnd> {
  const { clock, random, log, abort, deadlineMs } = options
  const begunMs = clock.now()
  const jitter = random()
  let last: Run | undefined
  let warnedOfUnknown = false
  let failing: { readonly sinceMs: number; isTold: boolean; polls: number; failure: Failure } | undefined
  let lastWordMs = begunMs
  let lastTroubleToldMs = Number.NEGATIVE_INFINITY

  const soFar = () => (last === undefined ? {} : { run: last })

  function note(run: Run): void {
    if (failing?.isTold) log.info(logLine`Run ${runId}: the service answers again.`)
    if (run.rawStatus !== last?.rawStatus) {
      log.info(logLine`Run ${runId}: ${run.rawStatus}`)
      lastWordMs = clock.now()
      options.onStatus(run)
    }
    if (run.status === 'UNKNOWN' && !isTerminal(run) && !warnedOfUnknown) {
      warnedOfUnknown = true
      log.warning(
        logLine`Run ${runId} has the status ${run.rawStatus}, which this version of the action does not know. Waiting on, since it has no finishing time yet.`,
      )
    }
    failing = undefined
    last = run
  }

  function isWorthAnotherPoll(failure: Failure, sentAtMs: number): boolean {
    // Before the service ever answered, a certificate that is not trusted is a matter of set-up.
    if (failure.kind === 'untrusted-certificate') return last !== undefined || options.startedAtMs !== undefined
    if (isNotFound(failure)) return isWithinNotFoundGrace(options.startedAtMs, sentAtMs)
    return isTransient(failure)
  }

  async function pause(pauseMs: number): Promise<void> {
    const untilMs = clock.now() + pauseMs
    while (!abort.aborted && clock.now() < untilMs) {
      await clock.sleep(Math.min(untilMs, lastWordMs + HEARTBEAT_MS) - clock.now(), abort)
      if (abort.aborted || clock.now() < lastWordMs + HEARTBEAT_MS) continue
      lastWordMs = clock.now()
      const waited = durationText(clock.now() - begunMs)
      if (failing === undefined) {
        log.info(logLine`Run ${runId}: still ${last?.rawStatus ?? 'waiting'} after ${waited}.`)
      } else {
        log.info(
          logLine`Run ${runId}: still not to be read after ${waited}. ${failureSentence(failing.failure, 'poll')}`,
        )
        failing.isTold = true
      }
    }
  }

  /** The first failure of a row is told, but a service that fails every other poll must not fill the log. */
  function onPollFailed(failure: Failure): { readonly sinceMs: number } {
    if (failing === undefined) {
      const nowMs = clock.now()
      const isTold = nowMs - lastTroubleToldMs >= HEARTBEAT_MS
      if (isTold) {
        log.info(logLine`Run ${runId}: could not be read, trying again. ${failureSentence(failure, 'poll')}`)
        lastTroubleToldMs = lastWordMs = nowMs
      }
      failing = { sinceMs: nowMs, isTold, polls: 0, failure }
    }
    failing.polls++
    failing.failure = failure
    return failing
  }

  for (;;) {
    if (abort.aborted) return { kind: 'aborted', ...soFar() }
    const sentAtMs = clock.now()
    const isLast = sentAtMs >= deadlineMs
    try {
      const limitMs = isLast ? LAST_POLL_LIMIT_MS : Math.max(SHORTEST_POLL_LIMIT_MS, deadlineMs - sentAtMs)
      const run = await service.get(runId, { signal: abort, limitMs })
      note(run)
      if (isTerminal(run)) return { kind: 'finished', run }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { failure } = error
      if (abort.aborted) continue
      if (!isWorthAnotherPoll(failure, sentAtMs)) return { kind: 'gave-up', failure, ...soFar() }
      const { sinceMs } = onPollFailed(failure)
      if (clock.now() - sinceMs >= FAILING_LIMIT_MS) return { kind: 'gave-up', failure, ...soFar() }
    }
    if (isLast) return { kind: 'timed-out', ...soFar(), ...(failing && { failure: failing.failure }) }
    const nowMs = clock.now()
    const pauseMs =
      failing === undefined
        ? (options.pollIntervalMs ?? adaptivePauseMs(nowMs - begunMs, jitter))
        : Math.min(
            backoffMs(failing.polls, failing.failure, random, BACKOFF),
            failing.sinceMs + FAILING_LIMIT_MS - nowMs,
          )
    await pause(Math.min(pauseMs, deadlineMs - nowMs))
  }
}
