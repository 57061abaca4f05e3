import type { Failure } from '../outcome/failure.ts'
import type { Run } from '../outcome/run.ts'
import {
  type Cancellation,
  concludeStep,
  isDone,
  type StepFacts,
  type StepOutcome,
  type StepSubject,
  type VerdictRules,
} from '../outcome/step-outcome.ts'
import { isUsableRunId, RUN_ID_RULE, type RunHandle } from '../service/run-handle.ts'
import { logLine } from '../text/safe-text.ts'
import { untrusted } from '../text/untrusted.ts'
import { CANCEL_LIMIT_MS } from './abort.ts'
import { cancelRun } from './cancel-run.ts'
import { whatIsTested } from './progress-log.ts'
import { publish, type ReportSettings } from './publish.ts'
import { startRun } from './start-run.ts'
import { type WaitLimits, waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

export interface StepRequest extends Omit<StepSubject, 'ownsRun'>, WaitLimits, VerdictRules {
  readonly runId?: string | undefined
  /** If false, the step starts the run and does not wait for it. */
  readonly wait: boolean
  readonly cancelOnAbort: boolean
  /** Returns the address of a run's page. Absent if the input `run-url` is empty. */
  readonly runUrl?: ((runId: string) => string | undefined) | undefined
  readonly reports: ReportSettings
}

/** The whole step: start a run or take the given one, wait for it, cancel it if needed, conclude, publish. */
export async function runAction(request: StepRequest, world: World): Promise<StepOutcome> {
  const step: Step = { request, world, begunMs: world.clock.now() }
  const seen = await startOrAttach(step)
  const { target, untested, commitName, labels, job } = request
  const ownsRun = request.runId === undefined
  const parameters = ownsRun ? request.parameters : {}
  const subject = { target, parameters, untested, commitName, ownsRun, labels, job } satisfies Record<
    keyof StepSubject,
    unknown
  >
  const facts: StepFacts = { ...seen, subject, waitedMs: world.clock.now() - step.begunMs }
  const outcome = concludeStep(facts, request)
  // If something is left to do, the record stays as it is. Post then tries again to cancel the run, or warns once more.
  if (isDone(outcome)) world.recorder.done()
  await publish(outcome, request.reports, world)
  return outcome
}

interface Step {
  readonly request: StepRequest
  readonly world: World
  readonly begunMs: number
}

/** Why this step does not wait for the run any more, or why it started none, and what is known about the run. */
type SeenOfRun = Omit<StepFacts, 'subject' | 'waitedMs'>

const NOT_WANTED: Cancellation = { kind: 'not-wanted' }

async function startOrAttach(step: Step): Promise<SeenOfRun> {
  const { request, world, begunMs } = step
  const { recorder, clock } = world
  if (request.runId !== undefined) {
    recorder.started(request.runId, request.cancelOnAbort)
    return waitThenCancel({ id: request.runId }, step)
  }

  recorder.starting()
  const start = await startRun(request.parameters, begunMs + request.waitLimitMs, world)
  if (start.kind !== 'started') {
    const cancellation: Cancellation = { kind: start.mayHaveStarted ? 'id-unknown' : 'no-run' }
    return { ending: start, cancellation }
  }
  const handle: RunHandle = { id: start.runId, knownSinceMs: clock.now() }
  if (!isUsableRunId(handle.id)) return refuseRunId(handle, world)
  recorder.started(handle.id, request.cancelOnAbort)
  // If the step was cancelled during the start, the wait below ends at once.
  if (request.wait || world.signal.aborted) return waitThenCancel(handle, step)
  return { ending: { kind: 'started' }, runId: handle.id, runUrl: announceRun(handle, step), cancellation: NOT_WANTED }
}

/** Waits for the run. If the run does not finish and may be cancelled, cancels it. */
async function waitThenCancel(handle: RunHandle, step: Step): Promise<SeenOfRun> {
  const { request, world, begunMs } = step
  const runUrl = announceRun(handle, step)
  const onStatus = (run: Run) => world.setOutput('status', run.status)
  const { waitLimitMs, queueLimitMs, pollIntervalMs } = request
  const options = { begunMs, waitLimitMs, queueLimitMs, pollIntervalMs, onStatus }
  const { ending, run, queuedMs } = await waitForRun(handle, options, world)
  const seen = { ending, runId: handle.id, runUrl, queuedMs }
  if (ending.kind === 'finished' || !request.cancelOnAbort) return { ...seen, run, cancellation: NOT_WANTED }

  let latestRun = run
  if (world.service.cancel !== undefined) world.log.info(logLine`Run ${handle.id}: cancelling it at the service.`)
  const onRun = (current: Run) => {
    onStatus(current)
    latestRun = current
  }
  const cancellation = await cancelRun(handle, { limitMs: CANCEL_LIMIT_MS, onRun }, world)
  return { ...seen, run: latestRun, cancellation }
}

function announceRun({ id }: RunHandle, { request, world }: Step): string | undefined {
  world.setOutput('run-id', id)
  const runUrl = request.runUrl?.(id)
  if (runUrl !== undefined) world.setOutput('run-url', runUrl)
  const page = runUrl === undefined ? logLine`` : logLine`: ${runUrl}`
  if (request.runId === undefined) world.log.info(logLine`Run ${id} was started for ${whatIsTested(request)}${page}`)
  else if (runUrl !== undefined) world.log.info(logLine`Run ${id}${page}`)
  return runUrl
}

/** No path can hold this id. Main cancels the run and fails. */
async function refuseRunId(handle: RunHandle, world: World): Promise<SeenOfRun> {
  const failure: Failure = {
    kind: 'invalid-response',
    expected: `a run id of ${RUN_ID_RULE}`,
    got: untrusted(handle.id),
  }
  let cancellation: Cancellation = { kind: 'id-unknown' }
  if (handle.id !== '') {
    world.recorder.started(handle.id, true)
    cancellation = await cancelRun(handle, { limitMs: CANCEL_LIMIT_MS }, world)
  }
  // If the step was cancelled meanwhile, the ending is still `start-failed`, because only its message contains the id.
  return { ending: { kind: 'start-failed', failure }, cancellation }
}
