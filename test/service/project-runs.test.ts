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
    it('sends no field that was not given', async () => {
      const { server, runs } = await project('{"runId":"r-1"}')
      await runs.start({}, patient())
      await runs.start({ autofix: false }, patient())
      expect(server.received.map(({ body }) => body)).toEqual(['{}', '{"autofix":false}'])
    })
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
