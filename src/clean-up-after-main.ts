import { POST_WAITS_FOR_MAIN_MS } from './action/abort.ts'
import { cancelRun } from './action/cancel-run.ts'
import type { World } from './action/world.ts'
import { systemClock } from './clock.ts'
import { readEvent } from './github/event.ts'
import { attemptUrl } from './github/job.ts'
import type { Handover } from './handover/record.ts'
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
const EXIT_AFTER_KILL_MS = 1_000
const MAIN_CHECK_MS = 100

type PostWorld = Pick<World, 'log' | 'clock' | 'random' | 'signal'> & { readonly open: () => Promise<World['service']> }

/** Ends each main that still runs, and does what its record says is left to do. A cancel that fails is a warning. */
export async function cleanUpAfterMain(
  env: NodeJS.ProcessEnv,
  handovers: readonly Handover[],
  signal: AbortSignal,
): Promise<void> {
  const output = runnerOutput(env)
  if (handovers.length === 0)
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
  await cleanUp(handovers, { ...output, clock: systemClock, random: Math.random, signal, open })
}

export async function cleanUp(handovers: readonly Handover[], world: PostWorld): Promise<void> {
  const { log, clock } = world
  for (const handover of handovers)
    log.debug?.(
      fragment`Post found the record ${JSON.stringify(handover.readRecord())}. Main ${handover.isMainRunning() ? 'still runs' : 'has exited'}.`,
    )
  const deadlineMs = clock.now() + POST_LIMIT_MS
  await endMains(handovers, world)
  await Promise.all(handovers.map((handover) => cancelOrWarn(handover, deadlineMs, world)))
  // Main may still run if the runner has aborted post, or if post cannot end main. Without its file, main could assume that
  // the job has ended.
  for (const handover of handovers) if (!handover.isMainRunning()) handover.removeFile()
}

async function cancelOrWarn(handover: Handover, deadlineMs: number, world: PostWorld): Promise<void> {
  const { log } = world
  const { phase, runId, mayCancel } = handover.readRecord()
  // Post warns even if main still runs, because main may be killed before it receives the id.
  if (phase === 'starting')
    log.warning(
      fragment`The step may have sent a start request, but it saved no run id for the post step. ${RUN_WITHOUT_ID}`,
    )
  if (phase !== 'started' || runId === undefined || !mayCancel) return
  const warn = (reason: Fragment) => log.warning(fragment`Run ${runId} may still be running. ${reason} ${CANCEL_IT}`)
  if (handover.hasSameInputs) await cancelAndLog(runId, deadlineMs, warn, world)
  else
    warn(
      fragment`The post step cannot cancel the run, because a later step has changed a value from which base-url, project or test-suite is taken.`,
    )
}

/**
 * Signals each main that still runs, so that main cancels its own run. Only main can receive the id of a start in
 * flight. Kills each main that does not exit in time, unless the runner aborts post. If post cannot signal main, the
 * runner ends main.
 */
async function endMains(handovers: readonly Handover[], { log, clock, signal }: PostWorld): Promise<void> {
  const running = () => handovers.filter((handover) => handover.isMainRunning())
  const waitForExits = async (limitMs: number) => {
    const deadlineMs = clock.now() + limitMs
    while (running().length > 0 && clock.now() < deadlineMs && !signal.aborted) await clock.sleep(MAIN_CHECK_MS, signal)
  }
  const runningAtFirst = running()
  if (runningAtFirst.length === 0) return
  const canSignal = runningAtFirst.some((handover) => handover.canSignalMain())
  const limitMs = canSignal ? POST_WAITS_FOR_MAIN_MS : MAIN_LIMIT_WITHOUT_SIGNAL_MS
  log.info(fragment`The step's process is still running. It has up to ${durationText(limitMs)} to exit.`)
  for (const handover of runningAtFirst) handover.signalMain('SIGHUP')
  await waitForExits(limitMs)
  if (signal.aborted || !canSignal) return
  for (const handover of running()) handover.signalMain('SIGKILL')
  await waitForExits(EXIT_AFTER_KILL_MS)
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
    // Main may have started the run just before it was killed, and the service may not know the run yet. So a 404 is final
    // only after a grace period, which begins now.
    const handle = { id: runId, knownSinceMs: clock.now() }
    const end = await cancelRun(handle, { deadlineMs }, { ...world, service })
    switch (end.kind) {
      case 'cancelled':
        return log.info(fragment`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(fragment`Run ${runId} had already finished as ${end.run.rawStatus}.`)
      case 'not-found':
        // The run does not exist any more, so nothing is left to say.
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
