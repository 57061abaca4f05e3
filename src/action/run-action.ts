import type { Failure } from '../outcome/failure.ts'
import type { Run } from '../outcome/run.ts'
import {
  type Cancellation,
  concludeStep,
  type Ending,
  isDone,
  needsManualCleanup,
  type StepOutcome,
  type StepRecord,
  type StepSubject,
} from '../outcome/step-outcome.ts'
import { isUsableRunId } from '../service/test-service.ts'
import { logLine } from '../text/safe-text.ts'
import { untrusted } from '../text/untrusted.ts'
import { cancelRun, NOT_FOUND_GRACE_MS } from './cancel-run.ts'
import { publish, type ReportSettings } from './publish.ts'
import { startRun } from './start-run.ts'
import { waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

/** What the step has to do. */
export interface StepRequest extends Omit<StepSubject, 'ownsRun'> {
  /** Wait for this run instead of starting one. */
  readonly runId?: string | undefined
  /** False: start, and leave the run to others. */
  readonly wait: boolean
  readonly waitLimitMs: number
  readonly queueLimitMs?: number | undefined
  readonly pollIntervalMs?: number | undefined
  readonly cancelOnAbort: boolean
  readonly passWithNoTests: boolean
  /** The address of a run's page at the service, if the user gave a template of it. */
  readonly runUrl?: ((runId: string) => string | undefined) | undefined
  readonly reports: ReportSettings
}

/** How long main, giving up on a run, tries to cancel it. After a signal there is less. */
const CANCEL_LIMIT_MS = 15_000

/** What a step does, in order: start or attach, wait, cancel if it must, conclude, publish. */
export async function runAction(request: StepRequest, world: World): Promise<StepOutcome> {
  const begunMs = world.clock.now()
  const { ending, ...seen } = await startOrAttach(request, world, begunMs)
  const { target, parameters, variant, job } = request
  const subject: StepSubject = { target, parameters, ownsRun: request.runId === undefined, variant, job }
  const record: StepRecord = { ...seen, subject, waitedMs: world.clock.now() - begunMs }
  const outcome = concludeStep(ending, record, request.passWithNoTests)
  // What main could not cancel stays open, for post to try again.
  if (isDone(outcome)) world.state.done()
  await publish(outcome, request.reports, world)
  // Only now: if main is killed before it has said so, post says it.
  if (needsManualCleanup(outcome.cancellation)) world.state.done()
  return outcome
}

/** The end of the run's part in the step, with what was seen of the run. */
type RunEnd = { readonly ending: Ending } & Omit<StepRecord, 'subject' | 'waitedMs'>

const NOT_WANTED: Cancellation = { kind: 'not-wanted' }

async function startOrAttach(request: StepRequest, world: World, begunMs: number): Promise<RunEnd> {
  const { state, clock } = world
  if (request.runId !== undefined) {
    if (request.cancelOnAbort) state.runStarted(request.runId)
    // The service knows this run already, or not any more.
    return waitThenCancel(request.runId, request, world, begunMs, Number.NEGATIVE_INFINITY)
  }

  state.startAttempted()
  const deadlineMs = begunMs + request.waitLimitMs
  const start = await startRun(world.service, request.parameters, { ...world, deadlineMs })
  if (start.kind !== 'started') {
    const cancellation: Cancellation = { kind: start.mayHaveStarted ? 'id-unknown' : 'no-run' }
    return { ending: start, cancellation }
  }
  const { runId } = start
  if (!isUsableRunId(runId)) return refuseRunId(runId, world)
  state.runStarted(runId)
  // If the step was cancelled during the start, the wait below ends at once.
  if (!request.wait && !world.abort.aborted) {
    return { ending: { kind: 'started' }, runId, runUrl: announceRun(runId, request, world), cancellation: NOT_WANTED }
  }
  return waitThenCancel(runId, request, world, begunMs, clock.now() + NOT_FOUND_GRACE_MS)
}

/** Waits for the run, and cancels it if it must not outlive the step. */
async function waitThenCancel(
  runId: string,
  request: StepRequest,
  world: World,
  begunMs: number,
  notFoundGraceUntilMs: number,
): Promise<RunEnd> {
  const runUrl = announceRun(runId, request, world)
  const onStatus = (run: Run) => world.setOutput('status', run.status)
  const ownsRun = request.runId === undefined
  const options = { ...world, ...request, ownsRun, begunMs, notFoundGraceUntilMs, onStatus }
  const { ending, run, queuedMs } = await waitForRun(world.service, runId, options)
  const seen = { ending, runId, runUrl, queuedMs }
  if (ending.kind === 'finished' || !request.cancelOnAbort) return { ...seen, run, cancellation: NOT_WANTED }

  let latestRun = run
  if (world.service.cancel !== undefined) world.log.info(logLine`Run ${runId}: cancelling it at the service.`)
  const onRun = (look: Run) => {
    if (look.status !== latestRun?.status) onStatus(look)
    latestRun = look
  }
  const cancelOptions = { ...world, limitMs: CANCEL_LIMIT_MS, notFoundGraceUntilMs, onRun }
  const cancellation = await cancelRun(world.service, runId, cancelOptions)
  return { ...seen, run: latestRun, cancellation }
}

function announceRun(runId: string, request: StepRequest, world: World): string | undefined {
  world.setOutput('run-id', runId)
  const runUrl = request.runUrl?.(runId)
  if (runUrl !== undefined) world.setOutput('run-url', runUrl)
  const page = runUrl === undefined ? logLine`` : logLine`: ${runUrl}`
  if (request.runId === undefined) world.log.info(logLine`Run ${runId} was started${page}`)
  else if (runUrl !== undefined) world.log.info(logLine`Run ${runId}${page}`)
  return runUrl
}

/** An id that cannot be shown or put in a path is an invalid response: its run is cancelled and never waited for. */
async function refuseRunId(runId: string, world: World): Promise<RunEnd> {
  const failure: Failure = {
    kind: 'invalid-response',
    expected: 'a run id of at most 256 letters, digits and . _ ~ : = + / @ -',
    got: untrusted(runId),
  }
  let cancellation: Cancellation = { kind: 'id-unknown' }
  if (runId !== '') {
    world.state.runStarted(runId)
    const notFoundGraceUntilMs = world.clock.now() + NOT_FOUND_GRACE_MS
    cancellation = await cancelRun(world.service, runId, { ...world, limitMs: CANCEL_LIMIT_MS, notFoundGraceUntilMs })
  }
  // Whether or not the step was cancelled meanwhile: of all endings, only this one names the id.
  return { ending: { kind: 'start-failed', failure }, cancellation }
}
