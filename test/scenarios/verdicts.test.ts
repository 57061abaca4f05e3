import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placesThatShow } from '../../tools/runner-emulator/step-runner/runner.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED, scenario } from '../support/scenario.ts'

// test/action/step.test.ts tests the other statuses.
test.concurrent.each([
  ['PASSED', ONE_PASSED, 'passed', 'success', /^## ✅/],
  ['FAILED', ONE_OF_TWO_FAILED, 'failed', 'failure', /^## ❌ .*1 of 2.*rounds to cents/s],
])('the final status of a run is the verdict, in every place: %s', async (end, cases, conclusion, step, summary) => {
  await using one = await scenario({ script: { queuedMs: 100, runningMs: 200, end, cases } })
  const { main, post } = await one.step.run()

  expect(main.outputs).toMatchObject({ conclusion, status: end, total: String(cases.length) })
  expect(main.conclusion).toBe(step)
  expect(main.exitCode).toBe(step === 'success' ? 0 : 1)
  expect(main.annotations.some(({ level }) => level === 'error')).toBe(step === 'failure')
  expect(main.summary).toMatch(summary)
  expect(readdirSync(main.outputs['report-dir'] ?? '').sort()).toEqual(['ctrf.json', 'junit.xml', 'results.json'])
  expect(main.log.join('\n')).not.toMatch(/debug|for post/)
  expect(post.log).toEqual([])
  expect(placesThatShow(one.service.key, main)).toEqual([])
})

test.concurrent('the requests are those of the interface, and no others', async () => {
  await using one = await scenario({
    script: { queuedMs: 150, runningMs: 150, cases: ONE_PASSED, runId: 'run:1' },
    inputs: {
      project: 'web shop/é',
      branch: 'feature/x',
      environment: 'staging',
      'framework-project': 'unit checkout',
      'env-overrides': 'A=1\nB=two #words',
      autofix: 'false',
    },
  })
  const { main } = await one.step.run()
  expect(main.conclusion).toBe('success')

  const [start, ...polls] = one.service.requests
  expect(start).toMatchObject({ method: 'POST', path: '/v1/projects/web%20shop%2F%C3%A9/runs' })
  expect(JSON.parse(start?.body ?? '')).toEqual({
    branch: 'feature/x',
    environment: 'staging',
    frameworkProjectName: 'unit checkout',
    envOverrides: { A: '1', B: 'two #words' },
    autofix: false,
  })
  const workflowRun = String.raw`https://github\.com/octo-org/web-shop/actions/runs/\d+/attempts/1`
  expect(start?.headers).toMatchObject({
    authorization: `Bearer ${one.service.key}`,
    'user-agent': expect.stringMatching(new RegExp(`^test-run-action/\\d+\\.\\d+\\.\\d+ \\(${workflowRun}\\)$`)),
  })
  expect(new Set(polls.map(({ method, path, body }) => `${method} ${path} ${body}`))).toEqual(
    new Set(['GET /v1/projects/web%20shop%2F%C3%A9/runs/run%3A1 ']),
  )
  expect(main.log.join('\n')).not.toContain('#words')
})
