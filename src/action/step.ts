import type { Cancellation, EndedStep, StepOutcome, StepSubject } from '../model/outcome.ts'
import type { Run } from '../model/run.ts'
import { whatIsTested } from '../report/what-is-tested.ts'
import { fragment } from '../text/safe-text.ts'
import { CANCEL_LIMIT_MS, isReadByRunner } from './abort.ts'
import { cancelRun } from './cancel-run.ts'
import type { RunHandle } from './failures.ts'
import { publish, type ReportSettings } from './publish.ts'
import { startRun } from './start-run.ts'
import { TestOutput } from './test-output.ts'
import { concludeStep, type VerdictRules } from './verdict.ts'
import { type WaitSettings, waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

export interface StepSettings extends WaitSettings, VerdictRules {
  readonly subject: StepSubject
  /** The run that the step waits for. If it is absent, the step starts a run. */
  readonly runId?: string | undefined
  /** If false, the step starts the run and does not wait for it. */
  readonly wait: boolean
  /** Whether the log shows the output of the tests while they run. */
  readonly showOutput: boolean
  /** Whether main cancels the run if main stops waiting before the run has finished, for example at a time limit. */
  readonly mayCancel: boolean
  /** The address of a run's page. Undefined if the input `run-url` is empty. */
  readonly runUrlOf?: ((runId: string) => string | undefined) | undefined
  readonly reports: ReportSettings
}

/** What is left to do for the run. If post does it, main's file stays. If only a person can do it, the log says so. */
const LEFT_AFTER_CANCELLATION: Readonly<Record<Cancellation['kind'], 'nothing' | 'for post' | 'for a person'>> = {
  none: 'nothing',
  'not-allowed': 'nothing',
  cancelled: 'nothing',
  'already-finished': 'nothing',
  'not-found': 'nothing',
  failed: 'for post',
  'not-supported': 'for a person',
  'id-unknown': 'for a person',
}

export async function performStep(settings: StepSettings, world: World): Promise<StepOutcome> {
  const { clock, mainFile, signal } = world
  const ended = await startAndWait(settings, clock.now() + settings.waitLimitMs, world)
  const outcome = concludeStep({ ...ended, subject: settings.subject }, settings)
  const left = LEFT_AFTER_CANCELLATION[outcome.cancellation.kind]
  // If nothing is left, post has nothing to do, even if main is killed while it writes the reports.
  if (left === 'nothing') mainFile.done()
  await publish(outcome, settings.reports, world)
  // Only now has the log said what a person has to do. If the job has ended, nobody reads this log, so post says it again.
  if (left === 'for a person' && isReadByRunner(signal)) mainFile.done()
  return outcome
}

async function startAndWait(
  settings: StepSettings,
  deadlineMs: number,
  world: World,
): Promise<Omit<EndedStep, 'subject'>> {
  const { mainFile, clock, signal } = world
  const { wait, mayCancel, subject } = settings
  let runId = settings.runId
  if (runId === undefined) {
    mainFile.starting()
    const started = await startRun(subject.parameters, deadlineMs, world)
    if (typeof started !== 'string') return started
    runId = started
  }
  const handle: RunHandle = { id: runId, knownSinceMs: clock.now() }
  mainFile.started(runId, mayCancel)
  const runUrl = announceRun(runId, settings, world)
  // If the step was aborted during the start, main goes on even if `wait` is false. The wait then ends at once, and main cancels
  // the run if `mayCancel` is true.
  if (!wait && !signal.aborted) return { runId, runUrl, ending: { kind: 'started' }, cancellation: { kind: 'none' } }

  const output = new TestOutput(runId, settings.showOutput, world)
  const waited = await waitForRun({ ...settings, handle, deadlineMs, output }, world)
  const cancelled = await cancelIfUnfinished(handle, waited, mayCancel, world)
  // The rest is read too if only the cancel found that the run has finished.
  await output.readRest(cancelled.run)
  return { runId, runUrl, ending: waited.ending, ...cancelled }
}

async function cancelIfUnfinished(
  handle: RunHandle,
  { ending, run }: Pick<EndedStep, 'ending' | 'run'>,
  mayCancel: boolean,
  world: World,
): Promise<Pick<EndedStep, 'run' | 'cancellation'>> {
  if (ending.kind === 'finished') return { run, cancellation: { kind: 'none' } }
  if (!mayCancel) return { run, cancellation: { kind: 'not-allowed' } }
  let latestRun = run
  const onRun = (current: Run) => {
    world.setOutput('status', current.status)
    latestRun = current
  }
  const cancellation = await cancelRun({ handle, onRun }, world.clock.now() + CANCEL_LIMIT_MS, world)
  return { run: latestRun, cancellation }
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
