import { type Failure, isNotFound } from '../outcome/failure.ts'
import { isTerminal, type Run } from '../outcome/run.ts'
import type { StartParameters, Target } from '../outcome/start-parameters.ts'
import type { StepResult } from '../outcome/step-result.ts'
import { untrusted } from '../outcome/untrusted.ts'
import { type Cancellation, type Ending, judge, type Verdict } from '../outcome/verdict.ts'
import { logLine } from '../report/safe-text.ts'
import { mayHaveStarted } from '../service/retry.ts'
import { isUsableRunId } from '../service/test-service.ts'
import { type CancelOptions, cancelRun } from './cancel-run.ts'
import { publishResult, type ReportSettings } from './publish.ts'
import { startRun } from './start-run.ts'
import { waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

/** What the step was told to do. */
export interface RunRequest {
  readonly target: Target
  readonly parameters: StartParameters
  /** Wait for this run instead of starting one. */
  readonly runId?: string
  /** False: start, and leave the run to others. */
  readonly wait: boolean
  readonly waitLimitMs: number
  readonly pollIntervalMs?: number
  readonly cancelOnAbort: boolean
  readonly passWithNoTests: boolean
  readonly reports: ReportSettings
}

/** How long main, giving up on a run, tries to cancel it. After a signal there is less. */
const CANCEL_LIMIT_MS = 15_000
/** When a run was started that this step was given: to the service it is known, or gone. */
const LONG_AGO_MS = Number.NEGATIVE_INFINITY

/** The whole story of a step: start, remember, wait, judge, report. Only a green verdict may let the step succeed. */
export async function runAction(request: RunRequest, world: World): Promise<Verdict> {
  const begunMs = world.clock.now()
  const { ending, runId } = await live(request, world, begunMs + request.waitLimitMs)
  const run = latestRun(ending)
  const result: StepResult = {
    verdict: judge(ending, request.passWithNoTests),
    ending,
    ...(run === undefined ? {} : { run }),
    ...(runId === undefined ? {} : { runId }),
    target: request.target,
    parameters: request.parameters,
    ownsRun: request.runId === undefined,
    waitedMs: world.clock.now() - begunMs,
  }
  await publishResult(result, request.reports, world)
  // What post can do no more about than main is settled only now: killed before it told, main leaves the telling to post.
  if ('cancellation' in ending && needsManualCleanup(ending.cancellation)) world.state.done()
  return result.verdict
}

function needsManualCleanup(cancellation: Cancellation): boolean {
  const { kind } = cancellation
  return kind === 'id-unknown' || kind === 'not-supported' || (kind === 'failed' && isNotFound(cancellation.failure))
}

interface Life {
  readonly ending: Ending
  /** The id, where it is one that may be shown. */
  readonly runId?: string
}

async function live(request: RunRequest, world: World, deadlineMs: number): Promise<Life> {
  if (request.runId !== undefined) {
    world.setOutput('run-id', request.runId)
    if (request.cancelOnAbort) world.state.runStarted(request.runId)
    return { ending: await attend(request.runId, request, world, deadlineMs), runId: request.runId }
  }

  world.state.startAttempted()
  const start = await startRun(world.service, request.parameters, { ...world, deadlineMs })
  if (start.kind !== 'started') {
    const mayExist = start.kind === 'aborted' ? start.mayHaveStarted : mayHaveStarted(start.failure)
    if (!mayExist) world.state.done()
    const cancellation: Cancellation = { kind: mayExist ? 'id-unknown' : 'no-run' }
    if (start.kind === 'aborted') return { ending: { kind: 'aborted', cancellation } }
    return { ending: { kind: 'gave-up', during: 'start', failure: start.failure, cancellation } }
  }

  const { runId } = start
  if (!isUsableRunId(runId)) return { ending: await refuseRunId(runId, world) }

  const startedAtMs = world.clock.now()
  if (request.cancelOnAbort) world.state.runStarted(runId)
  else world.state.done()
  world.setOutput('run-id', runId)
  // Cancelled in the middle of the start, the run goes the way of any other: through `attend`, which ends at once.
  if (!request.wait && !world.abort.aborted) {
    world.state.done()
    return { ending: { kind: 'started' }, runId }
  }
  world.log.info(logLine`Run ${runId} was started.`)
  return { ending: await attend(runId, request, world, deadlineMs, startedAtMs), runId }
}

/** Waits for the run, and cancels it where it must not go on without us. */
async function attend(
  runId: string,
  request: RunRequest,
  world: World,
  deadlineMs: number,
  startedAtMs?: number,
): Promise<Ending> {
  const end = await waitForRun(world.service, runId, {
    ...world,
    deadlineMs,
    ...(request.pollIntervalMs === undefined ? {} : { pollIntervalMs: request.pollIntervalMs }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    onStatus: (run) => world.setOutput('status', run.status),
  })
  if (end.kind === 'finished') {
    world.state.done()
    return end
  }
  // A run that a poll has found is known to the service: a 404 to its cancel is then no matter of its youth.
  const unknownSinceMs = end.run === undefined ? startedAtMs : undefined
  let { run } = end
  const onRun = (seen: Run) => {
    if (seen.status !== run?.status) world.setOutput('status', seen.status)
    if (!isTerminal(seen)) run = seen
  }
  const cancellation = await release(runId, request.cancelOnAbort, world, onRun, unknownSinceMs)
  const known = run === undefined ? {} : { run }
  switch (end.kind) {
    case 'timed-out':
      return {
        kind: 'wait-timeout',
        limitMs: request.waitLimitMs,
        cancellation,
        ...known,
        ...(end.failure && { failure: end.failure }),
      }
    case 'aborted':
      return { kind: 'aborted', cancellation, ...known }
    case 'gave-up':
      // A signal may have come in the last poll's last moment: the runner then counts the step as cancelled.
      return { kind: 'gave-up', during: 'wait', failure: end.failure, cancellation, ...known }
  }
}

async function release(
  runId: string,
  cancelOnAbort: boolean,
  world: World,
  onRun: (run: Run) => void,
  startedAtMs?: number,
): Promise<Cancellation> {
  if (!cancelOnAbort) return { kind: 'not-wanted' }
  if (world.service.cancel !== undefined) world.log.info(logLine`Run ${runId}: cancelling it at the service.`)
  return cancelAndSettle(runId, world, { startedAtMs: startedAtMs ?? LONG_AGO_MS, onRun })
}

async function cancelAndSettle(
  runId: string,
  world: World,
  known: Pick<CancelOptions, 'startedAtMs' | 'onRun'>,
): Promise<Cancellation> {
  const { clock, abort, random } = world
  const options = { ...known, clock, abort, random, limitMs: CANCEL_LIMIT_MS }
  const cancellation = await cancelRun(world.service, runId, options)
  // What main could not cancel stays open, for post to try again.
  if (cancellation.kind === 'cancelled' || cancellation.kind === 'already-finished') world.state.done()
  return cancellation
}

/** An id that cannot be shown or put in a path is a broken answer: its run is cancelled and never waited for. */
async function refuseRunId(runId: string, world: World): Promise<Ending> {
  const failure: Failure = {
    kind: 'invalid-response',
    expected: 'a run id of at most 256 letters, digits and . _ ~ : = + / @ -',
    got: untrusted(runId),
  }
  let cancellation: Cancellation = { kind: 'id-unknown' }
  if (runId !== '') {
    world.state.runStarted(runId)
    cancellation = await cancelAndSettle(runId, world, { startedAtMs: world.clock.now() })
  }
  // Whether or not the step was cancelled meanwhile: of all endings, only this one tells the id.
  return { kind: 'gave-up', during: 'start', failure, cancellation }
}

function latestRun(ending: Ending): Run | undefined {
  if (ending.kind === 'started') return undefined
  if (ending.kind === 'finished') return ending.run
  const { cancellation, run } = ending
  const isSeenByCancel = cancellation.kind === 'cancelled' || cancellation.kind === 'already-finished'
  return isSeenByCancel ? (cancellation.run ?? run) : run
}
