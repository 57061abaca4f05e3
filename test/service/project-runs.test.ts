import { expect, it } from 'vitest'
import { projectRuns } from '../../src/service/project-runs.ts'
import { recordingServer } from '../support/recording-server.ts'
import { patient, senderTo } from '../support/service-requests.ts'

async function project(response: string) {
  const server = await recordingServer((http) => http.end(response))
  return { server, runs: projectRuns(await senderTo(server.origin), 'web-shop') }
}

it('a start sends no field that was not given', async () => {
  const { server, runs } = await project('{"runId":"r-1"}')
  await runs.start({}, patient())
  await runs.start({ autofix: false }, patient())
  expect(server.received.map(({ body }) => body)).toEqual(['{}', '{"autofix":false}'])
})

it('a cancel posts the run as the selector, and is confirmed only if the service lists this run', async () => {
  const { server, runs } = await project('{"cancelled":[{"runId":"r-2"},{"runId":"r-11"}]}')
  expect(await runs.cancel?.('r-11', patient())).toBe(true)
  const body = '{"where":{"runId":"r-11"}}'
  expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/projects/web-shop/runs/cancel', body }])
  expect(await runs.cancel?.('r-1', patient())).toEqual({ failure: true, kind: 'not-listed' })
})
