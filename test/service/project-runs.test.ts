import { describe, expect, it } from 'vitest'
import { projectRuns } from '../../src/service/workflows.ts'
import { recordingServer } from '../support/recording-server.ts'
import { patient, senderTo } from '../support/service-requests.ts'

async function project(response: string, projectId = 'web-shop') {
  const server = await recordingServer((http) => http.end(response))
  return { server, runs: projectRuns(await senderTo(server.origin), projectId) }
}

describe('start', () => {
  it('sends every parameter under its name in the interface', async () => {
    const { server, runs } = await project('{"runId":"r-1"}')
    const envOverrides = { BASE_URL: 'https://pr-7.example.com', EMPTY: '' }
    const given = { branch: 'feature/pay', environment: 'staging', frameworkProject: 'unit,e2e' }
    expect(await runs.start({ ...given, envOverrides, autofix: true }, patient())).toBe('r-1')
    expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/projects/web-shop/runs' }])
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      frameworkProjectName: 'unit,e2e',
      envOverrides,
      environment: 'staging',
      autofix: true,
      branch: 'feature/pay',
    })
  })

  it('sends no field that was not given', async () => {
    const { server, runs } = await project('{"runId":"r-1"}')
    await runs.start({}, patient())
    await runs.start({ autofix: false }, patient())
    expect(server.received.map(({ body }) => body)).toEqual(['{}', '{"autofix":false}'])
  })

  it.each([
    ['"../..\\n"', '../..\n'],
    ['-7', '-7'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('returns the id %s as the service sent it', async (sent, runId) => {
    const { runs } = await project(`{"runId":${sent},"queue":[9007199254740993]}`)
    expect(await runs.start({}, patient())).toBe(runId)
  })
})

it('get requests the run by both ids', async () => {
  const { server, runs } = await project('{"status":"RUNNING"}', 'web shop/1')
  expect(await runs.get('team/run:7', patient())).toMatchObject({ status: 'RUNNING' })
  expect(server.received).toMatchObject([
    { method: 'GET', target: '/v1/projects/web%20shop%2F1/runs/team%2Frun%3A7', body: '' },
  ])
})

describe('cancel', () => {
  // A run with an id that cannot be part of a path is cancelled too.
  it.each(['r-1', '..\n"\u0000'])('posts the run %j as the selector', async (runId) => {
    const { server, runs } = await project(JSON.stringify({ cancelled: [{ runId }] }))
    expect(await runs.cancel?.(runId, patient())).toBe(true)
    expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/projects/web-shop/runs/cancel' }])
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({ where: { runId } })
  })

  it.each([
    ['9007199254740993', '9007199254740993', true],
    ['r-1', '"r-2"},{"runId":"r-11"', false],
  ])('of %j is confirmed if the service lists the run, here %s: %j', async (runId, listed, isConfirmed) => {
    const { runs } = await project(`{"cancelled":[{"runId":${listed}}]}`)
    expect(await runs.cancel?.(runId, patient())).toBe(isConfirmed)
  })
})
