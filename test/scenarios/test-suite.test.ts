import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Fault } from '../../tools/scripted-service/scripted-service.ts'
import { requestsOf, type ScenarioOptions, scenario } from '../support/scenario.ts'

// The older workflow keeps the same promises, as far as its three endpoints allow it.

const PASSED = { testId: '1', testName: 'signs in', status: 'PASSED' }
const asSuite = (options: ScenarioOptions = {}): ScenarioOptions => ({
  ...options,
  inputs: { project: '', 'test-suite': 'smoke/1', ...options.inputs },
})

test.concurrent('it is started, asked for its status, and read once it is finished', async () => {
  await using one = await scenario(
    asSuite({
      script: { runningMs: 200, cases: [PASSED, { testId: '2', testName: 'pays', status: 'FLAKY' }] },
      inputs: { branch: 'main', environment: 'staging', 'env-overrides': 'A=1' },
    }),
  )
  const { main, post } = await one.step.run()
  expect(main).toMatchObject({
    conclusion: 'success',
    outputs: { conclusion: 'passed', status: 'PASSED', total: '2', passed: '2', 'run-id': one.service.runs[0]?.runId },
  })
  expect(main.outputs).not.toHaveProperty('duration-ms')
  const runId = one.service.runs[0]?.runId
  const requests = requestsOf(one.service)
  expect(requests[0]).toBe('POST /v1/testSuite/smoke%2F1/run')
  expect(new Set(requests.slice(1, -1))).toEqual(new Set([`GET /v1/testSuiteRun/${runId}/status`]))
  expect(requests.at(-1)).toBe(`GET /v1/testSuiteRun/${runId}/result`)
  expect(JSON.parse(one.service.requests[0]?.body ?? '')).toEqual({
    environment: 'staging',
    variableOverrides: { A: '1' },
    metadata: { git: { branch: 'main' } },
  })
  expect(post.log).toEqual([])
})

// More of them: test/service/suite-runs.test.ts.
test.concurrent.each([
  [['SKIPPED'], 'no-tests', 'PASSED'],
  [['PASSED', 'ERROR'], 'failed', 'FAILED'],
])('results %j count as %s', async (statuses, conclusion, status) => {
  const cases = statuses.map((one, index) => ({ ...PASSED, testId: String(index), status: one }))
  await using one = await scenario(asSuite({ script: { cases } }))
  const { main } = await one.step.run()
  expect(main).toMatchObject({ exitCode: 1, outputs: { conclusion, status } })
})

test.concurrent('results that are still unfinished at the limit of the wait are reported all the same', async () => {
  const cases = [PASSED, { testId: '2', testName: 'pays', status: 'RUNNING' }]
  await using one = await scenario(asSuite({ script: { cases }, inputs: { 'timeout-minutes': '0.02' } }))
  const { main } = await one.step.run()
  expect(main.outputs).toMatchObject({ conclusion: 'wait-timeout', status: 'RUNNING', total: '2', passed: '1' })
  expect(readdirSync(main.outputs['report-dir'] ?? '').toSorted()).toEqual([
    'ctrf.json',
    'junit.xml',
    'results.json',
    'summary.md',
  ])
})

const FAULTS: readonly [string, Fault][] = [
  ['a reset of the status', { on: 'suite-status', to: 1, do: 'reset' }],
  ['a result without its list', { on: 'suite-result', to: 1, do: { status: 200, body: {} } }],
]

test.concurrent.each(FAULTS)('it survives %s', async (_, fault) => {
  await using one = await scenario(asSuite({ script: { runningMs: 100, cases: [PASSED] }, faults: [fault] }))
  const { main } = await one.step.run()
  expect(main.outputs).toMatchObject({ conclusion: 'passed' })
  expect(one.service.runs).toHaveLength(1)
})

test.concurrent('a start that the service accepted without a response is not repeated', async () => {
  await using one = await scenario(asSuite({ faults: [{ on: 'suite-start', do: 'reset', effect: true }] }))
  const { main } = await one.step.run()
  expect(main.outputs.conclusion).toBe('error')
  expect(main.annotations[0]?.message).toContain('a run may have been started and cannot be looked up')
  expect(requestsOf(one.service)).toHaveLength(1)
})

describe.concurrent('it has no cancel', () => {
  test('so a cancelled step says that the run may still be running, with its id, and exits at once', async () => {
    await using one = await scenario(asSuite({ script: { runningMs: Infinity } }))
    const { main, post } = await one.step.run({ on: one.service.waitForRequest('suite-status'), by: 'cancel' })
    const runId = one.service.runs[0]?.runId
    expect(main).toMatchObject({ exitCode: 1, outputs: { conclusion: 'cancelled', 'run-id': runId } })
    expect(main.annotations[0]?.message).toMatch(new RegExp(`${runId}.*may still be running.*no cancel`))
    expect(post.log).toEqual([])
  })

  test('so the wait’s limit leaves the run running, and says so', async () => {
    await using one = await scenario(
      asSuite({ script: { runningMs: Infinity }, inputs: { 'timeout-minutes': '0.01' } }),
    )
    const { main } = await one.step.run()
    expect(main.outputs.conclusion).toBe('wait-timeout')
    expect(main.annotations[0]?.message).toContain('may still be running')
  })

  test('so post, after a kill, warns with the id', async () => {
    await using one = await scenario(asSuite({ script: { runningMs: Infinity } }))
    const { post } = await one.step.run({ on: one.service.waitForRequest('suite-status'), by: 'kill' })
    expect(post.conclusion).toBe('success')
    expect(post.annotations).toMatchObject([
      { level: 'warning', message: expect.stringContaining(one.service.runs[0]?.runId ?? '') },
    ])
  })

  test('so a start in flight is still awaited, for its id', async () => {
    await using one = await scenario(
      asSuite({ script: { runningMs: Infinity }, faults: [{ on: 'suite-start', delayMs: 500 }] }),
    )
    const { main } = await one.step.run({ on: one.service.waitForRequest('suite-start'), by: 'cancel' })
    expect(main.outputs['run-id']).toBe(one.service.runs[0]?.runId)
  })
})
