import fc from 'fast-check'
import type { NetworkOutcome } from './model-service.ts'
import type { SimulationPlan } from './simulation.ts'

const rarely = fc.integer({ min: 0, max: 7 }).map((throwOfDice) => throwOfDice === 7)
const usually = rarely.map((not) => !not)

function sometimes<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

function several<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  const some = fc.array(arbitrary, { minLength: 1, maxLength: 4 })
  return fc.oneof({ weight: 2, arbitrary: fc.constant<T[]>([]) }, { weight: 1, arbitrary: some })
}

const ENDS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'EXPLODED']
const CASE_STATUSES = ['PASSED', 'FAILED', 'SKIPPED', 'FLAKY', 'QUEUED', 'TIMEDOUT', 'SOMETHING']

/** Mostly short, sometimes long, so that everything meets everything else. */
const someMs = fc.oneof(
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 0, max: 20_000 }),
  fc.integer({ min: 0, max: 200_000 }),
)
const responseMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 800 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 8_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
)

function outcomes(statuses: readonly number[]): fc.Arbitrary<NetworkOutcome> {
  const afterMs = responseMs
  const served = fc.boolean()
  const retryAfterMs = fc.oneof(fc.constant(0), someMs, fc.constant(86_400_000))
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('response' as const), afterMs }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('reset' as const), afterMs, served }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('silence' as const), served }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('broken' as const), afterMs }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refused' as const), afterMs }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'no-connection' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'untrusted-certificate' as const }) },
    {
      weight: 3,
      arbitrary: fc
        .record(
          { kind: fc.constant('status' as const), afterMs, status: fc.constantFrom(...statuses), served, retryAfterMs },
          { requiredKeys: ['kind', 'afterMs', 'status', 'served'] },
        )
        // A 4xx is the service's response that it did nothing, except the one for its own time limit.
        .map((outcome) => ({
          ...outcome,
          served: outcome.served && (outcome.status >= 500 || outcome.status === 408),
        })),
    },
  )
}

const PASSING_STATUSES = [408, 425, 429, 429, 500, 502, 503, 504]

const runPlan = fc.record(
  {
    id: fc.oneof(
      { weight: 20, arbitrary: fc.constant('run-7') },
      { weight: 1, arbitrary: fc.constantFrom('run 7', '', '..', 'a?b', 'x'.repeat(300)) },
    ),
    queuedMs: fc.oneof(fc.constant(0), someMs),
    runningMs: fc.oneof(
      { weight: 6, arbitrary: someMs },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 4_000_000 }) },
      { weight: 2, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    ),
    end: fc.oneof(fc.constant('PASSED'), fc.constantFrom(...ENDS)),
    cases: fc.array(fc.constantFrom(...CASE_STATUSES), { maxLength: 3 }),
    oddStatus: fc.constant('PAUSED'),
  },
  { requiredKeys: ['id', 'queuedMs', 'runningMs', 'end'] },
)

const lagMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 14_000 }) },
)

const servicePlan = fc.record({
  run: runPlan,
  isGiven: rarely,
  hasCancel: usually,
  usualMs: fc.integer({ min: 1, max: 1_500 }),
  unknownToGetForMs: lagMs,
  unknownToCancelForMs: lagMs,
  emptyLists: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) },
  ),
  stopsAfterMs: fc.oneof(fc.constant(0), someMs),
  responseWhenFinished: fc.constantFrom('empty list' as const, 400 as const, 404 as const, 409 as const),
  starts: several(outcomes([...PASSING_STATUSES, 400, 401, 404])),
  gets: several(outcomes([...PASSING_STATUSES, ...PASSING_STATUSES, 301, 401, 403])),
  cancels: several(outcomes([...PASSING_STATUSES, ...PASSING_STATUSES, 400, 401, 403])),
  outages: several(
    fc.record({
      fromMs: someMs,
      forMs: fc.oneof(someMs, fc.integer({ min: 0, max: 1_000_000 })),
      outcome: outcomes(PASSING_STATUSES),
    }),
  ),
})

const plannedSignal = fc.record({
  signal: fc.constantFrom('SIGINT' as const, 'SIGTERM' as const),
  isAtTheLimit: rarely,
  atMs: someMs,
})

const anyPlan: fc.Arbitrary<SimulationPlan> = fc
  .record({
    request: fc.record(
      {
        wait: usually,
        waitLimitMs: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 600, max: 120_000 }) },
          { weight: 1, arbitrary: fc.integer({ min: 600, max: 3_600_000 }) },
        ),
        cancelOnAbort: usually,
        passWithNoTests: rarely,
        pollIntervalMs: fc.integer({ min: 2_000, max: 60_000 }),
        queueLimitMs: fc.integer({ min: 600, max: 240_000 }),
      },
      { requiredKeys: ['wait', 'waitLimitMs', 'cancelOnAbort', 'passWithNoTests'] },
    ),
    service: servicePlan,
    signals: fc.array(plannedSignal, { maxLength: 2 }),
    killAtMs: sometimes(someMs),
    injectedFault: sometimes(
      fc.record({
        kind: fc.constantFrom('kill' as const, 'crash' as const),
        beforeEffect: fc.integer({ min: 1, max: 25 }),
      }),
    ),
    postAfterMs: fc.integer({ min: 50, max: 3_000 }),
    postSignal: sometimes(fc.record({ signal: fc.constantFrom('SIGINT' as const, 'SIGTERM' as const), atMs: someMs })),
    isShutdown: rarely,
    container: sometimes(
      fc.record({
        end: fc.constantFrom('cancel' as const, 'cancel' as const, 'shutdown' as const),
        atMs: someMs,
        isStateLost: fc.boolean(),
      }),
    ),
    commentMs: fc.oneof(fc.constant(0), someMs),
    seed: fc.integer(),
  })
  .map(({ request, service, postAfterMs, isShutdown, commentMs, seed, container, ...runner }) => {
    // In a container no signal reaches main.
    const signals = container === undefined ? runner.signals : []
    return {
      // The inputs refuse the other combinations.
      request: service.isGiven ? { ...request, wait: true } : request,
      service: service.isGiven ? { ...service, run: { ...service.run, id: 'run-7' } } : service,
      runner: {
        ...runner,
        signals: signals.map(({ signal, isAtTheLimit, atMs }) => ({
          signal,
          atMs: isAtTheLimit ? request.waitLimitMs + atMs / 10 : atMs,
        })),
        postAfterMs: isShutdown && signals.length > 0 ? undefined : postAfterMs,
        container,
      },
      commentMs,
      seed,
    }
  })

/** Without fast-check's bias to the smallest and largest values, which would end most steps at once. */
export const simulationPlan = fc.noBias(anyPlan)
