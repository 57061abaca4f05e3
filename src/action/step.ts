import type { StepHistory, StepOutcome, StepSubject } from '../model/outcome.ts'
import type { Run } from '../model/run.ts'
import { whatIsTested } from '../report/facts.ts'
import { fragment } from '../text/safe-text.ts'
import { CANCEL_LIMIT_MS, hasJobEnded } from './abort.ts'
import { cancelRun } from './cancel-run.ts'
import { publish, type ReportSettings } from './publish.ts'
import type { RunHandle } from './retry.ts'
import { startRun } from './start-run.ts'
import { concludeStep, type VerdictRules } from './verdict.ts'
import { type WaitSettings, waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

export interface StepSettings extends WaitSettings, VerdictRules {
  readonly subject: StepSubject
  /** The run that the step waits for. If it is absent, the step starts a run. */
  readonly runId?: string | undefined
  /** If false, the step starts the run and does not wait for it. */
  readonly wait: boolean
  /** Whether main cancels the run if main stops waiting before the run has finished, for example at a time limit. */
  readonly cancelOnAbort: boolean
  /** The address of a run's page. Undefined if the input `run-url` is empty. */
  readonly runUrlOf?: ((runId: string) => string | undefined) | undefined
  readonly reports: ReportSettings
}

/** Starts a run or takes the given one, waits for it, cancels it if needed, decides the verdict, and publishes it. */
export async function performStep(settings: StepSettings, world: World): Promise<StepOutcome> {
  const step: Step = { settings, world, stepBeganMs: world.clock.now() }
  const known = await startAndWait(step)
  const history: StepHistory = { ...known, subject: settings.subject, tookMs: world.clock.now() - step.stepBeganMs }
  const outcome = concludeStep(history, settings)
  const { kind } = outcome.cancellation
  const isForPerson = kind === 'id-unknown' || kind === 'not-supported'
  // After a failed cancel, the record stays as it is, and post tries again.
  if (kind !== 'failed' && !isForPerson) world.recorder.done()
  await publish(outcome, settings.reports, world)
  // The log now says what only a person can do. If the job has ended, nobody reads the log, so post says it.
  if (isForPerson && !hasJobEnded(world.signal)) world.recorder.done()
  return outcome
}

interface Step {
  readonly settings: StepSettings
  readonly world: World
  readonly stepBeganMs: number
}

type Known = Omit<StepHistory, 'subject' | 'tookMs'>

async function startAndWait(step: Step): Promise<Known> {
  const { settings, world, stepBeganMs } = step
  const { recorder, clock, signal } = world
  if (settings.runId !== undefined) {
    recorder.started(settings.runId, settings.cancelOnAbort)
    return followRun({ id: settings.runId, knownSinceMs: clock.now() }, step)
  }

  recorder.starting()
  const started = await startRun(settings.subject.parameters, stepBeganMs + settings.waitLimitMs, world)
  if (typeof started !== 'string') return started
  const handle: RunHandle = { id: started, knownSinceMs: clock.now() }
  recorder.started(handle.id, settings.cancelOnAbort)
  // If the step was aborted during the start, `followRun` is called even if `wait` is false. Its wait ends at once, and main
  // cancels the run if `cancelOnAbort` is true.
  if (settings.wait || signal.aborted) return followRun(handle, step)
  const runUrl = announceRun(handle, step)
  return { ending: { kind: 'started' }, runId: handle.id, runUrl, cancellation: { kind: 'none' } }
}

/** Waits for the run. If the run has not finished by then and may be cancelled, cancels it. */
async function followRun(handle: RunHandle, step: Step): Promise<Known> {
  const { settings, world, stepBeganMs } = step
  const runUrl = announceRun(handle, step)
  const { ending, run } = await waitForRun(handle, { ...settings, stepBeganMs }, world)
  const known = { ending, runId: handle.id, runUrl }
  if (ending.kind === 'finished') return { ...known, run, cancellation: { kind: 'none' } }
  if (!settings.cancelOnAbort) return { ...known, run, cancellation: { kind: 'not-wanted' } }

  let latestRun = run
  const onRun = (current: Run) => {
    world.setOutput('status', current.status)
    latestRun = current
  }
  const cancellation = await cancelRun(handle, { deadlineMs: world.clock.now() + CANCEL_LIMIT_MS, onRun }, world)
  return { ...known, run: latestRun, cancellation }
}

/**
 * Sets the outputs `run-id` and `run-url`, and returns the address of the run's page. Logs the run if this step started it,
 * or if the run has a page.
 */
function announceRun({ id }: RunHandle, { settings, world }: Step): string | undefined {
  world.setOutput('run-id', id)
  const runUrl = settings.runUrlOf?.(id)
  if (runUrl !== undefined) world.setOutput('run-url', runUrl)
  const page = runUrl === undefined ? fragment`` : fragment`: ${runUrl}`
  if (settings.runId === undefined)
    world.log.info(fragment`Run ${id} was started for ${whatIsTested(settings.subject)}${page}`)
  else if (runUrl !== undefined) world.log.info(fragment`Run ${id}${page}`)
  return runUrl
}
