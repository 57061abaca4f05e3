import type { Failure } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { StepSubject } from '../outcome/step-outcome.ts'
import { failureSentence } from '../report/failure-text.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, type LogLine, logLine, quote } from '../text/safe-text.ts'
import type { World } from './world.ts'

type LogWorld = Pick<World, 'clock' | 'log' | 'abort'>

const HEARTBEAT_MS = 60_000

/** A log that is quiet, but never silent for much longer than a minute. */
export function quietLog({ clock, log, abort }: LogWorld, lastLineMs: number) {
  function write(message: LogLine): void {
    log.info(message)
    lastLineMs = clock.now()
  }
  return {
    write,
    /** Pauses until then, or until the step is cancelled. A pause that lasts writes a heartbeat about once a minute. */
    async pause(untilMs: number, heartbeat: () => LogLine): Promise<void> {
      while (!abort.aborted && clock.now() < untilMs) {
        if (clock.now() - lastLineMs >= HEARTBEAT_MS) write(heartbeat())
        await clock.sleep(Math.min(untilMs, lastLineMs + HEARTBEAT_MS) - clock.now(), abort)
      }
    },
  }
}

const VALUE_LIMIT_CHARS = 255

export function whatIsTested({ target, parameters }: Pick<StepSubject, 'target' | 'parameters'>): LogLine {
  const { branch, environment, frameworkProject } = parameters
  const named = (what: Fragment, value: string | undefined) =>
    value === undefined ? fragment`` : fragment`, ${what} ${quote(value, VALUE_LIMIT_CHARS)}`
  const subject =
    target.kind === 'project'
      ? fragment`project ${quote(target.projectId, VALUE_LIMIT_CHARS)}`
      : fragment`test suite ${quote(target.testSuiteId, VALUE_LIMIT_CHARS)}`
  const tested = branch === undefined ? fragment`, the project's default branch` : named(fragment`branch`, branch)
  const where = named(fragment`environment`, environment)
  return logLine`${subject}${tested}${where}${named(fragment`framework project`, frameworkProject)}`
}

/** What the log shows of a wait: a line when the status changes, and when the service stops or begins to respond. */
export function progressLog(runId: string, world: LogWorld) {
  const { clock, log } = world
  const startedMs = clock.now()
  const { write, pause } = quietLog(world, startedMs)
  let lastFailureLineMs = Number.NEGATIVE_INFINITY
  let run: Run | undefined
  let failure: Failure | undefined
  let isFailureLogged = false
  let hasWarnedOfUnknown = false

  function failureLine(what: LogLine, cause: Failure): LogLine {
    isFailureLogged = true
    lastFailureLineMs = clock.now()
    return logLine`Run ${runId}: ${what} ${failureSentence(cause, 'poll')}`
  }

  return {
    onRun(seen: Run): void {
      if (isFailureLogged) log.info(logLine`Run ${runId}: the service responds again.`)
      failure = undefined
      isFailureLogged = false
      if (seen.rawStatus !== run?.rawStatus) write(logLine`Run ${runId}: ${seen.rawStatus}`)
      run = seen
      if (run.status !== 'UNKNOWN' || isTerminal(run) || hasWarnedOfUnknown) return
      hasWarnedOfUnknown = true
      log.warning(
        logLine`Run ${runId} has the status ${run.rawStatus}, which this version of the action does not know. The step keeps waiting, because the run has no finishing time yet.`,
      )
    },

    /** The first failure of a streak is logged, but a service that fails every other poll must not fill the log. */
    onPollFailed(cause: Failure): void {
      const isFirst = failure === undefined
      failure = cause
      if (!isFirst || clock.now() - lastFailureLineMs < HEARTBEAT_MS) return
      write(failureLine(logLine`status request failed; retrying for up to 5 min.`, cause))
    },

    pause: (untilMs: number) =>
      pause(untilMs, () => {
        const waited = durationText(clock.now() - startedMs)
        return failure === undefined
          ? logLine`Run ${runId}: still ${run?.rawStatus ?? 'waiting'} after ${waited}.`
          : failureLine(logLine`status still unavailable after ${waited}.`, failure)
      }),
  }
}
