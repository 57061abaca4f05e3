import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SIGINT_GRACE_MS, type Sleep } from '../../tools/runner-emulator/step-runner/node-process.ts'
import type { JobResult } from '../../tools/runner-emulator/step-runner/runner.ts'
import type { Fault } from '../../tools/scripted-service/scripted-service.ts'
import { SEED } from '../setup/seed.ts'
import { ONE_PASSED, patientRunner, type Scenario, scenario } from '../support/scenario.ts'

// Runs real processes. They get real signals at random times, and the service has random faults. test/simulation checks these
// promises for many more steps, on a clock that does not wait.

const STEPS = Number(process.env.RANDOM_STEPS ?? 6)
const AT_ONCE = 6

interface StepPlan {
  readonly runningMs: number
  readonly end: string
  readonly hasCases: boolean
  readonly wait: boolean
  readonly limitMinutes: string
  readonly startFault: Omit<Fault, 'on'> | undefined
  readonly pollFault: Omit<Fault, 'on'> | undefined
  readonly cancelFault: Omit<Fault, 'on'> | undefined
  readonly interruption:
    | { readonly by: 'cancel' | 'timeout' | 'shutdown' | 'kill' | 'terminate'; readonly atMs: number }
    | undefined
  /** SIGTERM comes at once after SIGINT, or never. */
  readonly hasSigterm: boolean
}

const once = { to: 1 }
const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  runningMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constant(Infinity)),
  end: fc.constantFrom('PASSED', 'PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'ODD'),
  hasCases: fc.constantFrom(true, true, true, false),
  wait: fc.constantFrom(true, true, true, true, false),
  limitMinutes: fc.constantFrom('0.02', '0.04'),
  startFault: fc.constantFrom<StepPlan['startFault']>(
    undefined,
    undefined,
    { ...once, do: { status: 429 } },
    { do: 'reset' },
    { do: 'reset', effect: true },
    { do: 'truncate', effect: true },
    { do: { status: 500 }, effect: true },
    { delayMs: 400 },
    { delayMs: 1_500 },
  ),
  pollFault: fc.constantFrom<StepPlan['pollFault']>(
    undefined,
    undefined,
    { from: 1, to: 2, do: 'reset' },
    { from: 2, to: 2, do: { status: 503 } },
    { from: 2, to: 3, do: { status: 200, rawBody: '?' } },
    { from: 3, to: 3, do: { status: 401 } },
    { from: 2, to: 2, delayMs: 700 },
  ),
  cancelFault: fc.constantFrom<StepPlan['cancelFault']>(
    undefined,
    undefined,
    { ...once, do: { status: 500 } },
    { ...once, do: 'reset', effect: true },
    { ...once, do: { status: 200, body: { cancelled: [] } } },
    { ...once, delayMs: 600 },
    { ...once, do: 'truncate', effect: true },
  ),
  interruption: fc.option(
    fc.record({
      by: fc.constantFrom('cancel', 'cancel', 'timeout', 'shutdown', 'kill', 'terminate'),
      atMs: fc.integer({ min: 0, max: 1_400 }),
    }),
    { nil: undefined },
  ),
  hasSigterm: fc.boolean(),
})

const sigtermAtOnce: Sleep = async (ms, signal) => {
  if (ms !== SIGINT_GRACE_MS) await patientRunner(ms, signal)
}

async function runStep(given: StepPlan): Promise<void> {
  const faults: Fault[] = [
    ...(given.startFault ? [{ on: 'start' as const, ...given.startFault }] : []),
    ...(given.pollFault ? [{ on: 'get' as const, ...given.pollFault }] : []),
    ...(given.cancelFault ? [{ on: 'cancel' as const, ...given.cancelFault }] : []),
  ]
  await using one = await scenario({
    script: { runningMs: given.runningMs, end: given.end, cases: given.hasCases ? ONE_PASSED : [] },
    faults,
    sleep: given.hasSigterm ? sigtermAtOnce : patientRunner,
    inputs: { wait: String(given.wait), 'timeout-minutes': given.limitMinutes },
  })
  const { interruption } = given
  expectInvariants(given, one, await one.step.run(interruption && { on: interruption.atMs, by: interruption.by }))
}

function expectInvariants(given: StepPlan, { service }: Scenario, { main, post }: JobResult): void {
  expect(service.runs.length, 'starts accepted').toBeLessThanOrEqual(1)
  if (given.interruption?.by !== 'kill') expect(main.signal, 'main exits by itself').not.toBe('SIGKILL')
  expect(post.exitCode ?? 0, 'post never fails').toBe(0)
  if (main.signal === null && main.exitCode !== 0) expect(main.failedSilently, 'a failure is reported').toBe(false)

  const reported = [...main.annotations, ...post.annotations].map(({ message }) => message).join('\n')
  for (const run of service.runs) {
    const isLeftOnPurpose = main.outputs.conclusion === 'started'
    const isFinished = !['QUEUED', 'RUNNING'].includes(run.status)
    const isNamed = reported.includes(run.runId) || reported.includes('may have been started')
    const couldNotKnow = given.interruption?.by === 'kill' && post.conclusion === 'skipped'
    expect(
      isFinished || isNamed || isLeftOnPurpose || couldNotKnow,
      `a ${run.status} run is left without a warning`,
    ).toBe(true)
  }

  if (main.exitCode !== 0) return
  if (main.outputs.conclusion === 'started') {
    expect(given.wait, 'started without waiting').toBe(false)
    return
  }
  expect(main.outputs, 'success').toMatchObject({ conclusion: 'passed', status: 'PASSED' })
  expect(given, 'success').toMatchObject({ end: 'PASSED', hasCases: true })
}

test(`${STEPS} random steps over real processes keep the invariants (seed ${SEED})`, {
  timeout: STEPS * 60_000,
}, async () => {
  const plans = fc.sample(stepPlan, { numRuns: STEPS, seed: SEED })
  const failures: string[] = []
  async function worker(): Promise<void> {
    for (let next = plans.pop(); next !== undefined; next = plans.pop()) {
      await runStep(next).catch((error) => failures.push(`${JSON.stringify(next)}\n${error.message}`))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  expect(failures, `seed ${SEED}`).toEqual([])
})
