import { expect, test } from 'vitest'
import { ONE_PASSED, requestsOf, scenario } from '../support/scenario.ts'

test.concurrent('a run is started in one job and awaited in another', async () => {
  await using start = await scenario({
    script: { runningMs: 400, cases: ONE_PASSED },
    inputs: { wait: 'false' },
  })
  const { main: started } = await start.step.run()
  expect(started.outputs.conclusion).toBe('started')

  const { service } = start
  await using wait = await scenario({
    inputs: { 'base-url': service.url, 'api-key': service.key, 'run-id': started.outputs['run-id'] ?? '' },
  })
  const { main, post } = await wait.step.run()
  expect(main).toMatchObject({ conclusion: 'success', outputs: { conclusion: 'passed', total: '1' } })
  expect(service.runs).toHaveLength(1)
  expect(post.log).toEqual([])
})

test.concurrent('a run that has already finished is reported at once, with one request', async () => {
  await using one = await scenario({ script: { end: 'FAILED', cases: ONE_PASSED, runId: 'run-7' } })
  const start = await fetch(`${one.service.url}/v1/projects/web-shop/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${one.service.key}`, 'content-type': 'application/json' },
    body: '{}',
  })
  expect(start.status).toBe(200)
  await using wait = await scenario({
    inputs: { 'base-url': one.service.url, 'api-key': one.service.key, 'run-id': 'run-7' },
  })
  const { main } = await wait.step.run()
  expect(main.outputs).toMatchObject({ conclusion: 'failed', 'run-id': 'run-7' })
  expect(requestsOf(one.service)).toEqual(['POST /v1/projects/web-shop/runs', 'GET /v1/projects/web-shop/runs/run-7'])
})

test.concurrent('an unknown id is one clear sentence, and nothing is cancelled', async () => {
  await using one = await scenario({ inputs: { 'run-id': 'nobody-knows' } })
  const { main, post } = await one.step.run()
  expect(main.outputs.conclusion).toBe('error')
  expect(main.annotations).toHaveLength(1)
  expect(main.annotations[0]?.message).toMatch(/nobody-knows.*404.*run-id/)
  expect(main.annotations[0]?.message).not.toContain('may still be running')
  expect(requestsOf(one.service)).toEqual(['GET /v1/projects/web-shop/runs/nobody-knows'])
  expect(post.log).toEqual([])
})
