import type { Cancellation, EndedStep, StepOutcome, StepSubject } from '../model/outcome.ts'
import type { Run } from '../model/run.ts'
import { whatIsTested } from '../report/what-is-tested.ts'
import { fragment } from '../text/safe-text.ts'
import { CANCEL_LIMIT_MS, isReadByRunner } from './abort.ts'
import { cancelRun } from './cancel-run.ts'
import type { RunHandle } from './failures.ts'
import { publish, type ReportSettings, setOutputs } from './publish.ts'
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

/** `beganMs` is when the step began. Since then, main may have read a large baseline. */
export async function performStep(
  settings: StepSettings,
  world: World,
  beganMs = world.clock.now(),
): Promise<StepOutcome> {
  const { mainFile, signal } = world
  const { output, ...ended } = await startAndWait(settings, beganMs + settings.waitLimitMs, world)
  const outcome = concludeStep({ ...ended, subject: settings.subject }, settings)
  // Before the rest of the output, because the runner may kill main while it reads that.
  setOutputs(outcome, world)
  // The verdict follows the last line of the tests. Until then, main has its file, by which it notices the end of its job.
  await output?.readRest(outcome.run)
  const next = whoMustAct(outcome.cancellation)
  // Even if main is killed while it writes the reports, post then has nothing to do.
  if (next === 'nobody') mainFile.done()
  await publish(outcome, settings.reports, world)
  // The log now says what a person has to do. If nobody reads this log, main's file stays, so that post says it.
  if (next === 'a person' && isReadByRunner(signal)) mainFile.done()
  return outcome
}

/**
 * Who has something left to do for the run when main has ended. If the run may not be cancelled (`not-allowed`), post would do and say nothing, so
 * it needs no file.
 */
function whoMustAct({ kind }: Cancellation): 'nobody' | 'post' | 'a person' {
  if (kind === 'failed') return 'post'
  return kind === 'not-supported' || kind === 'id-unknown' ? 'a person' : 'nobody'
}

async function startAndWait(
  settings: StepSettings,
  deadlineMs: number,
  world: World,
): Promise<Omit<EndedStep, 'subject'> & { readonly output?: TestOutput }> {
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
  if (!wait) {
    // Node says only in a later turn that nobody reads the line above. Then the step is aborted.
    await clock.sleep(0)
    if (!signal.aborted) return { runId, runUrl, ending: { kind: 'started' }, cancellation: { kind: 'none' } }
    // If the step was aborted, `waitForRun` returns at once, and the run is treated like every run of an aborted step.
  }

  const output = new TestOutput(runId, settings.showOutput, world)
  const waited = await waitForRun({ ...settings, handle, deadlineMs, output }, world)
  const ended = await cancelIfUnfinished(handle, waited, mayCancel, world)
  return { runId, runUrl, ...ended, output }
}

async function cancelIfUnfinished(
  handle: RunHandle,
  { ending, run }: Pick<EndedStep, 'ending' | 'run'>,
  mayCancel: boolean,
  world: World,
): Promise<Pick<EndedStep, 'ending' | 'run' | 'cancellation'>> {
  if (ending.kind === 'finished') return { ending, run, cancellation: { kind: 'none' } }
  if (!mayCancel) return { ending, run, cancellation: { kind: 'not-allowed' } }
  let latestRun = run
  const onRun = (current: Run) => {
    world.setOutput('status', current.status)
    latestRun = current
  }
  const cancellation = await cancelRun({ handle, onRun }, world.clock.now() + CANCEL_LIMIT_MS, world)
  // At the limit of the wait, a run that has finished before the cancel counts as if the last poll had found that.
  if (ending.kind === 'wait-timeout' && cancellation.kind === 'already-finished')
    return { ending: { kind: 'finished' }, run: latestRun, cancellation: { kind: 'none' } }
  return { ending, run: latestRun, cancellation }
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
