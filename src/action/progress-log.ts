import type { Failure } from '../outcome/failure.ts'
import { isFinished, type Run } from '../outcome/run.ts'
import type { StepSubject } from '../outcome/step-outcome.ts'
import { failureText } from '../report/failure-text.ts'
import { join } from '../report/words.ts'
import { durationText } from '../text/duration.ts'
import { type Fragment, fragment, quote } from '../text/safe-text.ts'
import type { World } from './world.ts'

type LogWorld = Pick<World, 'clock' | 'log' | 'signal'>

const HEARTBEAT_MS = 60_000

/** A log with few lines: about one a minute. With `writesAtOnce`, the first pause begins with a line. */
export function quietLog({ clock, log, signal }: LogWorld, { writesAtOnce }: { readonly writesAtOnce: boolean }) {
  let lastLineMs = writesAtOnce ? Number.NEGATIVE_INFINITY : clock.now()
  function write(message: Fragment): void {
    log.info(message)
    lastLineMs = clock.now()
  }
  return {
    write,
    /** Pauses until the deadline, or until the step is aborted. Writes a heartbeat about once a minute. */
    async pause(deadlineMs: number, heartbeat: () => Fragment): Promise<void> {
      while (!signal.aborted && clock.now() < deadlineMs) {
        if (clock.now() - lastLineMs >= HEARTBEAT_MS) write(heartbeat())
        await clock.sleep(Math.min(deadlineMs, lastLineMs + HEARTBEAT_MS) - clock.now(), signal)
      }
    },
  }
}

const VALUE_LIMIT_CHARS = 255

type TestedSubject = Pick<StepSubject, 'target' | 'parameters' | 'commitName'>

/** For example: project “web-shop”, branch “main”, environment “staging”. */
export function whatIsTested({ target, parameters, commitName }: TestedSubject): Fragment {
  const { branch, environment, frameworkProject } = parameters
  const quoted = (value: string) => quote(value, VALUE_LIMIT_CHARS)
  const isProject = target.kind === 'project'
  const parts = [isProject ? fragment`project ${quoted(target.id)}` : fragment`test suite ${quoted(target.id)}`]
  const name = commitName === undefined ? fragment`` : fragment` (${quoted(commitName)})`
  if (branch !== undefined) parts.push(fragment`branch ${quoted(branch)}${name}`)
  else if (isProject) parts.push(fragment`on the project's default branch`)
  if (environment !== undefined) parts.push(fragment`environment ${quoted(environment)}`)
  if (frameworkProject !== undefined) parts.push(fragment`framework project ${quoted(frameworkProject)}`)
  return join(parts, fragment`, `)
}

/** Logs a wait: a line when the status changes, and a line when the service stops or starts responding. */
export function progressLog(runId: string, world: LogWorld) {
  const { clock, log } = world
  const startedMs = clock.now()
  const { write, pause } = quietLog(world, { writesAtOnce: false })
  let lastFailureLineMs = Number.NEGATIVE_INFINITY
  let run: Run | undefined
  let failure: Failure | undefined
  let isFailureLogged = false
  let hasWarnedOfUnknown = false

  /** Returns the line, and counts it as logged. So the caller must write it at once. */
  function lineOfLoggedFailure(what: Fragment, cause: Failure): Fragment {
    isFailureLogged = true
    lastFailureLineMs = clock.now()
    return fragment`Run ${runId}: ${what} ${failureText(cause, 'poll')}`
  }

  return {
    onRun(seen: Run): void {
      if (isFailureLogged) log.info(fragment`Run ${runId}: the service responds again.`)
      failure = undefined
      isFailureLogged = false
      if (seen.rawStatus !== run?.rawStatus) write(fragment`Run ${runId}: ${seen.rawStatus}`)
      run = seen
      if (run.status !== 'UNKNOWN' || isFinished(run) || hasWarnedOfUnknown) return
      hasWarnedOfUnknown = true
      log.warning(
        fragment`Run ${runId} has the status ${run.rawStatus}, which this version of the action does not know. The step keeps waiting, because the service does not say that this run has finished.`,
      )
    },

    /** Logs the first failure of a streak, but at most one failure a minute, because failures and successes may alternate. */
    onPollFailed(cause: Failure): void {
      const isFirst = failure === undefined
      failure = cause
      if (!isFirst || clock.now() - lastFailureLineMs < HEARTBEAT_MS) return
      write(lineOfLoggedFailure(fragment`a status request failed. The step tries again.`, cause))
    },

    pause: (deadlineMs: number) =>
      pause(deadlineMs, () => {
        const waited = durationText(clock.now() - startedMs)
        return failure === undefined
          ? fragment`Run ${runId}: still ${run?.rawStatus ?? 'waiting'} after ${waited}.`
          : lineOfLoggedFailure(fragment`the status still cannot be read. The step has waited for ${waited}.`, failure)
      }),
  }
}
