import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Run } from '../../src/outcome/run.ts'
import { isTransient } from '../../src/service/retry.ts'
import { isUsableRunId } from '../../src/service/test-service.ts'
import { type LifePlan, type LifeStory, liveLife } from './life.ts'
import type { ObservedResponse } from './model-service.ts'
import { life } from './random-plans.ts'

// Random lives of a step: the real `runAction` and the real `cancelRun` against a service and a network that do what
// they like, under a runner that signals and kills at any moment. Whatever happens, the promises below hold. A life
// that breaks one is shrunk to its smallest form and printed with its seed; SEED=<seed> lives the same lives again.

const LIVES = Number(process.env.LIVES ?? 10_000)
const SEED = process.env.SEED === undefined ? undefined : Number(process.env.SEED)

const RAN = ['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'ERROR']

/** Throws where it is broken. */
type Promised = (plan: LifePlan, story: LifeStory) => void

function breach(what: string): never {
  throw new Error(what)
}

const START_GRACE_MS = { SIGINT: 6_000, SIGTERM: 1_800 } as const
const REQUEST_LIMIT_MS = 30_000
const LAST_POLLS_MS = 1_000 + 10_000
const MAIN_CANCEL_MS = 15_000
const POST_CANCEL_MS = 60_000
/** Each timer on the way may be a moment late. */
const LATENESS_MS = 50

function isByItself({ main }: LifeStory): boolean {
  return main.end === 'green' || main.end === 'red'
}

function heardStart({ main }: LifeStory): Extract<ObservedResponse, { runId: string }> | undefined {
  return main.heard.find((heard) => 'runId' in heard)
}

/** The service says that the run is over, which it never does without a finishing time. */
function isEnd(heard: ObservedResponse): heard is Extract<ObservedResponse, { run: Run }> {
  return 'run' in heard && heard.run.finishedAt !== undefined
}

const startsAtMostOneRun: Promised = (plan, { service }) => {
  const started = service.runs.filter(({ isGiven }) => !isGiven).length
  if (started > (plan.service.isGiven ? 0 : 1)) breach(`${started} runs were started`)
}

const leavesNoRunWithoutAWord: Promised = (plan, story) => {
  const { service, main, alarms } = story
  const { wait, cancelOnAbort } = plan.request
  const [run] = service.runs
  if (run === undefined || service.isTerminal(run) || run.cancelAcceptedAtMs !== undefined) return
  if (!isByItself(story) && plan.runner.postAfterMs === undefined) return
  // A run that was given is the step's business only where it was told so, and had the time to tell post.
  if (run.isGiven && (!cancelOnAbort || main.saved.run === undefined)) return
  // Left to others, as the step was told.
  const conclusion = main.outputs.get('conclusion')
  if (main.saved.done && !wait && (conclusion === undefined || conclusion === 'started')) return
  if (!cancelOnAbort && !isByItself(story) && isUsableRunId(run.id)) return

  const isIdKnown = main.saved.run !== undefined || main.outputs.has('run-id')
  const isNamed = alarms.some((alarm) =>
    isIdKnown
      ? alarm.includes(run.id.slice(0, 100)) && /may (still )?(go on|be running)/.test(alarm)
      : /run may have been started/.test(alarm),
  )
  if (!isNamed) breach('a run goes on, and no warning names it')
}

const isGreenOnlyByAPass: Promised = (plan, { service, main }) => {
  const conclusion = main.outputs.get('conclusion')
  if (main.end === 'red') {
    if (conclusion === 'passed' || conclusion === 'started') breach(`red, and the conclusion is ${conclusion}`)
    return
  }
  if (main.end !== 'green') return
  if (conclusion === 'started') {
    if (plan.request.wait) breach('green without waiting')
    return
  }
  const [run] = service.runs
  if (run === undefined || service.statusOf(run) !== 'PASSED') breach('green, and the run did not pass')
  if (!plan.request.passWithNoTests && !hasRunCase(plan)) breach('green, and no test case ran')
}

function hasRunCase(plan: LifePlan): boolean {
  return (plan.service.run.cases ?? []).some((status) => RAN.includes(status))
}

const endsInTime: Promised = (plan, story) => {
  const { main, post } = story
  const { signalled, endedMs } = main
  if (main.end === 'hanging') breach('main never ended')
  if (signalled !== undefined) {
    const limitMs = signalled.signal === 'SIGINT' ? 7_000 : 2_200
    const tookMs = endedMs - signalled.atMs
    if (tookMs > limitMs) breach(`main took ${tookMs} ms from ${signalled.signal} to its end`)
  }
  // A start that is out at the limit is still awaited: the run's id is in its answer.
  const { waitLimitMs } = plan.request
  const startedMs = plan.service.isGiven ? 0 : (heardStart(story)?.atMs ?? waitLimitMs + REQUEST_LIMIT_MS)
  const limitMs = Math.max(waitLimitMs, startedMs) + LAST_POLLS_MS + MAIN_CANCEL_MS + plan.commentMs + LATENESS_MS
  const undisturbedMs = signalled?.atMs ?? endedMs
  if (undisturbedMs > limitMs) breach(`main took ${undisturbedMs} ms with a wait limit of ${waitLimitMs} ms`)
  if (post !== undefined && post.tookMs > POST_CANCEL_MS + LATENESS_MS) breach(`post took ${post.tookMs} ms`)
}

const concludesWhatHappened: Promised = (plan, story) => {
  if (!isByItself(story)) return
  const { service, main } = story
  const { waitLimitMs, wait } = plan.request
  const conclusion = main.outputs.get('conclusion')
  const firstCancel = main.heard.findIndex(({ method }) => method === 'cancel')
  const over = main.heard.findIndex(isEnd)
  const end = main.heard.find(isEnd)?.run.status
  const ofEnd = end === undefined ? undefined : conclusionOf(end, plan)
  const isCancelledByUs = end === 'CANCELLED' && service.runs[0]?.cancelAcceptedAtMs !== undefined
  // Where the answer to a cancel was lost, the step cannot tell who cancelled the run.
  const hasLostCancel = main.heard.some((heard) => heard.method === 'cancel' && 'failure' in heard)
  const isTakenForOurs = end === 'CANCELLED' && hasLostCancel

  const isHeardWhileWaiting = over >= 0 && (firstCancel < 0 || over < firstCancel)
  if (isHeardWhileWaiting && conclusion !== ofEnd) breach(`${conclusion}, although the run was ${end}`)
  switch (conclusion) {
    case 'passed':
    case 'failed':
    case 'timed-out':
    case 'interrupted':
    case 'no-tests':
      if (conclusion !== ofEnd) breach(`${conclusion}, although the run was ${end}`)
      if (!isHeardWhileWaiting && main.endedMs < waitLimitMs) breach(`${conclusion}, found by a cancel without reason`)
      break
    case 'cancelled':
      if (main.signalled === undefined && (end !== 'CANCELLED' || isCancelledByUs))
        breach('cancelled by the step alone')
      break
    case 'wait-timeout':
      if (over >= 0 && !isCancelledByUs && !isTakenForOurs) breach(`wait-timeout, although the run was ${end}`)
      if (main.endedMs < waitLimitMs) breach('wait-timeout before the limit')
      if (main.signalled !== undefined && main.signalled.atMs < waitLimitMs) breach('wait-timeout of a cancelled step')
      break
    case 'error': {
      const isRefused = heardStart(story) !== undefined && !isUsableRunId(plan.service.run.id)
      const hasHeardFailure = main.heard.some((heard) => 'failure' in heard)
      if (ofEnd !== 'error' && !isRefused && !hasHeardFailure) breach('error without one')
      break
    }
    case 'started':
      if (wait) breach('started, although the step was to wait')
      break
    default:
      breach(`the conclusion is ${conclusion}`)
  }
}

function conclusionOf(end: string, plan: LifePlan): string {
  if (end === 'PASSED') return hasRunCase(plan) ? 'passed' : 'no-tests'
  const known: Record<string, string> = {
    FAILED: 'failed',
    TIMEDOUT: 'timed-out',
    CANCELLED: 'cancelled',
    INTERRUPTED: 'interrupted',
  }
  return known[end] ?? 'error'
}

const tellsTheLastStatus: Promised = (_, story) => {
  if (!isByItself(story)) return
  const { heard, outputs } = story.main
  const last = heard.findLast((word): word is Extract<ObservedResponse, { run: Run }> => 'run' in word)?.run.status
  const isCancelled = heard.some((word) => 'isListed' in word && word.isListed)
  const expected = isCancelled ? 'CANCELLED' : last
  if (outputs.get('status') !== expected) breach(`status ${outputs.get('status')} instead of ${expected}`)
}

const tellsTheRunsId: Promised = (plan, story) => {
  const { main } = story
  const id = main.outputs.get('run-id')
  const { run, isGiven } = plan.service
  if (id !== undefined && (id !== run.id || !isUsableRunId(run.id))) breach(`the output run-id is ${id}`)
  if (!isByItself(story) || id !== undefined || !isUsableRunId(run.id)) return
  if (isGiven || heardStart(story) !== undefined) breach('the output run-id is not set')
}

/** Where the id can still be learnt, it is. */
const awaitsAStartInFlight: Promised = (_, story) => {
  const { service, main } = story
  const [start] = service.takenStarts
  if (!isByItself(story) || start === undefined || heardStart(story) !== undefined) return
  const { signalled } = main
  const limitMs = start.begunAtMs + REQUEST_LIMIT_MS
  const graceMs = signalled === undefined ? limitMs : signalled.atMs + START_GRACE_MS[signalled.signal as 'SIGINT']
  if (start.answerAtMs < Math.min(limitMs, graceMs)) breach('the answer to a start in flight was not awaited')
}

const triesToCancelWhatItLeaves: Promised = (plan, story) => {
  const { main } = story
  if (!isByItself(story) || !plan.request.cancelOnAbort || !plan.service.hasCancel) return
  if (!main.outputs.has('run-id') || main.outputs.get('conclusion') === 'started' || main.heard.some(isEnd)) return
  const cancels = main.heard.filter(({ method }) => method === 'cancel')
  const [first, last] = [cancels[0], cancels.at(-1)]
  if (first === undefined || last === undefined) breach('the run was left without a try')
  // A first try may take half of the time that there is; after it, the other half is left.
  const triedMs = main.endedMs - plan.commentMs - first.atMs
  const mayTryAgain = 'failure' in last ? isTransient(last.failure) : 'isListed' in last && !last.isListed
  if (main.signalled === undefined && mayTryAgain && triedMs < MAIN_CANCEL_MS / 2 - LATENESS_MS) {
    breach(`the cancel was given up after ${triedMs} ms`)
  }
}

const cancelsOnlyWhatItMay: Promised = (plan, { service, main }) => {
  const run = service.runs.find(({ cancelAcceptedAtMs }) => cancelAcceptedAtMs !== undefined)
  if (run === undefined) return
  if (!plan.request.cancelOnAbort && isUsableRunId(run.id)) breach('a run was cancelled against the wish of the user')
  if (main.outputs.get('conclusion') === 'started') breach('a run was cancelled that was to go on')
}

const leavesNothingToPostThatIsDone: Promised = (_, story) => {
  const { main, post } = story
  if (!isByItself(story) || post === undefined) return
  if (main.heard.some((heard) => 'isListed' in heard && heard.isListed)) breach('post cancels what main cancelled')
  if (main.heard.some(isEnd)) breach('post cancels what is over')
}

const saysWhyItFails: Promised = (_, { main, alarms }) => {
  const isError = alarms.some((alarm) => alarm.startsWith('error: '))
  if (main.end === 'red' && !isError) breach('red without a word')
  if (main.end === 'green' && isError) breach('green with an error')
}

const PROMISES: readonly Promised[] = [
  startsAtMostOneRun,
  leavesNoRunWithoutAWord,
  isGreenOnlyByAPass,
  endsInTime,
  concludesWhatHappened,
  tellsTheLastStatus,
  tellsTheRunsId,
  awaitsAStartInFlight,
  triesToCancelWhatItLeaves,
  cancelsOnlyWhatItMay,
  leavesNothingToPostThatIsDone,
  saysWhyItFails,
]

test(`keeps every promise in ${LIVES.toLocaleString('en')} random lives`, { timeout: 600_000 }, async () => {
  const seen = new Set<string>()
  const property = fc.asyncProperty(life, async (plan) => {
    const story = await liveLife(plan)
    for (const promised of PROMISES) promised(plan, story)
    for (const mark of marksOf(story)) seen.add(mark)
  })
  await fc.assert(property, { numRuns: LIVES, ...(SEED === undefined ? {} : { seed: SEED }) })
  // Promises that are never put to the test hold too.
  if (LIVES >= 2_000) expect([...seen].sort()).toEqual([...ALL_MARKS].sort())
})

const ALL_MARKS = [
  'green',
  'red',
  'killed',
  'crashed',
  ...['passed', 'failed', 'timed-out', 'cancelled', 'interrupted', 'no-tests', 'wait-timeout', 'error', 'started'],
  'cancelled by main',
  'cancelled by post',
  'could not be cancelled',
  'over when main cancelled',
  'id not known',
]

function marksOf({ main, post, alarms }: LifeStory): string[] {
  const marks: string[] = [main.end]
  if (main.outputs.has('conclusion')) marks.push(String(main.outputs.get('conclusion')))
  const firstCancel = main.heard.findIndex(({ method }) => method === 'cancel')
  const isListed = (heard: ObservedResponse) => 'isListed' in heard && heard.isListed
  if (main.heard.some(isListed)) marks.push('cancelled by main')
  if (post?.heard.some(isListed)) marks.push('cancelled by post')
  if (alarms.some((alarm) => alarm.includes('could not be cancelled'))) marks.push('could not be cancelled')
  if (alarms.some((alarm) => alarm.includes('may have been started'))) marks.push('id not known')
  if (firstCancel >= 0 && main.heard.slice(firstCancel).some(isEnd)) marks.push('over when main cancelled')
  return marks
}
