import type { Failure } from '../domain/errors.ts'
import type { Order, Target } from '../domain/order.ts'
import type { Run } from '../domain/run.ts'
import type { StepResult } from '../domain/step-result.ts'
import { untrusted } from '../domain/untrusted.ts'
import { type Cancellation, type Ending, judge, type Verdict } from '../domain/verdict.ts'
import { line } from '../report/inert.ts'
import { mayHaveStarted } from '../service/retry.ts'
import { isUsableRunId } from '../service/test-service.ts'
import { whyCancelled } from './abort.ts'
import { cancelRun } from './cancel-run.ts'
import { publishResult, type ReportWishes } from './publish-result.ts'
import { startRun } from './start-run.ts'
import { waitForRun } from './wait-for-run.ts'
import type { World } from './world.ts'

/** What the step was told to do. */
export interface RunRequest {
  readonly target: Target
  readonly order: Order
  /** Wait for this run instead of starting one. */
  readonly runId?: string
  /** False: start, and leave the run to others. */
  readonly wait: boolean
  readonly waitLimitMs: number
  readonly pollIntervalMs?: number
  readonly cancelOnAbort: boolean
  readonly passWithNoTests: boolean
  readonly reports: ReportWishes
}

/** How long main, giving up on a run, tries to cancel it. After a signal there is less. */
const CANCEL_LIMIT_MS = 15_000

/** The whole story of a step: start, remember, wait, judge, report. Only a green verdict may let the step succeed. */
export async function runTests(request: RunRequest, world: World): Promise<Verdict> {
  const begunMs = world.clock.now()
  const { ending, runId } = await live(request, world, begunMs + request.waitLimitMs)
  const run = lastWord(ending)
  const result: StepResult = {
    verdict: judge(ending, request.passWithNoTests),
    ending,
    ...(run === undefined ? {} : { run }),
    ...(runId === undefined ? {} : { runId }),
    target: request.target,
    order: request.order,
    startedHere: request.runId === undefined,
    waitedMs: world.clock.now() - begunMs,
  }
  await publishResult(result, request.reports, world)
  return result.verdict
}

interface Life {
  readonly ending: Ending
  /** The id, where it is one that may be shown. */
  readonly runId?: string
}

async function live(request: RunRequest, world: World, deadlineMs: number): Promise<Life> {
  if (request.runId !== undefined) {
    world.setOutput('run-id', request.runId)
    if (request.cancelOnAbort) world.state.runGoing(request.runId)
    return { ending: await attend(request.runId, request, world, deadlineMs), runId: request.runId }
  }

  world.state.startAttempted()
  const start = await startRun(world.service, request.order, { ...world, deadlineMs })
  if (start.kind !== 'started') {
    // Without an id nothing more can be done for the run, by post neither.
    world.state.settled()
    if (start.kind === 'aborted') {
      return { ending: { kind: 'aborted', cancellation: { kind: start.mayHaveStarted ? 'id-unknown' : 'no-run' } } }
    }
    const cancellation: Cancellation = { kind: mayHaveStarted(start.failure) ? 'id-unknown' : 'no-run' }
    return { ending: { kind: 'gave-up', during: 'start', failure: start.failure, cancellation } }
  }

  const { runId } = start
  if (!isUsableRunId(runId)) return { ending: await refuseRunId(runId, world) }

  const startedAtMs = world.clock.now()
  if (request.cancelOnAbort) world.state.runGoing(runId)
  else world.state.settled()
  world.setOutput('run-id', runId)
  world.log.info(line`Run ${runId} was started.`)
  // Cancelled in the middle of the start, the run goes the way of any other: through `attend`, which ends at once.
  if (!request.wait && !world.abort.aborted) {
    world.state.settled()
    return { ending: { kind: 'started' }, runId }
  }
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
    world.state.settled()
    return end
  }
  const cancellation = await release(runId, request.cancelOnAbort, world)
  const known = end.run === undefined ? {} : { run: end.run }
  switch (end.kind) {
    case 'timed-out':
      return { kind: 'wait-timeout', limitMs: request.waitLimitMs, cancellation, ...known }
    case 'aborted':
      return { kind: 'aborted', cancellation, ...known }
    case 'gave-up':
      // A signal may have come in the last poll's last moment: the runner then counts the step as cancelled.
      return { kind: 'gave-up', during: 'wait', failure: end.failure, cancellation, ...known }
  }
}

async function release(runId: string, cancelOnAbort: boolean, world: World): Promise<Cancellation> {
  if (!cancelOnAbort) return { kind: 'not-wanted' }
  if (world.service.cancel !== undefined) world.log.info(line`Run ${runId}: cancelling it at the service.`)
  const cancellation = await cancelWithin(runId, world)
  // What main could not cancel, post tries again. What has no cancel at all, main has told already.
  if (cancellation.kind !== 'failed') world.state.settled()
  return cancellation
}

/** A cancel that was begun with time in hand hurries when the runner's signal comes in the middle of it. */
async function cancelWithin(runId: string, world: World): Promise<Cancellation> {
  const { clock, abort, random, service } = world
  if (!abort.aborted) {
    const unhurried = await cancelRun(service, runId, {
      clock,
      random,
      deadlineMs: clock.now() + CANCEL_LIMIT_MS,
      signal: abort,
    })
    if (unhurried.kind !== 'failed' || !abort.aborted) return unhurried
  }
  return cancelRun(service, runId, { clock, random, deadlineMs: whyCancelled(abort).cancelDeadlineMs })
}

/** An id that cannot be shown or put in a path is a broken answer: its run is cancelled and never waited for. */
async function refuseRunId(runId: string, world: World): Promise<Ending> {
  let cancellation: Cancellation = { kind: 'id-unknown' }
  if (runId !== '') {
    world.state.runGoing(runId)
    cancellation = await cancelWithin(runId, world)
  }
  if (cancellation.kind !== 'failed') world.state.settled()
  const failure: Failure = {
    kind: 'broken-answer',
    expected: 'a run id of at most 256 letters, digits and . _ ~ : = + / @ -',
    got: untrusted(runId),
  }
  if (world.abort.aborted) return { kind: 'aborted', cancellation }
  return { kind: 'gave-up', during: 'start', failure, cancellation }
}

function lastWord(ending: Ending): Run | undefined {
  if (ending.kind === 'started') return undefined
  if (ending.kind === 'finished') return ending.run
  if (ending.cancellation.kind === 'already-over') return ending.cancellation.run ?? ending.run
  return ending.run
}
