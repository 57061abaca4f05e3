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

export async function performStep(settings: StepSettings, world: World): Promise<StepOutcome> {
  const { clock } = world
  const stepBeganMs = clock.now()
  const history = await startAndWait({ ...settings, stepBeganMs }, world)
  const outcome = concludeStep({ ...history, subject: settings.subject, tookMs: clock.now() - stepBeganMs }, settings)
  const { kind } = outcome.cancellation
  const isForPerson = kind === 'id-unknown' || kind === 'not-supported'
  // After a failed cancel, the record stays as it is, and post tries again.
  if (kind !== 'failed' && !isForPerson) world.recorder.done()
  await publish(outcome, settings.reports, world)
  // The log now says what only a person can do. If the job has ended, nobody reads the log, so post says it.
  if (isForPerson && !hasJobEnded(world.signal)) world.recorder.done()
  return outcome
}

async function startAndWait(
  settings: StepSettings & { readonly stepBeganMs: number },
  world: World,
): Promise<Omit<StepHistory, 'subject' | 'tookMs'>> {
  const { recorder, clock, signal } = world
  const { stepBeganMs, waitLimitMs, cancelOnAbort, subject } = settings
  let id = settings.runId
  if (id === undefined) {
    recorder.starting()
    const started = await startRun(subject.parameters, stepBeganMs + waitLimitMs, world)
    if (typeof started !== 'string') return started
    id = started
  }
  const handle: RunHandle = { id, knownSinceMs: clock.now() }
  recorder.started(id, cancelOnAbort)
  const known = { runId: id, runUrl: announceRun(id, settings, world) }
  // If the step was aborted during the start, main goes on even if `wait` is false. The wait then ends at once, and main cancels
  // the run if `cancelOnAbort` is true.
  if (!settings.wait && !signal.aborted)
    return { ...known, ending: { kind: 'started' }, cancellation: { kind: 'none' } }

  const { ending, run } = await waitForRun(handle, settings, world)
  if (ending.kind === 'finished') return { ...known, ending, run, cancellation: { kind: 'none' } }
  if (!cancelOnAbort) return { ...known, ending, run, cancellation: { kind: 'not-wanted' } }

  let latestRun = run
  const onRun = (current: Run) => {
    world.setOutput('status', current.status)
    latestRun = current
  }
  const cancellation = await cancelRun(handle, { deadlineMs: clock.now() + CANCEL_LIMIT_MS, onRun }, world)
  return { ...known, ending, run: latestRun, cancellation }
}

/** Returns the address of the run's page. */
function announceRun(id: string, { subject, runId, runUrlOf }: StepSettings, world: World): string | undefined {
  world.setOutput('run-id', id)
  const runUrl = runUrlOf?.(id)
  if (runUrl !== undefined) world.setOutput('run-url', runUrl)
  const page = runUrl === undefined ? fragment`` : fragment`: ${runUrl}`
  if (runId === undefined) world.log.info(fragment`Run ${id} was started for ${whatIsTested(subject)}${page}`)
  else if (runUrl !== undefined) world.log.info(fragment`Run ${id}${page}`)
  return runUrl
}
