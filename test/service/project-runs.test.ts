import { describe, expect, it } from 'vitest'
import { projectRuns } from '../../src/service/project-runs.ts'
import { recordingServer } from '../support/recording-server.ts'
import { patient, senderTo } from '../support/service-requests.ts'

describe('the runs of a project', () => {
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
  })

  it('get requests the run by both ids', async () => {
    const { server, runs } = await project('{"status":"RUNNING"}', 'web shop/1')
    expect(await runs.get('team/run:7', patient())).toMatchObject({ status: 'RUNNING' })
    expect(server.received).toMatchObject([
      { method: 'GET', target: '/v1/projects/web%20shop%2F1/runs/team%2Frun%3A7', body: '' },
    ])
  })

  describe('cancel', () => {
    it('posts the run as the selector', async () => {
      const { server, runs } = await project('{"cancelled":[{"runId":"r-1"}]}')
      expect(await runs.cancel?.('r-1', patient())).toBe(true)
      expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/projects/web-shop/runs/cancel' }])
      expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({ where: { runId: 'r-1' } })
    })

    it('is confirmed only if the service lists this run', async () => {
      const { runs } = await project('{"cancelled":[{"runId":"r-2"},{"runId":"r-11"}]}')
      expect(await runs.cancel?.('r-11', patient())).toBe(true)
      expect(await runs.cancel?.('r-1', patient())).toEqual({ kind: 'not-listed' })
    })
  })
})
