import { cancelRun } from './action/cancel-run.ts'
import type { World } from './action/world.ts'
import { systemClock } from './clock.ts'
import { readEvent } from './github/event.ts'
import { InputReader } from './github/input-reader.ts'
import { runnerOutput } from './github/outputs.ts'
import { readServiceAddress } from './github/service-address.ts'
import { failureSentence } from './report/failure-text.ts'
import { openService } from './service/open-service.ts'
import { type LogLine, logLine } from './text/safe-text.ts'

/** Post has minutes and main had seconds, but the job waits for post. */
const CANCEL_LIMIT_MS = 60_000

/**
 * Cancels the run that main left unfinished, because it was killed or could not reach the service. Warns if that cannot
 * be done, and never throws for it: the job's result is not post's to change.
 *
 * @param savedRun the run's id as JSON; absent if main was killed with the start in flight
 */
export async function cancelUnfinishedRun(
  env: NodeJS.ProcessEnv,
  savedRun: string | undefined,
  abort: AbortSignal,
): Promise<void> {
  const inputs = new InputReader(env)
  const address = readServiceAddress(inputs, env, readEvent(env))
  const open = () => openService(inputs.orThrow(address), systemClock)
  await cancelSavedRun(savedRun, open, { ...runnerOutput(env), clock: systemClock, random: Math.random, abort })
}

/** What post does, with its effects as arguments. */
export async function cancelSavedRun(
  savedRun: string | undefined,
  open: () => Promise<World['service']>,
  world: Pick<World, 'log' | 'clock' | 'random' | 'abort'>,
): Promise<void> {
  const { log, clock } = world
  const runId = parseRunId(savedRun)
  if (runId === undefined) {
    log.warning(
      logLine`The step ended while a run was being started, before its id was known. A run may have been started; it cannot be looked up from here, so check the service and cancel it there.`,
    )
    return
  }
  const warn = (reason: LogLine) =>
    log.warning(logLine`Run ${runId} may still be running: ${reason} Cancel it at the service if it should not go on.`)
  try {
    const service = await open()
    if (service.cancel !== undefined) log.info(logLine`Run ${runId} is still running. Cancelling it.`)
    // Main may have started the run a moment before it was killed.
    const handle = { id: runId, startedAtMs: clock.now() }
    const end = await cancelRun(handle, { limitMs: CANCEL_LIMIT_MS }, { ...world, service })
    switch (end.kind) {
      case 'cancelled':
        return log.info(logLine`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(logLine`Run ${runId} had already finished as ${end.run.rawStatus}.`)
      case 'not-found':
        return log.info(logLine`Run ${runId} does not exist at the service any more.`)
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

function parseRunId(savedRun: string | undefined): string | undefined {
  try {
    const id: unknown = JSON.parse(savedRun ?? '')
    return typeof id === 'string' && id !== '' ? id : undefined
  } catch {
    return undefined
  }
}
