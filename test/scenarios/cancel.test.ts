import { describe, expect, test } from 'vitest'
import { SIGINT_GRACE_MS, type Sleep } from '../../tools/runner-emulator/step-runner/node-process.ts'
import { patientRunner, requestsOf, type Scenario, scenario } from '../support/scenario.ts'

// These tests use real processes and real signals. The runner sends the next signal only if the test says so.
// test/action/cancel-run.test.ts and test/simulation test how the service may respond to a cancel.

const HANGING = { runningMs: Infinity }

function expectNoRunLeft({ service }: Scenario): void {
  expect(service.runs.length).toBeLessThanOrEqual(1)
  for (const run of service.runs) expect(run).toMatchObject({ status: 'CANCELLED' })
}

describe.concurrent('the workflow is cancelled', () => {
  test.each([0, 60])('%i ms after main began', async (atMs) => {
    await using one = await scenario({ script: HANGING })
    await one.step.run({ on: atMs, by: 'cancel' })
    expectNoRunLeft(one)
  })

  test('in a start whose response comes only after both signals', async () => {
    const bothSent = Promise.withResolvers<void>()
    const sleep: Sleep = async (ms, signal) => {
      if (ms === SIGINT_GRACE_MS) return
      bothSent.resolve()
      await patientRunner(ms, signal)
    }
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', until: bothSent.promise }], sleep })
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'cancel' })
    expect(main).toMatchObject({ exitCode: 1, signal: null, signalsSent: ['SIGINT', 'SIGTERM'] })
    expect(main.outputs).toMatchObject({ conclusion: 'cancelled', 'run-id': one.service.runs[0]?.runId })
    expect(main.summary).toMatch(/^## .*Step cancelled/)
    expect(post.log).toEqual([])
    expectNoRunLeft(one)
  })

  test('while the reports are written: the verdict stands', async () => {
    const cases = Array.from({ length: 20_000 }, (_, n) => ({ title: `case ${n}`, status: 'PASSED', durationMs: n }))
    await using one = await scenario({ script: { runningMs: 200, cases } })
    const { main } = await one.step.run({ on: /finished as PASSED/, by: 'cancel' })
    expect(main.outputs).toMatchObject({ conclusion: 'passed', total: '20000' })
    expect(main.exitCode).toBe(0)
    expect(requestsOf(one.service).filter((request) => request.endsWith('/cancel'))).toEqual([])
  })

  test('and nobody reads the log any more, because the worker is dead: main sees it at its next line', async () => {
    await using one = await scenario({ script: HANGING })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    main.closePipes()
    // A poll that fails is the next line.
    one.service.addFault({ on: 'get', do: { status: 500 } })
    const { outputs, summary, ...end } = await main.result()
    expect(end).toMatchObject({ exitCode: 1, signal: null, signalsSent: [] })
    // The next job may already use the runner's folders, so main writes nothing more into them.
    expect([outputs.conclusion, summary]).toEqual([undefined, ''])
    expectNoRunLeft(one)
  })

  test('and nobody reads the line that says that a run was started: main does not leave the run alone', async () => {
    const isClosed = Promise.withResolvers<void>()
    const faults = [{ on: 'start', until: isClosed.promise }] as const
    await using one = await scenario({ script: HANGING, inputs: { wait: 'false' }, faults })
    const main = one.step.startMain()
    await one.service.waitForRequest('start')
    main.closePipes()
    isClosed.resolve()
    const { outputs, summary, exitCode } = await main.result()
    expect([exitCode, outputs.conclusion, summary]).toEqual([1, undefined, ''])
    expectNoRunLeft(one)
  })
})

test.concurrent('after main was killed, post at the step’s time limit gives up the request that hangs and cancels the run', async () => {
  await using one = await scenario({ script: HANGING, faults: [{ on: 'cancel', to: 1, do: 'hang' }] })
  const main = one.step.startMain()
  await one.service.waitForRequest('get')
  main.signal('SIGKILL')
  const post = await one.step.startPost()
  await one.service.waitForRequest('cancel')
  const end = await post.end('timeout')
  expect(end.signalsSent).toEqual(['SIGINT'])
  expect(end.log).toContainEqual(expect.stringContaining('was cancelled'))
  expectNoRunLeft(one)
})
