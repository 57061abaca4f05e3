import { expect, test } from 'vitest'
import { startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { requestsOf, scenario } from '../support/scenario.ts'

test.concurrent('if main is killed, post cancels the run at the announced service, and the debug log shows what post found', async () => {
  await using one = await scenario({ announcedIn: {}, debug: true, script: { runId: 'run-1', runningMs: Infinity } })
  const { post } = await one.step.run({ on: one.service.waitForRequest('get'), by: 'kill' })
  const debugLines = post.log.filter((line) => line.startsWith('##[debug]')).join('\n')
  expect(debugLines).toMatch(/Post found .*test-run-action-.*: \{"phase":"started","runId":"run-1","mayCancel":true\}/)
  expect(debugLines).toContain('POST /v1/projects/web-shop/runs/cancel: status 200')
  expect(post.log.at(-1)).toMatch(/^Run \S+ was cancelled\.$/)
  expect(one.service.runs).toMatchObject([{ status: 'CANCELLED' }])
})

test.concurrent('if another service has been announced meanwhile, post sends it nothing and names the run', async () => {
  const variables: Record<string, string> = {}
  await using one = await scenario({ announcedIn: variables, script: { runningMs: Infinity } })
  const later = await startScriptedService()
  const main = one.step.startMain()
  await one.service.waitForRequest('get')
  main.signal('SIGKILL')
  await main.result()
  variables.TEST_RUN_SERVICE_URL = later.url
  const post = await one.step.runPost()
  expect(post.annotations).toMatchObject([
    { level: 'warning', message: expect.stringContaining(`Run ${one.service.runs[0]?.runId} may still be running.`) },
  ])
  expect(later.requests).toEqual([])
  expect(requestsOf(one.service).filter((request) => request.includes('cancel'))).toEqual([])
  await later.close()
})
