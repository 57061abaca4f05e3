import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Fault, FaultAction } from '../../tools/scripted-service/scripted-service.ts'
import { ONE_PASSED, requestsOf, scenario } from '../support/scenario.ts'

// All of them: test/action/wait-for-run.test.ts.
const POLL_FAULTS: readonly [string, Omit<Fault, 'on'>][] = [
  ['a reset', { do: 'reset' }],
  ['a truncated response', { do: 'truncate' }],
  ['429 with Retry-After', { do: { status: 429, headers: { 'retry-after': '1' } } }],
  ['200 with HTML', { do: { status: 200, rawBody: '<html>', headers: { 'content-type': 'text/html' } } }],
  ['404 right after the start', { do: { status: 404, body: { error: 'not yet' } } }],
]

test.concurrent.each(POLL_FAULTS)('the run survives %s while polling', async (_, fault) => {
  await using one = await scenario({
    script: { runningMs: 300, cases: ONE_PASSED },
    faults: [{ on: 'get', from: 2, to: 2, ...fault }],
  })
  const { main } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'success', outputs: { conclusion: 'passed' } })
  expect(one.service.runs).toHaveLength(1)
})

test.concurrent.each([401, 302])('%i while polling ends the wait at once and cancels the run', async (status) => {
  await using one = await scenario({
    script: { runningMs: Infinity },
    faults: [{ on: 'get', do: { status, body: { error: 'not possible' }, headers: { location: '/elsewhere' } } }],
  })
  const { main } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.annotations[0]?.message).toContain(String(status))
  expect(main.annotations[0]?.message).toContain(one.service.runs[0]?.runId)
  expect(requestsOf(one.service).map((request) => request.split('/').at(-1))).toEqual([
    'runs',
    one.service.runs[0]?.runId,
    'cancel',
  ])
  expect(one.service.runs[0]?.cancelAccepted).toBe(true)
})

const START_FAULTS: readonly [string, FaultAction][] = [
  ['a reset', 'reset'],
  ['a truncated response', 'truncate'],
  ['500', { status: 500, body: { error: 'oops' } }],
  ['one without a run id', { status: 200, body: {} }],
  ['HTML', { status: 200, rawBody: '<html>', headers: { 'content-type': 'text/html' } }],
]

test.concurrent.each(
  START_FAULTS,
)('a start that the service accepted, and whose response is %s, is not repeated', async (_, task) => {
  await using one = await scenario({ faults: [{ on: 'start', do: task, effect: true }] })
  const { main, post } = await one.step.run()
  expect(requestsOf(one.service)).toEqual(['POST /v1/projects/web-shop/runs'])
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.annotations[0]?.message).toContain('a run may have been started and cannot be looked up')
  expect(post.conclusion).toBe('success')
})

test.concurrent('a start that is refused is reported in the words of the service', async () => {
  const refused = { status: 404, body: { error: 'the branch is gone' } }
  await using one = await scenario({ faults: [{ on: 'start', do: refused }] })
  const { main } = await one.step.run()
  expect(requestsOf(one.service)).toHaveLength(1)
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.annotations[0]?.message).toContain('the branch is gone')
  expect(main.annotations[0]?.message).not.toContain('may have been started')
})

test.concurrent('a start that got 429 is repeated', async () => {
  await using one = await scenario({ faults: [{ on: 'start', to: 1, do: { status: 429 } }] })
  const { main } = await one.step.run()
  expect(main.conclusion).toBe('success')
  expect(one.service.runs).toHaveLength(1)
})

test.concurrent('a step whose response was too large still exits, although node could wait for its own compiler for ever', async () => {
  const rawBody = `{"runId":"${'x'.repeat(17 * 1024 * 1024)}"}`
  // It was every other step that hung.
  for (let step = 1; step <= 5; step++) {
    await using one = await scenario({ faults: [{ on: 'start', do: { status: 200, rawBody } }], timeoutMs: 45_000 })
    const { main } = await one.step.run()
    expect(main.signalsSent).toEqual([])
    expect(main).toMatchObject({ exitCode: 1, outputs: { conclusion: 'error' } })
    expect(main.annotations[0]?.message).toContain('a larger one')
  }
})

test.concurrent('a run id that no output could carry is an invalid response, and its run is cancelled', async () => {
  const runId = 'a b\n::error::c'
  await using one = await scenario({ script: { runningMs: Infinity, runId } })
  const { main } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.outputs).not.toHaveProperty('run-id')
  expect(one.service.runs[0]?.cancelAccepted).toBe(true)
  expect(main.annotations).toHaveLength(1)
})

test.concurrent('if post could not learn of a run, none is started', async () => {
  await using one = await scenario({ env: { TMPDIR: '/nowhere' } })
  const main = one.step.startMain()
  // Long before node has loaded anything.
  rmSync(one.step.tempDir, { recursive: true })
  const end = await main.result()
  expect(end.conclusion).toBe('failure')
  expect(requestsOf(one.service)).toEqual([])
  const errors = end.annotations.filter(({ level }) => level === 'error')
  expect(errors).toMatchObject([{ title: 'Run not started', message: expect.stringContaining('no run was started') }])
})

test.concurrent('if the runner’s command files alone cannot be written, one warning says so, and the verdict stands', async () => {
  await using one = await scenario()
  const main = one.step.startMain()
  rmSync(join(one.step.tempDir, '_runner_file_commands'), { recursive: true })
  const end = await main.result()
  expect(end.log.join('\n')).toContain('finished as PASSED')
  expect(end.exitCode).toBe(0)
  expect(end.annotations).toMatchObject([
    { level: 'warning', message: expect.stringContaining('Cannot write the runner') },
    { level: 'warning', message: expect.stringContaining('The job summary could not be written') },
  ])
})

test.concurrent('an unreachable service is one clear sentence', async () => {
  await using one = await scenario({ inputs: { 'timeout-minutes': '0.02' } })
  await one.service.close()
  const { main } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.annotations).toHaveLength(1)
  expect(main.annotations[0]?.message).toContain('ECONNREFUSED')
  expect(main.annotations[0]?.message).not.toContain('may have been started')
})
