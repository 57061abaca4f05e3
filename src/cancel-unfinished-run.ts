import { cancelRun } from './action/cancel-run.ts'
import type { World } from './action/world.ts'
import { systemClock } from './clock.ts'
import { readEvent } from './github/event.ts'
import { InputReader } from './github/input-reader.ts'
import { runnerOutput } from './github/outputs.ts'
import { readServiceAddress } from './github/service-address.ts'
import { type FoundMain, findStepFiles, type MainRecord, mainOf } from './github/step-file.ts'
import { isNotFound, ServiceError } from './outcome/failure.ts'
import { isTerminal } from './outcome/run.ts'
import { failureSentence } from './report/failure-text.ts'
import { openService } from './service/open-service.ts'
import { parseJson } from './text/json.ts'
import { type LogLine, logLine } from './text/safe-text.ts'

/** Post has minutes and main had seconds, but the job waits for post. */
const POST_LIMIT_MS = 60_000
/** A start that main awaits takes 30 s at most, and then comes the cancel. */
const MAIN_LIMIT_MS = 40_000
/** Where post sends no signal, because the runner ends main itself. */
const MAIN_LIMIT_WITHOUT_SIGNAL_MS = 4_000
const MAIN_CHECK_MS = 100

/** What the runner's state tells post. All of it is absent if the state was lost. */
export interface SavedState {
  /** The name of main's file: the first thing that main saves. */
  readonly file?: string | undefined
  readonly start?: string | undefined
  /** The run's id as JSON. */
  readonly run?: string | undefined
}

type PostWorld = Pick<World, 'log' | 'clock' | 'random' | 'abort'> & { readonly open: () => Promise<World['service']> }

/**
 * Ends a main that still lives, and cancels the run that main left. Warns if that cannot be done, and never throws for
 * it: the job's result is not post's to change.
 */
export async function cancelUnfinishedRun(
  env: NodeJS.ProcessEnv,
  state: SavedState,
  abort: AbortSignal,
): Promise<void> {
  const inputs = new InputReader(env)
  const address = readServiceAddress(inputs, env, readEvent(env))
  const open = () => openService(inputs.orThrow(address), systemClock)
  const world = { ...runnerOutput(env), clock: systemClock, random: Math.random, abort, open }
  // Without a name the state is lost, or its first entry is.
  await finishStep(findStepFiles(env, state.file).map(mainOf), state, world)
}

export async function finishStep(mains: readonly FoundMain[], state: SavedState, world: PostWorld): Promise<void> {
  const deadlineMs = world.clock.now() + POST_LIMIT_MS
  await endMains(mains, world)
  const savedRunId = parseRunId(state.run)
  const records = mains.map((main) => main.read()).filter((record) => record !== undefined)
  const unfinished: Pick<MainRecord, 'runId' | 'mayCancel'>[] = records.filter(
    ({ phase }) => phase !== 'nothing-started',
  )
  if (savedRunId !== undefined) {
    const isInFile = unfinished.some(({ runId = savedRunId }) => runId === savedRunId)
    // A main that had a file was done when it removed it. The state does not say so: the run itself tells.
    const isDone = isInFile || (state.file !== undefined && (await isFinished(savedRunId, deadlineMs, world)))
    if (!isDone) unfinished.push({})
  } else if (records.length === 0 && state.file === undefined && state.start !== undefined) {
    // Main could make no file, and was killed in the start.
    unfinished.push({})
  }
  const tasks = unfinished.map(async ({ runId = savedRunId, mayCancel }) => {
    if (runId === undefined) warnOfUnknownRun(world)
    // The state holds only ids of runs that may be cancelled, even if the file does not say so.
    else if (mayCancel !== false) await cancel(runId, deadlineMs, world)
  })
  await Promise.all(tasks)
  for (const main of mains) main.removeFile()
}

/** Has each main that still lives cancel its run itself: it may wait for the id. Ends it if it does not exit. */
async function endMains(mains: readonly FoundMain[], { log, clock, abort }: PostWorld): Promise<void> {
  const living = () =>
    mains.flatMap((main) => {
      const record = main.read()
      return record !== undefined && main.isAlive(record) ? [{ main, record }] : []
    })
  const found = living()
  if (found.length === 0) return
  const isSignalled = found.some(({ record }) => record.startTime !== undefined)
  const limitMs = isSignalled ? MAIN_LIMIT_MS : MAIN_LIMIT_WITHOUT_SIGNAL_MS
  log.info(logLine`The step's process is still running. It gets up to ${limitMs / 1000} s to end.`)
  for (const { main, record } of found) main.signal(record, 'SIGHUP')
  const untilMs = clock.now() + limitMs
  while (living().length > 0 && clock.now() < untilMs && !abort.aborted) await clock.sleep(MAIN_CHECK_MS, abort)
  for (const { main, record } of living()) main.signal(record, 'SIGKILL')
}

async function isFinished(runId: string, deadlineMs: number, { open, clock, abort }: PostWorld): Promise<boolean> {
  try {
    const service = await open()
    return isTerminal(await service.get(runId, { signal: abort, limitMs: (deadlineMs - clock.now()) / 2 }))
  } catch (error) {
    // The cancel that follows reports any other failure.
    return error instanceof ServiceError && isNotFound(error.failure)
  }
}

async function cancel(runId: string, deadlineMs: number, { open, ...world }: PostWorld): Promise<void> {
  const { log, clock } = world
  const warn = (reason: LogLine) =>
    log.warning(logLine`Run ${runId} may still be running: ${reason} Cancel it at the service if it should not go on.`)
  try {
    const service = await open()
    if (service.cancel !== undefined) log.info(logLine`Run ${runId} may still be running. Cancelling it.`)
    // Main may have started the run a moment before it was killed.
    const handle = { id: runId, startedAtMs: clock.now() }
    const end = await cancelRun(handle, { limitMs: deadlineMs - clock.now() }, { ...world, service })
    switch (end.kind) {
      case 'cancelled':
        return log.info(logLine`Run ${runId} was cancelled.`)
      case 'already-finished':
        return log.info(logLine`Run ${runId} had already finished as ${end.run.rawStatus}.`)
      case 'failed':
        return warn(
          end.failure === undefined ? logLine`the service did not cancel it.` : failureSentence(end.failure, 'cancel'),
        )
      case 'not-supported':
        return warn(logLine`the test-suite workflow has no cancel.`)
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    warn(logLine`${reason.replace(/\.$/, '')}.`)
  }
}

function warnOfUnknownRun({ log }: Pick<World, 'log'>): void {
  log.warning(
    logLine`The step ended while a run was being started, before its id was known. A run may have been started; it cannot be looked up from here, so check the service and cancel it there.`,
  )
}

function parseRunId(savedRun = ''): string | undefined {
  const id = parseJson(savedRun)
  return typeof id === 'string' && id !== '' ? id : undefined
}
