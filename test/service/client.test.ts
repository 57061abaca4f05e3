import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Target } from '../../src/model/run.ts'
import { openService, projectRuns, suiteRuns } from '../../src/service/client.ts'
import { render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { closedPort, json, recordingServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { failureOf, patient, senderTo } from '../support/service-requests.ts'

const PROJECT: Target = { kind: 'project', id: 'p' }

function open(baseUrl: string, apiKey: string, target = PROJECT) {
  const address = { baseUrl: new URL(baseUrl), apiKey, target, proxies: {} }
  return openService(address, new FakeClock())
}

it.each([
  [PROJECT, '/api/v1/projects/p/runs'],
  [{ kind: 'test-suite', id: 's' } as const, '/api/v1/testSuite/s/run'],
])('the service of %j is opened at its address, with the key and the version of this action', async (target, path) => {
  const server = await recordingServer(json({ runId: 'r-1', testSuiteRunId: 'r-1' }))
  const service = await open(`${server.origin}/api/`, 'key-9', target)
  expect(await service.start({}, patient())).toBe('r-1')

  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(server.received[0]).toMatchObject({
    target: path,
    headers: { authorization: 'Bearer key-9', 'user-agent': `test-run-action/${version}` },
  })
})

it.each([
  ['https://tests.example.com', 300_000],
  ['http://[::1]:8080', 30_000],
  ['https://localhost', 30_000],
])('requests to %s may fail for %i ms', async (address, limitMs) => {
  expect((await open(address, 'k')).failureLimitMs).toBe(limitMs)
})

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
      expect(await runs.cancel?.('r-1', patient())).toBe(false)
    })
  })
})

describe('the runs of a test suite', () => {
  /** A suite with the status and the results that the test has set last. */
  async function suite(set: { status?: unknown; statuses?: readonly string[] } = {}) {
    const server = await recordingServer((response, request) => {
      const results = (set.statuses ?? []).map((status, index) => ({ testName: `test ${index}`, status }))
      const body = request.target.endsWith('/status') ? { status: set.status } : { testSuiteRunId: 's-1', results }
      json(body)(response, request)
    })
    const clock = new FakeClock()
    const runs = suiteRuns(await senderTo(server.origin, { clock }), 'suite 1', clock)
    const targets = () => server.received.map(({ method, target }) => `${method} ${target}`)
    return { server, targets, clock, runs, set, get: () => runs.get('s-1', patient()) }
  }

  it('start posts the environment, the overrides and the branch under the names of this workflow', async () => {
    const { server, targets, runs } = await suite()
    const parameters = { branch: 'main', environment: 'staging', envOverrides: { A: '1' } }
    expect(await runs.start(parameters, patient())).toBe('s-1')
    await runs.start({}, patient())
    expect(targets()).toEqual(Array(2).fill('POST /v1/testSuite/suite%201/run'))
    expect(server.received.map(({ body }) => JSON.parse(body))).toEqual([
      { environment: 'staging', variableOverrides: { A: '1' }, metadata: { git: { branch: 'main' } } },
      {},
    ])
  })

  describe('get', () => {
    it.each([
      ['RUNNING', 'RUNNING'],
      ['PAUSED', 'UNKNOWN'],
    ])('requests only the status while it is %s', async (rawStatus, status) => {
      const { targets, get } = await suite({ status: rawStatus })
      for (let poll = 0; poll < 2; poll++) expect(await get()).toEqual({ status, rawStatus })
      expect(targets()).toEqual(Array(2).fill('GET /v1/testSuiteRun/s-1/status'))
    })

    it('truncates a very long status', async () => {
      const { get } = await suite({ status: 'x'.repeat(10_001) })
      expect(await get()).toMatchObject({ status: 'UNKNOWN', rawStatus: `${'x'.repeat(9_999)}…` })
    })

    it('requests only the results after the suite has finished', async () => {
      const { targets, get, set } = await suite({ status: 'RUNNING', statuses: ['PASSED', 'RUNNING'] })
      await get()
      set.status = 'FINISHED'
      await get()
      await get()
      expect(targets().map((target) => target.split('/').at(-1))).toEqual(['status', 'status', 'result', 'result'])
    })

    it('turns a finished suite into a run without durations', async () => {
      const { get } = await suite({ status: 'FINISHED', statuses: ['PASSED', 'ERROR'] })
      expect(await get()).toEqual({
        status: 'FAILED',
        rawStatus: 'FAILED',
        testCases: [
          { title: 'test 0', rawStatus: 'PASSED', kind: 'passed' },
          { title: 'test 1', rawStatus: 'ERROR', kind: 'failed' },
        ],
        responseText: expect.stringContaining('"results":[{"testName":"test 0"'),
      })
    })

    it.each([
      [[], 'PASSED'], // no test case ran, so the conclusion is no-tests
      [['PASSED', 'FLAKY', 'SKIPPED'], 'PASSED'],
      [['PASSED', 'FAILED'], 'FAILED'],
      [['PASSED', 'CANCELLED'], 'CANCELLED'],
      [['CANCELLED', 'FAILED'], 'FAILED'],
      [['PASSED', 'QUARANTINED'], 'FAILED'],
      [['CANCELLED', 'QUARANTINED'], 'FAILED'],
      [['passed'], 'FAILED'],
    ])('counts results of %j as %s', async (statuses, verdict) => {
      const { get } = await suite({ status: 'FINISHED', statuses })
      expect(await get()).toMatchObject({ status: verdict, rawStatus: verdict })
    })

    it.each(['RUNNING', 'QUEUED', 'RETRYING'])('waits for 30 s for a result that is still %s', async (unfinished) => {
      const { clock, get, set } = await suite({ status: 'RUNNING', statuses: ['CANCELLED', unfinished] })
      await get()
      await clock.run(clock.sleep(600_000))
      set.status = 'FINISHED'
      expect(await get()).toMatchObject({ status: 'RUNNING' })
      await clock.run(clock.sleep(29_999))
      expect(await get()).toMatchObject({ status: 'RUNNING' })
      set.statuses = ['PASSED', 'PASSED']
      expect(await get()).toMatchObject({ status: 'PASSED' })
      set.statuses = ['CANCELLED', unfinished]
      await clock.run(clock.sleep(1))
      expect(await get()).toMatchObject({ status: 'FAILED', testCases: [{}, { rawStatus: unfinished }] })
    })

    it('fails if the status is not a text', async () => {
      const { get } = await suite({ status: 7 })
      expect(await failureOf(get())).toMatchObject({ kind: 'invalid-response', found: '7' })
    })
  })

  it('has no cancel', async () => {
    const { runs } = await suite()
    expect(runs.cancel).toBeUndefined()
  })
})

describe('the debug log', () => {
  const KEY = 'sk-live-0123456789'

  async function linesOf(origin: string, runId = 'r-1', options = patient()): Promise<string[]> {
    const lines: string[] = []
    const address = { baseUrl: new URL(origin), apiKey: KEY, target: PROJECT, proxies: {} }
    const service = await openService(address, new FakeClock(), { debug: (line) => lines.push(render(line)) })
    await service.get(runId, options)
    return lines
  }

  it('has one line for each response, with nothing of its headers and its body, and without the key', async () => {
    const SECRET = { status: 'of a body', error: 'of a body' }
    for (const status of [200, 503]) {
      const server = await recordingServer(json(SECRET, status, { 'x-other': 'of a header' }))
      const line = `GET /v1/projects/p/runs/***%20a%0A%3A%3Aerror%3A%3Ab: status ${status}, 0 ms`
      expect(await linesOf(server.origin, `${KEY} a\n::error::b`)).toEqual([line])
    }
  })

  it('has one line for each failure, with its reason', async () => {
    const GET = 'GET /v1/projects/p/runs/r-1'
    const port = await closedPort()
    const refused = `not-sent (connect ECONNREFUSED 127.0.0.1:${port})`
    expect(await linesOf(`http://127.0.0.1:${port}`)).toEqual([`${GET}: ${refused}, 0 ms`])
    const { origin } = await recordingServer(json({}), selfSignedCertificate())
    const untrusted = 'untrusted-certificate (DEPTH_ZERO_SELF_SIGNED_CERT)'
    expect(await linesOf(origin)).toEqual([`${GET}: ${untrusted}, 0 ms`])
    expect(await linesOf(origin, 'r-1', { signal: AbortSignal.abort() })).toEqual([
      `${GET}: not-sent (the step was aborted before the request was sent), 0 ms`,
    ])
  })
})
