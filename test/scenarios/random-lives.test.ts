import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fault } from '../../local-service/src/scripted.ts'
import type { JobResult } from '../../tools/runner-emulator/runner.ts'
import { SEED } from '../setup/seed.ts'
import { ONE_PASSED, type Scenario, scenario } from '../support/scenario.ts'

// Real processes under real signals, at random times and with random faults. test/simulation checks the same promises
// for many more lives, on a clock that does not wait.

const LIVES = Number(process.env.REAL_LIVES ?? 20)
const AT_ONCE = 6

interface Life {
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
}

const once = { to: 1 }
const life: fc.Arbitrary<Life> = fc.record({
  runningMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constant(Infinity)),
  end: fc.constantFrom('PASSED', 'PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'ODD'),
  hasCases: fc.constantFrom(true, true, true, false),
  wait: fc.constantFrom(true, true, true, true, false),
  limitMinutes: fc.constantFrom('0.02', '0.04'),
  startFault: fc.constantFrom<Life['startFault']>(
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
  pollFault: fc.constantFrom<Life['pollFault']>(
    undefined,
    undefined,
    { from: 1, to: 2, do: 'reset' },
    { from: 2, to: 2, do: { status: 503 } },
    { from: 2, to: 3, do: { status: 200, rawBody: '?' } },
    { from: 3, do: { status: 401 } },
    { from: 2, to: 2, delayMs: 700 },
  ),
  cancelFault: fc.constantFrom<Life['cancelFault']>(
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
})

async function live(given: Life): Promise<void> {
  const faults: Fault[] = [
    ...(given.startFault ? [{ on: 'start' as const, ...given.startFault }] : []),
    ...(given.pollFault ? [{ on: 'get' as const, ...given.pollFault }] : []),
    ...(given.cancelFault ? [{ on: 'cancel' as const, ...given.cancelFault }] : []),
  ]
  await using one = await scenario({
    script: { runningMs: given.runningMs, end: given.end, cases: given.hasCases ? ONE_PASSED : [] },
    faults,
    inputs: { wait: String(given.wait), 'timeout-minutes': given.limitMinutes },
  })
  const { interruption } = given
  expectInvariants(given, one, await one.step.run(interruption && { on: interruption.atMs, by: interruption.by }))
}

function expectInvariants(given: Life, { service }: Scenario, { main, post }: JobResult): void {
  expect(service.runs.length, 'starts accepted').toBeLessThanOrEqual(1)
  if (given.interruption?.by !== 'kill') expect(main.signal, 'main ends by itself').not.toBe('SIGKILL')
  expect(post.exitCode ?? 0, 'post never fails').toBe(0)
  if (main.signal === null && main.exitCode !== 0) expect(main.failedSilently, 'a failure is told').toBe(false)

  const told = [...main.annotations, ...post.annotations].map(({ message }) => message).join('\n')
  for (const run of service.runs) {
    const isLeftOnPurpose = main.outputs.conclusion === 'started'
    const isTerminal = !['QUEUED', 'RUNNING'].includes(run.status)
    const isNamed = told.includes(run.runId) || told.includes('may have been started')
    const couldNotKnow = given.interruption?.by === 'kill' && post.conclusion === 'skipped'
    expect(isTerminal || isNamed || isLeftOnPurpose || couldNotKnow, `run ${run.status} is left going in silence`).toBe(
      true,
    )
  }

  if (main.exitCode !== 0) return
  if (main.outputs.conclusion === 'started') {
    expect(given.wait, 'started without waiting').toBe(false)
    return
  }
  expect(main.outputs, 'green').toMatchObject({ conclusion: 'passed', status: 'PASSED' })
  expect(given, 'green').toMatchObject({ end: 'PASSED', hasCases: true })
}

test(`${LIVES} lives over real processes keep the invariants (seed ${SEED})`, { timeout: 1_800_000 }, async () => {
  const lives = fc.sample(life, { numRuns: LIVES, seed: SEED })
  const failures: string[] = []
  async function worker(): Promise<void> {
    for (let next = lives.pop(); next !== undefined; next = lives.pop()) {
      await live(next).catch((error) => failures.push(`${JSON.stringify(next)}\n${error.message}`))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  expect(failures, `seed ${SEED}`).toEqual([])
})
