import { expect, test } from 'vitest'

import { requestsOf, type ScenarioOptions, scenario } from '../support/scenario.ts'

// The test-suite workflow keeps the promises of a project's run, as far as its three endpoints allow that.
// test/service/client.test.ts tests how results count.

const PASSED = { testId: '1', testName: 'signs in', status: 'PASSED' }
const asSuite = (options: ScenarioOptions = {}): ScenarioOptions => ({
  ...options,
  inputs: { project: '', 'test-suite': 'smoke/1', ...options.inputs },
})

test.concurrent('a test suite is started, its status is polled, and its results are read when it has finished', async () => {
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
