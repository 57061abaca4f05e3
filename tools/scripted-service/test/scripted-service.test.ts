import { request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { selfSignedCertificate } from '../../../test/support/self-signed-certificate.ts'
import { createScriptedRuns } from '../scripted-runs.ts'
import { type ScriptedServiceOptions, startScriptedService } from '../scripted-service.ts'

const RUNS = '/v1/projects/web-shop/runs'

async function start(options: ScriptedServiceOptions = {}) {
  const service = await startScriptedService(options)
  onTestFinished(() => service.close())
  async function send(method: string, path: string, body?: unknown) {
    const headers = { authorization: `Bearer ${service.key}` }
    const response = await fetch(`${service.url}${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it finds
    return { status: response.status, body: (await response.json()) as any }
  }
  const client = {
    send,
    start: (body: object = {}) => send('POST', RUNS, body),
    startRun: async (body: object = {}): Promise<string> => (await send('POST', RUNS, body)).body.runId,
    get: (runId: string) => send('GET', `${RUNS}/${runId}`),
    cancel: (runId: string) => send('POST', `${RUNS}/cancel`, { where: { runId } }),
  }
  return { service, client }
}

describe('a scripted run', () => {
  it('waits, runs and finishes as its script says', () => {
    let nowMs = Date.parse('2026-01-01T12:00:00Z')
    const script = { queuedMs: 60, runningMs: 1_000, end: 'TIMEDOUT', cases: [{ odd: 1 }] }
    const { endpoints } = createScriptedRuns(
      () => script,
      () => nowMs,
    )
    const { runId } = endpoints.start({ branch: 'b' }, 'p', '').body as { runId: string }
    const shownAfter = (ms: number) => {
      nowMs += ms
      return endpoints.get(undefined, 'p', runId).body
    }
    const startedAt = '2026-01-01T12:00:00.060Z'
    expect(shownAfter(59)).toEqual({ status: 'QUEUED', startedAt: null, branchName: 'b' })
    expect(shownAfter(1)).toEqual({ status: 'RUNNING', startedAt, branchName: 'b' })
    expect(shownAfter(999)).toMatchObject({ status: 'RUNNING' })
    expect(shownAfter(1)).toEqual({
      status: 'TIMEDOUT',
      startedAt,
      finishedAt: '2026-01-01T12:00:01.060Z',
      branchName: 'b',
      results: { testCases: [{ odd: 1 }] },
    })
  })

  it('may depend on what the start requests, and on setScript for the starts after it', async () => {
    const { service, client } = await start({
      script: ({ projectId, body }) => ({ end: `${projectId} ${JSON.stringify(body)}` }),
    })
    const endOf = async () => (await client.get(await client.startRun({ branch: 'b' }))).body.status
    expect(await endOf()).toBe('web-shop {"branch":"b"}')
    service.setScript({ end: 'FAILED' })
    expect(await endOf()).toBe('FAILED')
    expect(service.runs.map(({ number, status }) => [number, status])).toEqual([
      [1, 'web-shop {"branch":"b"}'],
      [2, 'FAILED'],
    ])
  })

  it('is cancelled while it waits or runs', async () => {
    const { service, client } = await start({
      script: ({ number }) => (number === 1 ? { queuedMs: Infinity } : { runningMs: Infinity }),
    })
    for (const startedAt of [null, expect.any(String)]) {
      const runId = await client.startRun()
      expect((await client.cancel(runId)).body).toEqual({ cancelled: [{ runId }] })
      expect((await client.get(runId)).body).toMatchObject({ status: 'CANCELLED', startedAt })
    }
    expect(service.runs.map(({ cancelAccepted }) => cancelAccepted)).toEqual([true, true])
  })

  it('belongs to a test suite if it was started there, with its cases as the tests', async () => {
    const cases = [{ testId: '1', testName: 'a', status: 'RETRYING' }]
    const { service, client } = await start({ script: { cases } })
    const { body } = await client.send('POST', '/v1/testSuite/smoke%20test/run')
    const run = `/v1/testSuiteRun/${body.testSuiteRunId}`
    expect((await client.send('GET', `${run}/status`)).body).toEqual({ status: 'FINISHED' })
    expect((await client.send('GET', `${run}/result`)).body).toEqual({
      testSuiteName: body.testSuiteName,
      results: cases,
    })
    expect(service.runs).toMatchObject([{ testSuiteId: 'smoke test', body: undefined }])
    service.finishRun(body.testSuiteRunId, 'PASSED', [])
    expect((await client.send('GET', `${run}/result`)).body.results).toEqual([])
  })
})

describe('a fault', () => {
  it('happens to the requests that it is meant for, by their number', async () => {
    const fault = { on: 'get', from: 2, to: 3, do: { status: 503, headers: { 'retry-after': '1' } } } as const
    const { service, client } = await start({ faults: [fault] })
    const runId = await client.startRun()
    const statuses: number[] = []
    for (const _ of [1, 2, 3, 4]) statuses.push((await client.get(runId)).status)
    expect(statuses).toEqual([200, 503, 503, 200])
    expect(service.requests.map(({ kind, response }) => [kind, response?.status])).toEqual([
      ['start', 200],
      ['get', 200],
      ['get', 503],
      ['get', 503],
      ['get', 200],
    ])
  })

  it.each([
    ['reset', 'ECONNRESET'],
    ['truncate', 'UND_ERR_SOCKET'],
  ] as const)('by "%s" breaks the connection, with or without the effect of the request', async (action, code) => {
    const { service, client } = await start({
      faults: [
        { on: 'start', to: 1, do: action },
        { on: 'start', from: 2, do: action, effect: true },
      ],
    })
    for (const runs of [0, 1]) {
      const failure = await client.start().catch((error: Error) => error.cause as { code: string })
      expect(failure).toMatchObject({ code })
      expect(service.runs).toHaveLength(runs)
    }
  })

  it('by "hang" never responds', async () => {
    const { service, client } = await start({ faults: [{ on: 'cancel', do: 'hang' }] })
    const runId = await client.startRun()
    const outcome = client.cancel(runId).then(
      () => 'responded',
      () => 'cut off',
    )
    await service.waitForRequest('cancel')
    expect(await Promise.race([outcome, delay(100, 'waiting')])).toBe('waiting')
    await service.close()
    expect(await outcome).toBe('cut off')
    expect(service.requests.at(-1)?.response).toBeUndefined()
  })

  it('by a delay responds later, and the request has its effect before', async () => {
    const { service, client } = await start({ faults: [{ on: 'start', delayMs: 150 }] })
    const started = client.start()
    await service.waitForRequest('start')
    expect(service.runs).toHaveLength(1)
    expect(service.requests[0]?.response).toBeUndefined()
    expect((await started).status).toBe(200)
  })
})

describe('the scripted service', () => {
  it('records what came over the wire', async () => {
    const { service, client } = await start()
    await client.send('POST', '/v1/projects/a%2Fb/runs', { branch: 'ä' })
    expect(service.requests).toEqual([
      {
        kind: 'start',
        method: 'POST',
        path: '/v1/projects/a%2Fb/runs',
        headers: expect.objectContaining({ authorization: `Bearer ${service.key}` }),
        body: '{"branch":"ä"}',
        atMs: expect.any(Number),
        response: { status: 200 },
      },
    ])
    expect(service.runs).toMatchObject([{ projectId: 'a/b' }])
  })

  it('refuses another key, a path of no endpoint, and a body that is not JSON', async () => {
    const { service, client } = await start()
    const statusOf = async (path: string, key: string, body: string) =>
      (await fetch(service.url + path, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })).status
    expect(await statusOf(RUNS, 'another', '{}')).toBe(401)
    expect(await statusOf(RUNS, service.key, '{')).toBe(400)
    expect((await client.send('GET', RUNS)).status).toBe(404)
    expect(service.requests.map(({ kind }) => kind)).toEqual(['start', 'start', 'unknown'])
    expect(service.runs).toEqual([])
  })

  it('waits for requests of a kind, those that came before included', async () => {
    const { service, client } = await start()
    const runId = await client.startRun()
    await service.waitForRequest('start')
    const twice = service.waitForRequest('get', 2)
    await client.get(runId)
    expect(await Promise.race([twice, delay(50, 'waiting')])).toBe('waiting')
    await client.get(runId)
    await twice
    const never = service.waitForRequest('cancel')
    await service.close()
    await expect(never).rejects.toThrow('aborted')
  })

  it('speaks HTTPS, its faults too, if it has a certificate', async () => {
    const { cert, key } = selfSignedCertificate()
    const { service } = await start({ tls: { cert, key }, faults: [{ on: 'get', from: 2, do: 'reset' }] })
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const getStatus = () =>
      new Promise<number | string>((resolve) => {
        const headers = { authorization: `Bearer ${service.key}` }
        const sent = request(
          `${service.url}/v1/projects/p/runs/none`,
          { ca: cert, headers, agent: false },
          (response) => resolve(response.statusCode ?? 0),
        )
        sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
        sent.end()
      })
    expect(await getStatus()).toBe(404)
    expect(await getStatus()).toBe('ECONNRESET')
  })
})
