import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ModelRun, ModelService, ObservedResponse } from './model-service.ts'
import { type SimulationPlan, simulationPlan } from './random-plans.ts'
import { type SimulationResult, simulateStep } from './simulation.ts'

// Simulates steps with the real `performStep` and the real code of post. The service and the network do anything, and the runner
// signals and kills at any moment. The invariants below always hold. If a plan breaks an invariant, the test prints the plan in
// its smallest form with its seed. SEED=<seed> repeats the simulation.

const SIMULATIONS = Number(process.env.SIMULATIONS ?? 5_000)

const RAN = ['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'ERROR']

type Invariant = (plan: SimulationPlan, result: SimulationResult) => void

function violate(what: string): never {
  throw new Error(what)
}

/** The time from an abort to the end of main, or of post. */
const EXIT_LIMIT_MS = 9_500
const REQUEST_LIMIT_MS = 30_000
/** A poll may take until this long after the limit of the wait. */
const LAST_POLL_MS = 5_000
const MAIN_CANCEL_MS = 15_000
/** Post waits for main before it cancels. */
const POST_LIMIT_MS = 5_000 + 12_000 + 60_000
const LATENESS_MS = 50

function exitedByItself({ main }: SimulationResult): boolean {
  return main.end === 'success' || main.end === 'failure'
}

function startResponse({ main }: SimulationResult): ObservedResponse | undefined {
  return main.responses.find(({ runId }) => runId !== undefined)
}

/** Whether the service says that the run has finished. It then always sends a finishing time. */
function isEnd({ run }: ObservedResponse): boolean {
  return run?.finishedAt !== undefined
}

const startsAtMostOneRun: Invariant = (plan, { service, main }) => {
  const started = service.runs.filter(({ isGiven }) => !isGiven).length
  if (started > (plan.service.isGiven || main.isStartRefused ? 0 : 1)) violate(`${started} runs were started`)
}

const namesEveryRunThatItLeaves: Invariant = (plan, result) => {
  const { service, main, post, messages } = result
  const { wait, mayCancel } = plan.request
  const { container, hasPost, fileRemovedAtMs } = plan.runner
  const { run } = service
  if (run === undefined || isSettled(run, service)) return
  // Nobody reads the log, and post does not run.
  if (container?.end === 'shutdown') return
  const isMainHeard = exitedByItself(result) && container === undefined
  if (!isMainHeard && !hasPost) return
  const left = isMainHeard ? main.left : post?.left
  // Nobody knows the run if another step has removed main's file before main was killed, or before its container was removed.
  if (!isMainHeard && fileRemovedAtMs !== undefined && left === undefined) return
  // Post cancels a given run only if `mayCancel` allows it and main had the time to write that to its file.
  if (run.isGiven && !(mayCancel && (isMainHeard || left?.phase === 'started'))) return
  // The inputs say that the step does not cancel this run.
  const conclusion = main.outputs.get('conclusion')
  if (isMainHeard && conclusion === 'started') return
  const isDone = left === undefined || left.phase === 'nothing started'
  if (!wait && isDone && (conclusion === undefined || conclusion === 'started')) return
  if (!mayCancel && !isMainHeard && left?.phase !== 'starting') return

  const isIdKnown = post === undefined ? main.outputs.has('run-id') : post.left?.phase === 'started'
  const isNamed = messages.some(
    (message) => isNameOf(run, message) || (!isIdKnown && /run may have been started/.test(message)),
  )
  if (!isNamed) violate('a run is left running, and no warning names it')
}

function isSettled(run: ModelRun, service: ModelService): boolean {
  return service.isFinished(run) || run.cancelAcceptedAtMs !== undefined
}

function isNameOf({ id }: ModelRun, message: string): boolean {
  return message.includes(id) && /may still be running/.test(message)
}

const succeedsOnlyIfTheRunPassed: Invariant = (plan, { service, main }) => {
  const conclusion = main.outputs.get('conclusion')
  if (main.end === 'failure') {
    if (conclusion === 'passed' || conclusion === 'started') violate(`failure, and the conclusion is ${conclusion}`)
    return
  }
  if (main.end !== 'success') return
  if (conclusion === 'started') {
    if (plan.request.wait) violate('success without waiting')
    return
  }
  const { run } = service
  if (run === undefined || service.statusOf(run) !== 'PASSED') violate('success, and the run did not pass')
  if (!plan.request.passWithNoTests && !hasRunCase(plan)) violate('success, and no test case ran')
  if (plan.request.strict && hasDoubtfulCase(plan)) violate('success of a strict step, and not all test cases passed')
}

const GOOD_CASES = ['PASSED', 'FLAKY', 'SKIPPED']

function hasDoubtfulCase(plan: SimulationPlan): boolean {
  return (plan.service.run.cases ?? []).some((status) => !GOOD_CASES.includes(status))
}

function hasRunCase(plan: SimulationPlan): boolean {
  return (plan.service.run.cases ?? []).some((status) => RAN.includes(status))
}

const exitsInTime: Invariant = (plan, result) => {
  const { main, post } = result
  const { signalled, endedMs } = main
  if (main.end === 'hanging') violate('main never ended')
  // A main that is blocked cannot keep the limit.
  if (signalled !== undefined && plan.runner.blocked === undefined) {
    const tookMs = endedMs - signalled.atMs
    if (tookMs > EXIT_LIMIT_MS) violate(`main took ${tookMs} ms from its abort (${signalled.cause}) to its end`)
  }
  // A start in flight at the limit is still awaited, because the run's id is in its response.
  const { waitLimitMs } = plan.request
  const startedMs = plan.service.isGiven ? 0 : (startResponse(result)?.atMs ?? waitLimitMs + REQUEST_LIMIT_MS)
  const waitedMs = Math.max(waitLimitMs, startedMs) + LAST_POLL_MS
  const blockedMs = plan.runner.blocked?.forMs ?? 0
  const limitMs = waitedMs + MAIN_CANCEL_MS + plan.commentMs + blockedMs + LATENESS_MS
  const undisturbedMs = signalled?.atMs ?? endedMs
  if (undisturbedMs > limitMs) violate(`main took ${undisturbedMs} ms with a wait limit of ${waitLimitMs} ms`)
  if (post === undefined) return
  const { postSignal } = plan.runner
  const postTookMs = post.endedMs - post.begunMs
  // After a signal, post has the same time as main, whatever time it had before.
  const isSignalled = postSignal !== undefined && postTookMs >= postSignal.atMs
  const postLimitMs = isSignalled ? postSignal.atMs + EXIT_LIMIT_MS : POST_LIMIT_MS + LATENESS_MS
  if (postTookMs > postLimitMs) violate(`post took ${postTookMs} ms of ${postLimitMs} ms`)
}

const concludesWhatHappened: Invariant = (plan, result) => {
  if (!exitedByItself(result)) return
  const { service, main } = result
  const { wait, waitLimitMs } = plan.request
  const conclusion = main.outputs.get('conclusion')
  const firstCancel = main.responses.findIndex(({ method }) => method === 'cancel')
  const finishedAt = main.responses.findIndex(isEnd)
  const end = main.responses.find(isEnd)?.run?.status
  const ofEnd = end === undefined ? undefined : conclusionOf(end, plan)
  const isCancelledByUs = end === 'CANCELLED' && service.run?.cancelAcceptedAtMs !== undefined
  // If the response to a cancel was lost, or lists no run, the step cannot know who cancelled the run.
  const hasLostCancel = main.responses.some(({ method, isListed }) => method === 'cancel' && isListed !== true)
  const isTakenForOurs = end === 'CANCELLED' && hasLostCancel

  const isSeenWhileWaiting = finishedAt >= 0 && (firstCancel < 0 || finishedAt < firstCancel)
  if (isSeenWhileWaiting && conclusion !== ofEnd) violate(`${conclusion}, although the run was ${end}`)
  switch (conclusion) {
    case 'passed':
    case 'failed':
    case 'timed-out':
    case 'interrupted':
    case 'no-tests':
      if (conclusion !== ofEnd) violate(`${conclusion}, although the run was ${end}`)
      if (!isSeenWhileWaiting && main.endedMs < waitLimitMs) violate(`${conclusion}, found by a cancel without reason`)
      break
    case 'cancelled':
      if (main.signalled === undefined && (end !== 'CANCELLED' || isCancelledByUs))
        violate('cancelled by the step alone')
      break
    case 'wait-timeout':
      if (finishedAt >= 0 && !isCancelledByUs && !isTakenForOurs) violate(`wait-timeout, although the run was ${end}`)
      if (main.endedMs < waitLimitMs) violate('wait-timeout before the limit')
      if (main.signalled !== undefined && main.signalled.atMs < waitLimitMs) violate('wait-timeout of a cancelled step')
      break
    case 'error': {
      const hasHeardFailure = main.responses.some(({ failure }) => failure !== undefined)
      if (ofEnd !== 'error' && !hasHeardFailure && !main.isStartRefused) violate('error without one')
      break
    }
    case 'started':
      if (wait) violate('started, although the step was to wait')
      break
    default:
      violate(`the conclusion is ${conclusion}`)
  }
}

function conclusionOf(end: string, plan: SimulationPlan): string {
  if (end === 'PASSED') {
    const { strict, passWithNoTests } = plan.request
    if (!hasRunCase(plan) && !passWithNoTests) return 'no-tests'
    if (strict && hasDoubtfulCase(plan)) return 'failed'
    return hasRunCase(plan) ? 'passed' : 'no-tests'
  }
  const known: Record<string, string> = {
    FAILED: 'failed',
    TIMEDOUT: 'timed-out',
    CANCELLED: 'cancelled',
    INTERRUPTED: 'interrupted',
  }
  return known[end] ?? 'error'
}

const cancelsOnlyIfItMay: Invariant = (plan, { service, main }) => {
  const { run } = service
  if (run?.cancelAcceptedAtMs === undefined) return
  if (!plan.request.mayCancel) violate('a run was cancelled although cancel-on-abort is false')
  if (main.outputs.get('conclusion') === 'started') violate('a run was cancelled that was left to others')
}

const INVARIANTS: readonly Invariant[] = [
  startsAtMostOneRun,
  namesEveryRunThatItLeaves,
  succeedsOnlyIfTheRunPassed,
  exitsInTime,
  concludesWhatHappened,
  cancelsOnlyIfItMay,
]

// Cases that must occur among so many simulations. An invariant about a case that never occurs would prove nothing.
const ENDS = ['success', 'failure', 'killed', 'crashed']
const CONCLUSIONS = [
  ...['passed', 'failed', 'timed-out', 'cancelled', 'interrupted', 'no-tests'],
  ...['wait-timeout', 'error', 'started'],
]
const EVENTS: Readonly<Record<string, (result: SimulationResult) => boolean>> = {
  'cancelled by main': ({ main }) => main.responses.some(({ isListed }) => isListed),
  'cancelled by post': ({ post }) => post?.responses.some(({ isListed }) => isListed) ?? false,
  'finished when main cancelled': ({ main: { responses } }) =>
    responses.some(({ method }, index) => method === 'cancel' && responses.slice(index).some(isEnd)),
  'service ended': ({ messages }) =>
    messages.some((text) => text.includes('service on this machine has probably ended')),
  'could not cancel': ({ messages }) => messages.some((text) => text.includes('could not cancel the run')),
  'id not known': ({ messages }) => messages.some((text) => text.includes('may have been started')),
  'left to post': ({ post }) => post?.left?.phase === 'started',
  'start refused': ({ main }) => main.isStartRefused,
  'left not written': ({ messages }) => messages.some((text) => text.includes('will not know what is left to do')),
  'ended with the job': ({ main }) => main.signalled?.cause === 'end of job',
}

test(`every invariant holds in ${SIMULATIONS.toLocaleString('en')} random simulations`, {
  timeout: 600_000,
}, async () => {
  const missing = new Set([...ENDS, ...CONCLUSIONS, ...Object.keys(EVENTS)])
  const property = fc.asyncProperty(simulationPlan, async (plan) => {
    const result = await simulateStep(plan)
    for (const invariant of INVARIANTS) invariant(plan, result)
    missing.delete(result.main.end)
    missing.delete(String(result.main.outputs.get('conclusion')))
    for (const event of missing) if (EVENTS[event]?.(result)) missing.delete(event)
  })
  await fc.assert(property, { numRuns: SIMULATIONS })
  if (SIMULATIONS >= 2_000) expect([...missing]).toEqual([])
})
