import { POST_WAITS_FOR_MAIN_MS } from './action/abort.ts'
import { cancelRun } from './action/cancel-run.ts'
import type { World } from './action/world.ts'
import { systemClock } from './clock.ts'
import { type Environment, readEvent } from './github/event.ts'
import { attemptUrl } from './github/job.ts'
import type { FoundMain, StepRecord } from './handover/record.ts'
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
const MAIN_CHECK_MS = 100

type PostWorld = Pick<World, 'log' | 'clock' | 'random' | 'signal'> & { readonly open: () => Promise<World['service']> }

/**
 * Ends each main that still runs, and does what its record says is left to do. If this fails, warns and does not throw,
 * because post must not fail the job.
 */
export async function cleanUpAfterMain(
  env: Environment,
  recordOfState: StepRecord | undefined,
  mains: readonly FoundMain[],
  signal: AbortSignal,
): Promise<void> {
  const output = runnerOutput(env)
  logFound(recordOfState, mains, output.log)
  if (mains.length === 0) return
  // The inputs are read late, so that invalid inputs cannot keep post from ending main.
  const open = async () => {
    const inputs = new InputReader(env)
    const address = readServiceAddress(inputs, env, readEvent(env))
    const options = { workflowRunUrl: attemptUrl(env), debug: output.log.debug }
    return openService(inputs.orThrow(address), systemClock, options)
  }
  await cleanUp(mains, { ...output, clock: systemClock, random: Math.random, signal, open })
}

function logFound(
  recordOfState: StepRecord | undefined,
  mains: readonly FoundMain[],
  { debug }: PostWorld['log'],
): void {
  if (debug === undefined) return
  if (recordOfState?.phase === 'done')
    debug(fragment`Post found that nothing is left to do: ${JSON.stringify(recordOfState)}`)
  else if (mains.length === 0) debug(fragment`Post found no record of main, in the runner's state or in a file`)
  for (const main of mains) {
    const record = main.read()
    if (record === undefined) debug(fragment`Post found a file of main without a whole record.`)
    else {
      const life = main.isRunning() ? 'still runs' : 'has exited'
      debug(fragment`Post found the record ${JSON.stringify(record)}. Main ${life}.`)
    }
  }
}

export async function cleanUp(mains: readonly FoundMain[], world: PostWorld): Promise<void> {
  const deadlineMs = world.clock.now() + POST_LIMIT_MS
  const leftRunning = await endMains(mains, world)
  await Promise.all(mains.map((main) => cancelOrWarn(main, deadlineMs, world)))
  // Post keeps the file of a main that still runs, because main writes its record to it. If the state's file was removed
  // too, main would assume that the job has ended.
  for (const main of mains) if (!leftRunning.includes(main)) main.removeFile()
}

async function cancelOrWarn(main: FoundMain, deadlineMs: number, world: PostWorld): Promise<void> {
  const record = main.read()
  // Post warns even if main still runs, because main may be killed before it receives the id.
  if (record?.phase === 'starting') warnOfUnknownRun(world)
  if (record?.phase !== 'started' || !record.mayCancel) return
  if (main.hasSameInputs) await cancelAndLog(record.runId, deadlineMs, world)
  else
    warnOfRun(
      record.runId,
      fragment`The post step cannot cancel the run, because a later step has changed a value from which base-url, project or test-suite is taken.`,
      world,
    )
}

/**
 * Signals each main that still runs, so that main cancels its own run. Only main can receive the id of a start in
 * flight. If the runner aborts post, this returns the mains that still run. Otherwise it returns no main, because post has
 * killed each main that did not exit in time. Where post cannot signal main, the runner ends main.
 */
async function endMains(mains: readonly FoundMain[], { log, clock, signal }: PostWorld): Promise<readonly FoundMain[]> {
  const running = () => mains.filter((main) => main.isRunning())
  const found = running()
  if (found.length === 0) return []
  const limitMs = found.some((main) => main.canSignal()) ? POST_WAITS_FOR_MAIN_MS : MAIN_LIMIT_WITHOUT_SIGNAL_MS
  log.info(fragment`The step's process is still running. It has up to ${durationText(limitMs)} to exit.`)
  for (const main of found) main.kill('SIGHUP')
  const deadlineMs = clock.now() + limitMs
  while (running().length > 0 && clock.now() < deadlineMs && !signal.aborted) await clock.sleep(MAIN_CHECK_MS, signal)
  if (signal.aborted) return running()
  for (const main of running()) main.kill('SIGKILL')
  return []
}

async function cancelAndLog(runId: string, deadlineMs: number, { open, ...world }: PostWorld): Promise<void> {
  const { log, clock } = world
  const warn = (reason: Fragment) => warnOfRun(runId, reason, world)
  try {
    const service = await open()
    if (service.cancel !== undefined) log.info(fragment`Run ${runId}: cancelling it at the service.`)
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

function warnOfRun(runId: string, reason: Fragment, { log }: Pick<World, 'log'>): void {
  log.warning(fragment`Run ${runId} may still be running. ${reason} ${CANCEL_IT}`)
}

function warnOfUnknownRun({ log }: Pick<World, 'log'>): void {
  log.warning(fragment`The step was starting a run when it ended, and its record has no run id. ${RUN_WITHOUT_ID}`)
}
