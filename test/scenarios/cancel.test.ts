import { describe, expect, test } from 'vitest'
import type { ProcessResult } from '../../tools/runner-emulator/runner.ts'
import type { Fault } from '../../tools/scripted-service/scripted-service.ts'
import { requestsOf, type Scenario, scenario } from '../support/scenario.ts'

// Real processes, real signals and the runner's real grace periods. Whether main was quick enough shows in the signals
// that the runner had to send: a SIGTERM or a SIGKILL means that it was not.

const HANGING = { runningMs: Infinity }

/** Main reported the cancel and exited by itself, at the first signal. */
function expectCancelledStep(main: ProcessResult, firstSignal: NodeJS.Signals = 'SIGINT'): void {
  expect(main).toMatchObject({ exitCode: 1, signalsSent: [firstSignal], outputs: { conclusion: 'cancelled' } })
  expect(main.annotations).not.toEqual([])
}

function expectNoRunLeft({ service }: Scenario): void {
  expect(service.runs.length).toBeLessThanOrEqual(1)
  for (const run of service.runs) expect(run).toMatchObject({ status: 'CANCELLED' })
}

function cancelRequests({ service }: Scenario): string[] {
  return requestsOf(service).filter((request) => request.endsWith('/cancel'))
}

describe.concurrent('the workflow is cancelled', () => {
  test.each([0, 15, 30, 45, 60, 90, 120])('%i ms after main began', async (atMs) => {
    await using one = await scenario({ script: HANGING })
    await one.step.run({ on: atMs, by: 'cancel' })
    expectNoRunLeft(one)
  })

  test('in a start whose response takes 2 s', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', delayMs: 2_000 }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'cancel' })
    expectCancelledStep(main)
    expect(main.outputs['run-id']).toBe(one.service.runs[0]?.runId)
    expectNoRunLeft(one)
  })

  test('in a start whose response takes 8.5 s: it is awaited, and post does what main has no time for', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', delayMs: 8_500 }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'cancel' })
    expect(main).toMatchObject({ exitCode: 1, signalsSent: ['SIGINT', 'SIGTERM'] })
    expect(main.outputs['run-id']).toBe(one.service.runs[0]?.runId)
    expectNoRunLeft(one)
  })

  test('in a start that gets no response', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', do: 'hang', effect: true }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'cancel' })
    // Awaited until 9 s after SIGINT: the SIGTERM in between changes nothing, and no SIGKILL is needed.
    expect(main).toMatchObject({
      exitCode: 1,
      signalsSent: ['SIGINT', 'SIGTERM'],
      outputs: { conclusion: 'cancelled' },
    })
    expect(main.annotations[0]?.message).toContain('may have been started')
    expect(one.service.requests).toHaveLength(1)
  })

  test('while polling', async () => {
    await using one = await scenario({ script: HANGING })
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('get', 3), by: 'cancel' })
    expectCancelledStep(main)
    expect(main.outputs.status).toBe('CANCELLED')
    expect(main.summary).toMatch(/^## .*Step cancelled/)
    expect(post.log).toEqual([])
    expectNoRunLeft(one)
  })

  test('while a poll gets no response', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'get', from: 2, do: 'hang' }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('get', 2), by: 'cancel' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
  })

  test('in the pause after a poll that failed', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'get', from: 2, do: { status: 500 } }] })
    const { main } = await one.step.run({ on: /retrying/, by: 'cancel' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
  })

  test('in the pause after a start that got 429', async () => {
    await using one = await scenario({ faults: [{ on: 'start', do: { status: 429 } }] })
    const { main } = await one.step.run({ on: /retrying/, by: 'cancel' })
    expectCancelledStep(main)
    expect(main.annotations[0]?.message).not.toContain('may have been started')
    expect(one.service.runs).toEqual([])
  })

  test('by the step’s own time limit', async () => {
    await using one = await scenario({ script: HANGING })
    const { main } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'timeout' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
  })

  test('while the reports are written: the verdict stands', async () => {
    const cases = Array.from({ length: 20_000 }, (_, n) => ({ title: `case ${n}`, status: 'PASSED', durationMs: n }))
    await using one = await scenario({ script: { runningMs: 200, cases } })
    const { main } = await one.step.run({ on: /: PASSED/, by: 'cancel' })
    expect(main.outputs).toMatchObject({ conclusion: 'passed', total: '20000' })
    expect(main.exitCode).toBe(0)
    expect(cancelRequests(one)).toEqual([])
  })

  test('with a second SIGINT, which changes nothing', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'cancel', delayMs: 500 }] })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    main.signal('SIGINT')
    await one.service.waitForRequest('cancel')
    main.signal('SIGINT')
    expect(await main.result()).toMatchObject({ exitCode: 1, signal: null, outputs: { conclusion: 'cancelled' } })
    expect(cancelRequests(one)).toHaveLength(1)
    expectNoRunLeft(one)
  })

  test('with SIGTERM alone, in a start whose response takes 1 s', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', delayMs: 1_000 }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'terminate' })
    expectCancelledStep(main, 'SIGTERM')
    expectNoRunLeft(one)
  })

  test('with SIGTERM alone, in a start that gets no response', async () => {
    await using one = await scenario({ faults: [{ on: 'start', do: 'hang' }] })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'terminate' })
    expectCancelledStep(main, 'SIGTERM')
  })

  test('while `wait: false` starts its run', async () => {
    await using one = await scenario({
      script: HANGING,
      faults: [{ on: 'start', delayMs: 500 }],
      inputs: { wait: 'false' },
    })
    const { main } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'cancel' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
  })

  test('and nobody reads the log any more, because the worker is dead: main sees it at its next line', async () => {
    await using one = await scenario({ script: HANGING })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    main.closePipe('stdout')
    main.closePipe('stderr')
    // A poll that fails is the next line.
    one.service.addFault({ on: 'get', do: { status: 500 } })
    expect(await main.result()).toMatchObject({ exitCode: 1, signal: null, signalsSent: [] })
    expectNoRunLeft(one)
  })
})

describe.concurrent('the cancel itself meets', () => {
  const FAULTS: readonly [string, Omit<Fault, 'on'>][] = [
    ['a 500', { to: 1, do: { status: 500 } }],
    ['a reset after it was taken', { to: 1, do: 'reset', effect: true }],
    ['no response at first', { to: 1, do: 'hang' }],
    ['an empty list', { to: 1, do: { status: 200, body: { cancelled: [] } } }],
  ]

  // More of them: test/action/cancel-run.test.ts.
  test.each(FAULTS)('%s, and main still cancels the run in time', async (_, fault) => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'cancel', ...fault }] })
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'cancel' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
    expect(post.log).toEqual([])
  })

  test('no response while main runs, and post cancels the run', async () => {
    await using one = await scenario({ script: HANGING })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    one.service.addFault({ on: 'cancel', do: 'hang' })
    const end = await main.cancel()
    expectCancelledStep(end)
    expect(end.annotations[0]?.message).toContain(one.service.runs[0]?.runId)
    expect(cancelRequests(one).length).toBeGreaterThan(1)
    one.service.removeFaults()
    const post = await one.step.runPost()
    expect(post.conclusion).toBe('success')
    expectNoRunLeft(one)
  })

  test('a run that has finished: its result is reported', async () => {
    await using one = await scenario({ script: HANGING, inputs: { 'poll-interval-seconds': '600' } })
    const main = one.step.startMain()
    await main.waitForLine(/RUNNING/)
    one.service.finishRun(one.service.runs[0]?.runId ?? '', 'FAILED', [])
    const end = await main.cancel()
    expect(end).toMatchObject({ exitCode: 1, signalsSent: ['SIGINT'], outputs: { status: 'FAILED' } })
  })

  test('404 while the run is still RUNNING: main tries until its deadline, and names the run', async () => {
    const faults: readonly Fault[] = [{ on: 'cancel', do: { status: 404, body: { error: 'unknown' } } }]
    await using one = await scenario({ script: HANGING, faults })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    const end = await main.cancel()
    expectCancelledStep(end)
    expect(end.annotations[0]?.message).toContain(one.service.runs[0]?.runId)
    expect(cancelRequests(one).length).toBeGreaterThan(1)
  })

  test('a service that is gone: main exits in time, and post names the run until the step’s time limit', async () => {
    await using one = await scenario({ script: HANGING })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    const runId = one.service.runs[0]?.runId ?? ''
    await one.service.close()
    const end = await main.cancel()
    expectCancelledStep(end)
    expect(end.annotations[0]?.message).toContain(runId)
    const post = await one.step.startPost()
    await post.waitForLine(/./)
    const { exitCode, signalsSent, annotations } = await post.timeOut()
    expect({ exitCode, signalsSent }).toEqual({ exitCode: 0, signalsSent: ['SIGINT'] })
    expect(annotations).toContainEqual(
      expect.objectContaining({ level: 'warning', message: expect.stringContaining(runId) }),
    )
  })
})

describe.concurrent('main dies without a report', () => {
  test('and post cancels the run', async () => {
    await using one = await scenario({ script: HANGING })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    main.signal('SIGKILL')
    const end = await main.result()
    expect(end.outputs['run-id']).toBe(one.service.runs[0]?.runId)
    const post = await one.step.runPost()
    expect(post.conclusion).toBe('success')
    expectNoRunLeft(one)
  })

  test('and post, at the step’s time limit, gives up the request that hangs and cancels the run', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'cancel', to: 1, do: 'hang' }] })
    const main = one.step.startMain()
    await one.service.waitForRequest('get')
    main.signal('SIGKILL')
    const post = await one.step.startPost()
    await one.service.waitForRequest('cancel')
    const end = await post.timeOut()
    expect(end.signalsSent).toEqual(['SIGINT'])
    expect(end.log).toContainEqual(expect.stringContaining('was cancelled'))
    expectNoRunLeft(one)
  })

  test('in the start, and post says that a run may have been started', async () => {
    await using one = await scenario({ script: HANGING, faults: [{ on: 'start', do: 'hang', effect: true }] })
    const { post } = await one.step.run({ on: one.service.waitForRequest('start'), by: 'kill' })
    expect(post.conclusion).toBe('success')
    expect(post.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('may have been') }])
  })

  test('with `cancel-on-abort: false`: post leaves the run alone', async () => {
    await using one = await scenario({ script: HANGING, inputs: { 'cancel-on-abort': 'false' } })
    const { post } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'kill' })
    expect(post.log).toEqual([])
    expect(one.service.runs[0]?.status).toBe('RUNNING')
  })
})

describe.concurrent('the runner', () => {
  test('is shut down, and main alone is enough', async () => {
    await using one = await scenario({ script: HANGING })
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'shutdown' })
    expectCancelledStep(main)
    expect(post.conclusion).toBe('skipped')
    expectNoRunLeft(one)
  })

  test('sends no signal, and main’s own limit is enough', async () => {
    await using one = await scenario({ script: HANGING, inputs: { 'timeout-minutes': '0.02' } })
    const { main } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'cancel without signal' })
    expect(main.outputs.conclusion).toBe('wait-timeout')
    expectNoRunLeft(one)
  })
})

describe.concurrent('a run that the step was given', () => {
  async function given(cancelOnAbort: string): Promise<Scenario> {
    const one = await scenario({
      script: { ...HANGING, runId: 'given-1' },
      inputs: { 'run-id': 'given-1', 'cancel-on-abort': cancelOnAbort },
    })
    const response = await fetch(`${one.service.url}/v1/projects/web-shop/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${one.service.key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(200)
    return one
  }

  test('is left alone when the workflow is cancelled', async () => {
    await using one = await given('')
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'cancel' })
    expectCancelledStep(main)
    expect(post.log).toEqual([])
    expect(one.service.runs[0]?.status).toBe('RUNNING')
  })

  test('is cancelled with `cancel-on-abort: true`', async () => {
    await using one = await given('true')
    const { main } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'cancel' })
    expectCancelledStep(main)
    expectNoRunLeft(one)
  })
})
