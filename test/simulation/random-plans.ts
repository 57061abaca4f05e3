import fc from 'fast-check'
import type { Failure } from '../../src/model/failure.ts'
import { LOST, NOT_JSON, statusFailure } from '../support/fake-service.ts'

// A plan is made before one step is simulated. It says what the user asks for, what the service and the network do, and what
// the runner does.

export const NEVER = Number.POSITIVE_INFINITY

const rarely = fc.integer({ min: 0, max: 7 }).map((throwOfDice) => throwOfDice === 7)
const usually = rarely.map((not) => !not)
const upTo = (max: number, min = 0) => fc.integer({ min, max })

function weighted<T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

function maybe<T>(arbitrary: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T | undefined> {
  return weighted<T | undefined>([weight, fc.constant(undefined)], [1, arbitrary])
}

function several<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  const some = fc.array(arbitrary, { minLength: 1, maxLength: 4 })
  return weighted([2, fc.constant<T[]>([])], [1, some])
}

/** Mostly short and sometimes long, so that all events can happen at the same time as others. */
const someMs = fc.oneof(upTo(2_000), upTo(20_000), upTo(200_000))
const responseMs = weighted([6, upTo(800, 1)], [3, upTo(8_000, 1)], [1, upTo(40_000, 1)])

export interface NetworkOutcome {
  readonly afterMs: number
  /** There is no connection. This is what the client gets. With `silence`, the client gets nothing. */
  readonly refusal?: Failure | 'silence'
  /** The response is lost. The client gets this in its place. */
  readonly loss?: Failure | 'silence'
  /** The service takes the request, although its response is lost. */
  readonly isServed?: boolean
}

const REFUSED_HERE: Failure = { failure: true, kind: 'not-sent', reason: 'ECONNREFUSED', problem: 'refused here' }

function outcomes(statuses: readonly number[]): fc.Arbitrary<NetworkOutcome> {
  const refused = (refusal: Failure | 'silence') => fc.record({ afterMs: responseMs, refusal: fc.constant(refusal) })
  const lost = (loss: Failure | 'silence', isServed = fc.boolean()) =>
    fc.record({ afterMs: responseMs, loss: fc.constant(loss), isServed })
  const retryAfterMs = maybe(fc.oneof(fc.constant(0), someMs, fc.constant(86_400_000)), 1)
  const status = fc
    .record({ afterMs: responseMs, status: fc.constantFrom(...statuses), retryAfterMs, isTaken: fc.boolean() })
    .map(({ afterMs, status, retryAfterMs, isTaken }): NetworkOutcome => {
      // A 4xx means that the service did nothing, except the status for its own time limit. So does a 503 with `Retry-After`.
      const mayBeServed = status === 503 ? retryAfterMs === undefined : status >= 500 || status === 408
      return { afterMs, loss: statusFailure(status, retryAfterMs), isServed: isTaken && mayBeServed }
    })
  return weighted<NetworkOutcome>(
    [6, fc.record({ afterMs: responseMs })],
    [2, lost(LOST)],
    [2, lost('silence')],
    [1, lost(NOT_JSON, fc.constant(true))],
    [1, refused(REFUSED_HERE)],
    [1, refused('silence')],
    [3, status],
  )
}

const PASSING_STATUSES = [408, 425, 429, 429, 500, 502, 503, 504]
const CASE_STATUSES = ['PASSED', 'FAILED', 'SKIPPED', 'FLAKY', 'QUEUED', 'TIMEDOUT', 'SOMETHING']

const runPlan = fc.record({
  queuedMs: fc.oneof(fc.constant(0), someMs),
  runningMs: weighted(
    [6, someMs],
    [1, upTo(4_000_000)],
    // The run never finishes by itself.
    [2, fc.constant(NEVER)],
  ),
  end: fc.oneof(
    fc.constant('PASSED'),
    fc.constantFrom('PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'EXPLODED'),
  ),
  // If undefined, the response has no results.
  cases: maybe(fc.array(fc.constantFrom(...CASE_STATUSES), { maxLength: 3 }), 1),
  // In the second half of its time, the run has this unknown status in place of RUNNING.
  oddStatus: maybe(fc.constant('PAUSED'), 1),
})

const lagMs = weighted([4, fc.constant(0)], [1, upTo(14_000)])

const servicePlan = fc.record({
  run: runPlan,
  // The step gets this run by run-id, and starts none.
  isGiven: rarely,
  hasCancel: usually,
  usualMs: upTo(1_500, 1),
  // 30 s for a service on this machine, and 5 minutes for any other service.
  failureLimitMs: fc.constantFrom(30_000, 300_000),
  // For this long after its start, the run is not found.
  unknownToGetForMs: lagMs,
  unknownToCancelForMs: lagMs,
  // This many cancels of a running run do nothing, and their response is an empty list.
  emptyLists: weighted([4, fc.constant(0)], [1, upTo(50, 1)]),
  // For this long after an accepted cancel, the run is still RUNNING.
  stopsAfterMs: fc.oneof(fc.constant(0), someMs),
  // The response to a cancel of a finished run is an empty list, or has this status.
  responseWhenFinished: fc.constantFrom('empty list' as const, 400 as const, 404 as const, 409 as const),
  // The outcomes of the first requests of each kind. Later requests get a response after `usualMs`.
  outcomes: fc.record({
    start: several(outcomes([...PASSING_STATUSES, 302, 400, 401, 404])),
    get: several(outcomes([...PASSING_STATUSES, ...PASSING_STATUSES, 301, 401, 403])),
    cancel: several(outcomes([...PASSING_STATUSES, ...PASSING_STATUSES, 400, 401, 403])),
  }),
  // While an outage lasts, this happens to every request that begins.
  outages: several(
    fc.record({ fromMs: someMs, forMs: fc.oneof(someMs, upTo(1_000_000)), outcome: outcomes(PASSING_STATUSES) }),
  ),
})

const signal = fc.constantFrom('SIGINT' as const, 'SIGTERM' as const)

const runnerPlan = fc.record({
  // SIGKILL follows 10 s after SIGINT, or 2.5 s after SIGTERM.
  signals: fc.array(fc.record({ signal, isAtTheLimit: rarely, atMs: someMs }), { maxLength: 2 }),
  killAtMs: maybe(someMs),
  // Main is killed or throws right before the effect with this number. The first effect is 1.
  injectedFault: maybe(
    fc.record({ kind: fc.constantFrom('kill' as const, 'crash' as const), beforeEffect: upTo(25, 1) }),
  ),
  postAfterMs: upTo(3_000, 50),
  // If there is a signal, the runner shuts down, and there is no post.
  isShutdown: rarely,
  // Counted from the start of post.
  postSignal: maybe(fc.record({ signal, atMs: someMs })),
  // The job runs in a container, and no signal reaches main. Either the job is cancelled, and post runs while main lives. Or the
  // runner shuts down, and there is no post.
  container: maybe(
    fc.record({
      end: fc.constantFrom('cancel' as const, 'cancel' as const, 'shutdown' as const),
      atMs: someMs,
    }),
  ),
  // Another step removes main's file.
  fileRemovedAtMs: maybe(someMs),
  // Another step creates the file that asks main to stop.
  stopByOtherAtMs: maybe(someMs, 12),
  // While the disk is full, nothing can be written to main's file. The file can still be removed.
  fullDisks: several(fc.record({ fromMs: fc.oneof(fc.constant(0), someMs), forMs: someMs })),
  // Main does not run for a while, for example because the machine swaps.
  blocked: maybe(fc.record({ atMs: someMs, forMs: fc.constantFrom(1_000, 3_000, 10_000) })),
})

const requestPlan = fc.record({
  wait: usually,
  waitLimitMs: weighted([6, upTo(120_000, 600)], [1, upTo(3_600_000, 600)]),
  mayCancel: usually,
  passWithNoTests: rarely,
  strict: rarely,
  pollIntervalMs: maybe(upTo(60_000, 2_000), 1),
})

const anyPlan = fc
  .record({
    request: requestPlan,
    service: servicePlan,
    runner: runnerPlan,
    commentMs: fc.oneof(fc.constant(0), someMs),
    seed: upTo(0x7fff_fffe, 1),
  })
  .map(({ request, service, runner, ...rest }) => {
    const signals = (runner.container === undefined ? runner.signals : []).map(({ signal, isAtTheLimit, atMs }) => ({
      signal,
      atMs: isAtTheLimit ? request.waitLimitMs + atMs / 10 : atMs,
    }))
    return {
      ...rest,
      // The inputs refuse the other combinations.
      request: service.isGiven ? { ...request, wait: true } : request,
      service,
      runner: { ...runner, signals, hasPost: !(runner.isShutdown && signals.length > 0) },
    }
  })

/** Without fast-check's bias to the smallest and largest values, which would end most steps at once. */
export const simulationPlan = fc.noBias(anyPlan)

export type SimulationPlan = typeof simulationPlan extends fc.Arbitrary<infer Plan> ? Plan : never
