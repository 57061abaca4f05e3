import { POST_WAITS_FOR_MAIN_MS } from './action/abort.ts'
import { cancelRun } from './action/cancel-run.ts'
import type { World } from './action/world.ts'
import { systemClock } from './clock.ts'
import { readEvent } from './github/event.ts'
import { attemptUrl } from './github/job.ts'
import type { FoundRecord } from './handover/record.ts'
import { InputReader } from './inputs/input-reader.ts'
import { readServiceAddress } from './inputs/service-address.ts'
import { CANCEL_IT, failureText, RUN_WITHOUT_ID } from './report/failure-text.ts'
import { runnerOutput } from './runner/outputs.ts'
import { openService } from './service/open-service.ts'
import { durationText } from './text/duration.ts'
import { type Fragment, fragment } from './text/safe-text.ts'
import { messageOf } from './text/untrusted.ts'

/** Short, because the job ends only after post. */
const POST_LIMIT_MS = 60_000
/** On Windows and macOS, post cannot signal main. Post waits only briefly, because the runner itself ends main there. */
const MAIN_LIMIT_WITHOUT_SIGNAL_MS = 4_000
/** A process does not exit at the very moment of SIGKILL. */
const KILL_LIMIT_MS = 1_000
const MAIN_CHECK_MS = 100

type PostWorld = Pick<World, 'log' | 'clock' | 'random' | 'signal'> & { readonly open: () => Promise<World['service']> }

/**
 * Ends each main that still runs, and does what its record says is left to do. If this fails, warns and does not throw,
 * because post must not fail the job.
 */
export async function cleanUpAfterMain(
  env: NodeJS.ProcessEnv,
  found: readonly FoundRecord[],
  signal: AbortSignal,
): Promise<void> {
  const output = runnerOutput(env)
  if (found.length === 0)
    output.log.debug?.(
      fragment`Post found nothing to do. The record in the runner's state: ${env.STATE_record || 'none'}`,
    )
  // The inputs are read late, so that invalid inputs cannot keep post from ending main.
  const open = async () => {
    const inputs = new InputReader(env)
    const address = readServiceAddress(inputs, env, readEvent(env))
    const options = { workflowRunUrl: attemptUrl(env), debug: output.log.debug }
    return openService(inputs.orThrow(address), systemClock, options)
  }
  await cleanUp(found, { ...output, clock: systemClock, random: Math.random, signal, open })
}

export async function cleanUp(found: readonly FoundRecord[], world: PostWorld): Promise<void> {
  const { log, clock } = world
  for (const record of found) {
    const life = record.isMainRunning() ? 'still runs' : 'has exited'
    log.debug?.(fragment`Post found the record ${JSON.stringify(record.read())}. Main ${life}.`)
  }
  const deadlineMs = clock.now() + POST_LIMIT_MS
  await endMains(found, world)
  await Promise.all(found.map((record) => cancelOrWarn(record, deadlineMs, world)))
  // A main that still runs writes its record to its file. If the state's file was removed too, main would assume that the
  // job has ended. So the file stays.
  for (const record of found) if (!record.isMainRunning()) record.removeFile()
}

async function cancelOrWarn(found: FoundRecord, deadlineMs: number, world: PostWorld): Promise<void> {
  const { log } = world
  const { phase, runId, mayCancel } = found.read()
  // Post warns even if main still runs, because main may be killed before it receives the id.
  if (phase === 'starting')
    log.warning(fragment`The step was starting a run when it ended, and its record has no run id. ${RUN_WITHOUT_ID}`)
  if (phase !== 'started' || runId === undefined || !mayCancel) return
  const warn = (reason: Fragment) => log.warning(fragment`Run ${runId} may still be running. ${reason} ${CANCEL_IT}`)
  if (found.hasSameInputs) await cancelAndLog(runId, deadlineMs, warn, world)
  else
    warn(
      fragment`The post step cannot cancel the run, because a later step has changed a value from which base-url, project or test-suite is taken.`,
    )
}

/**
 * Signals each main that still runs, so that main cancels its own run. Only main can receive the id of a start in
 * flight. Kills each main that does not exit in time, unless the runner aborts post. Where post cannot signal main, the
 * runner ends main.
 */
async function endMains(found: readonly FoundRecord[], { log, clock, signal }: PostWorld): Promise<void> {
  const running = () => found.filter((record) => record.isMainRunning())
  const waitForExits = async (limitMs: number) => {
    const deadlineMs = clock.now() + limitMs
    while (running().length > 0 && clock.now() < deadlineMs && !signal.aborted) await clock.sleep(MAIN_CHECK_MS, signal)
  }
  const first = running()
  if (first.length === 0) return
  const canSignal = first.some((record) => record.canSignalMain())
  const limitMs = canSignal ? POST_WAITS_FOR_MAIN_MS : MAIN_LIMIT_WITHOUT_SIGNAL_MS
  log.info(fragment`The step's process is still running. It has up to ${durationText(limitMs)} to exit.`)
  for (const record of first) record.signalMain('SIGHUP')
  await waitForExits(limitMs)
  if (signal.aborted || !canSignal) return
  for (const record of running()) record.signalMain('SIGKILL')
  await waitForExits(KILL_LIMIT_MS)
}

async function cancelAndLog(
  runId: string,
  deadlineMs: number,
  warn: (reason: Fragment) => void,
  { open, ...world }: PostWorld,
): Promise<void> {
  const { log, clock } = world
  try {
    const service = await open()
    // Main may have started the run just before it was killed. So the service may not know the run yet.
    const handle = { id: runId, knownSinceMs: clock.now() }
    const end = await cancelRun(handle, { deadlineMs }, { ...world, service })
    switch (end.kind) {
      case 'cancelled':
        return log.info(fragment`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(fragment`Run ${runId} had already finished as ${end.run.rawStatus}.`)
      case 'not-found':
        return
      case 'failed':
        return warn(
          end.failure === undefined ? fragment`The service did not cancel it.` : failureText(end.failure, 'cancel'),
        )
      case 'not-supported':
        return warn(fragment`The action cannot cancel runs of test suites.`)
    }
  } catch (cause) {
    // Messages of invalid inputs end with a full stop, and other messages do not.
    warn(fragment`${messageOf(cause).replace(/\.$/, '')}.`)
  }
}
