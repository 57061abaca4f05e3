import type { Failure } from '../model/failure.ts'
import { isFinished, type Run } from '../model/run.ts'
import { failureText } from '../report/failure-text.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import type { Untrusted } from '../text/untrusted.ts'
import type { RunWorld } from './world.ts'

// The lines of a log while something waits. test/action/wait-for-run.test.ts tests them.

type LogWorld = Pick<RunWorld, 'clock' | 'log' | 'signal'>

const HEARTBEAT_MS = 60_000

/**
 * A log with few lines: about one a minute. If `writesAtOnce` is true, the first pause writes a line at once. Otherwise a
 * pause writes its first line after a minute without a line.
 */
export function quietLog({ clock, log, signal }: LogWorld, { writesAtOnce }: { readonly writesAtOnce: boolean }) {
  let lastLineMs = writesAtOnce ? Number.NEGATIVE_INFINITY : clock.now()
  function write(message: Fragment): void {
    log.info(message)
    lastLineMs = clock.now()
  }
  return {
    write,
    /** Pauses until the deadline, or until the step is aborted. If no line was written for a minute, writes `heartbeat`. */
    async pause(deadlineMs: number, heartbeat: () => Fragment): Promise<void> {
      while (!signal.aborted && clock.now() < deadlineMs) {
        if (clock.now() - lastLineMs >= HEARTBEAT_MS) write(heartbeat())
        await clock.sleep(Math.min(deadlineMs, lastLineMs + HEARTBEAT_MS) - clock.now(), signal)
      }
    },
  }
}

/** Logs a wait: each new status that is not final, a heartbeat about once a minute, and when the service stops or starts responding. */
export function progressLog(runId: string, world: LogWorld) {
  const { clock, log } = world
  const sinceMs = clock.now()
  const { write, pause } = quietLog(world, { writesAtOnce: false })
  /** The status in the last line. */
  let status: Untrusted | undefined
  /** Whether the latest poll failed. */
  let isFailing = false
  let isFailureLogged = false
  let lastFailureLineMs = Number.NEGATIVE_INFINITY
  let hasWarnedOfUnknown = false
  let hasFailedCase = false

  const waited = () => durationText(clock.now() - sinceMs)

  function failureLine(what: Fragment, cause: Failure): Fragment {
    isFailureLogged = true
    lastFailureLineMs = clock.now()
    return fragment`Run ${runId}: ${what} ${failureText(cause, 'poll')}`
  }

  return {
    onRun(seen: Run): void {
      if (isFailureLogged) log.info(fragment`Run ${runId}: the service responds again.`)
      isFailing = false
      isFailureLogged = false
      const isFirstFailedCase = !hasFailedCase && (seen.progress?.failed ?? 0) > 0
      hasFailedCase ||= isFirstFailedCase
      // A final status has no line, because the verdict says it after the last line of the tests. The first failed test case
      // has a line at once, because a person then wants to look.
      if (!isFinished(seen) && (seen.rawStatus !== status || isFirstFailedCase))
        write(fragment`Run ${runId}: ${seen.rawStatus}${progressText(seen)}`)
      status = seen.rawStatus
      if (seen.status !== 'UNKNOWN' || isFinished(seen) || hasWarnedOfUnknown) return
      hasWarnedOfUnknown = true
      log.warning(
        fragment`Run ${runId} has the status ${status}, which this version of the action does not know. The step keeps waiting, because the service does not say that this run has finished.`,
      )
    },

    /**
     * Logs the first failure of a streak. Later, a heartbeat shows the latest failure. If failures and successes alternate,
     * at most one failure a minute is logged.
     */
    onPollFailed(cause: Failure): void {
      const isFirst = !isFailing
      isFailing = true
      if (isFirst && clock.now() - lastFailureLineMs >= HEARTBEAT_MS)
        write(failureLine(fragment`a status request failed. The step tries again.`, cause))
    },

    pauseAfterRun: (deadlineMs: number, run: Run) =>
      pause(deadlineMs, () => fragment`Run ${runId}: still ${run.rawStatus} after ${waited()}${progressText(run)}.`),

    pauseAfterFailure: (deadlineMs: number, { failure }: { readonly failure: Failure }) =>
      pause(deadlineMs, () =>
        failureLine(fragment`the status still cannot be read. The step has waited for ${waited()}.`, failure),
      ),
  }
}

/** `, 126 of 485 test cases done, 2 failed`. Empty if the service does not say how many are done. */
function progressText({ progress }: Run): Fragment {
  const { total, passed, failed, skipped } = progress ?? {}
  if (passed === undefined && failed === undefined && skipped === undefined) return fragment``
  const done = (passed ?? 0) + (failed ?? 0) + (skipped ?? 0)
  const isOne = (total ?? done) === 1
  const ofTotal = total === undefined ? fragment`` : fragment` of ${total}`
  const failures = failed ? fragment`, ${failed} failed` : fragment``
  return fragment`, ${done}${ofTotal} ${isOne ? fragment`test case` : fragment`test cases`} done${failures}`
}
