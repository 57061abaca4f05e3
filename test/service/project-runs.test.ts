import { describe, expect, it } from 'vitest'
import { projectRuns } from '../../src/service/project-runs.ts'
import { type Answer, json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

async function project(respond: Answer, projectId = 'web-shop') {
  const server = await recordingServer(respond)
  return { server, runs: projectRuns(await sendJsonTo(server.origin), projectId) }
}

describe('start', () => {
  it('posts every parameter under the name that the interface has for it', async () => {
    const { server, runs } = await project(json({ runId: 'r-1' }))
    const runId = await runs.start(
      {
        branch: 'feature/pay',
        environment: 'staging',
        frameworkProject: 'unit,e2e',
        runGroup: 'nightly',
        envOverrides: { BASE_URL: 'https://pr-7.example.com', EMPTY: '' },
        autofix: true,
      },
      patient(),
    )
    expect(runId).toBe('r-1')
    const [request, ...others] = server.received
    expect(others).toEqual([])
    expect(request).toMatchObject({ method: 'POST', target: '/v1/projects/web-shop/runs' })
    expect(JSON.parse(request?.body ?? '')).toEqual({
      frameworkProjectName: 'unit,e2e',
      runGroupName: 'nightly',
      envOverrides: { BASE_URL: 'https://pr-7.example.com', EMPTY: '' },
      environment: 'staging',
      autofix: true,
      branch: 'feature/pay',
    })
  })

  it.each([
    [{}, '{}'],
    [{ autofix: false }, '{"autofix":false}'],
    [{ branch: 'main' }, '{"branch":"main"}'],
  ])('posts of %j no field that was not given', async (parameters, body) => {
    const { server, runs } = await project(json({ runId: 'r-1' }))
    await runs.start(parameters, patient())
    expect(server.received[0]).toMatchObject({ body, headers: { 'content-type': 'application/json' } })
  })

  it('sends one request, whatever comes of it', async () => {
    for (const status of [429, 500, 503]) {
      const { server, runs } = await project(json({ error: 'no' }, status))
      expect(await failureOf(runs.start({}, patient()))).toEqual({ kind: 'status', status, error: 'no' })
      expect(server.received).toHaveLength(1)
    }
  })

  it('returns an id as the service sent it', async () => {
    const { runs } = await project(json({ runId: '../..\n' }))
    expect(await runs.start({}, patient())).toBe('../..\n')
  })

  it.each([
    '7',
    '-7',
    '9007199254740993',
    '123456789012345678901234567890',
  ])('returns the digits of an id that is the number %s', async (digits) => {
    const { runs } = await project((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"runId":${digits},"queue":[${digits}]}`),
    )
    expect(await runs.start({}, patient())).toBe(digits)
  })

  it('fails if the response has no id', async () => {
    const { runs } = await project(json({ id: 'r-1' }))
    expect(await failureOf(runs.start({}, patient()))).toEqual({
      kind: 'invalid-response',
      expected: 'runId to be a string',
      got: 'nothing',
    })
  })
})

describe('get', () => {
  it('asks for the run by both ids, without a body', async () => {
    const { server, runs } = await project(json({ status: 'RUNNING' }), 'web shop/1')
    expect(await runs.get('team/run:7', patient())).toMatchObject({ status: 'RUNNING' })
    expect(server.received).toMatchObject([
      { method: 'GET', target: '/v1/projects/web%20shop%2F1/runs/team%2Frun%3A7', body: '' },
    ])
  })
})

describe('cancel', () => {
  it('posts the run as the selector', async () => {
    const { server, runs } = await project(json({ cancelled: [{ runId: 'r-1' }] }))
    expect(await runs.cancel?.('r-1', patient())).toBe(true)
    expect(server.received).toMatchObject([
      { method: 'POST', target: '/v1/projects/web-shop/runs/cancel', body: '{"where":{"runId":"r-1"}}' },
    ])
  })

  it.each(['7', '9007199254740993'])('is confirmed if the service lists the number %s', async (digits) => {
    const { runs } = await project((response) => response.writeHead(200).end(`{"cancelled":[{"runId":${digits}}]}`))
    expect(await runs.cancel?.(digits, patient())).toBe(true)
  })

  it.each([
    [[]],
    [[{ runId: 'r-2' }, { runId: 'r-11' }]],
  ])('is not confirmed if the service lists %j as cancelled', async (cancelled) => {
    const { runs } = await project(json({ cancelled }))
    expect(await runs.cancel?.('r-1', patient())).toBe(false)
  })

  it('can name an id that no path can carry', async () => {
    const { server, runs } = await project(json({ cancelled: [] }))
    await runs.cancel?.('..\n"\u0000', patient())
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({ where: { runId: '..\n"\u0000' } })
  })
})
