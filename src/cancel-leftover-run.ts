import { cancelRun } from './action/cancel-run.ts'
import { systemClock } from './clock.ts'
import { readEvent } from './github/event.ts'
import { readServiceInputs } from './github/inputs.ts'
import { runnerOutput } from './github/outputs.ts'
import { readProxies } from './github/proxies.ts'
import { failureSentence } from './report/failure-sentence.ts'
import { type LogLine, logLine } from './report/safe-text.ts'
import { openService } from './service/open-service.ts'
import { setV8Flags } from './v8-flags.ts'

/** Post has minutes where main had seconds, but the job waits for it. */
const CANCEL_LIMIT_MS = 60_000

/**
 * Cancels the run that main left going, because it was killed or could not reach the service. Warns where that cannot
 * be done, and never throws for it: the job's result is not post's to change.
 *
 * @param savedRun the run's id as JSON; absent where main was killed with the start in flight
 */
export async function cancelLeftoverRun(
  env: NodeJS.ProcessEnv,
  savedRun: string | undefined,
  abort: AbortSignal,
): Promise<void> {
  const { log } = runnerOutput(env)
  const runId = idOf(savedRun)
  if (runId === undefined) {
    log.warning(
      logLine`The step ended while a run was being started, before its id was known. A run may have been started; it cannot be looked up from here, so look at the service and cancel it there.`,
    )
    return
  }
  const warn = (reason: LogLine) =>
    log.warning(logLine`Run ${runId} may still be going: ${reason} Cancel it at the service if it should not go on.`)
  try {
    const inputs = readServiceInputs(env, readEvent(env))
    const service = await openService({ ...inputs, proxies: readProxies(env) }, systemClock)
    if (service.cancel !== undefined) log.info(logLine`Run ${runId} was left going. Cancelling it at the service.`)
    const options = { clock: systemClock, random: Math.random, abort, limitMs: CANCEL_LIMIT_MS }
    const cancelling = cancelRun(service, runId, options)
    setV8Flags()
    const end = await cancelling
    switch (end.kind) {
      case 'cancelled':
        return log.info(logLine`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(
          logLine`Run ${runId} was over already: ${end.run?.rawStatus ?? 'the service does not know it any more'}.`,
        )
      case 'failed':
        return warn(
          end.failure === undefined ? logLine`the service did not cancel it.` : failureSentence(end.failure, 'cancel'),
        )
      default:
        return warn(logLine`the test-suite workflow has no cancel.`)
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    warn(logLine`${reason.replace(/\.$/, '')}.`)
  }
}

function idOf(savedRun: string | undefined): string | undefined {
  try {
    const id: unknown = JSON.parse(savedRun ?? '')
    return typeof id === 'string' && id !== '' ? id : undefined
  } catch {
    return undefined
  }
}
