import { connect } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRepository, type GitRepository } from '../../../test/support/git-repository.ts'
import { startScriptedService } from '../../../tools/scripted-service/scripted-service.ts'
import { clientOf, KEY, puppet, puppetProject, startService } from '../support/a-local-service.ts'

// A walk through docs/openapi.yaml, operation by operation, over real sockets. The service that really runs tests has a puppet
// for a test runner. What clients of both services rely on is also tested with the scripted service.

const RUNS = '/v1/projects/web-shop/runs'
const CANCEL = `${RUNS}/cancel`
const SUITE_START = '/v1/testSuite/smoke/run'
const NO_SUCH = '00000000-0000-4000-8000-000000000000'

let repository: GitRepository

beforeAll(async () => {
  repository = await createRepository({ 'README.md': 'A project on a branch.' })
  return repository.remove
})

async function startReal(settings: object = {}) {
  const project = {
    ...puppetProject(repository.folder),
    environments: { staging: { STAGE: 'staging' }, production: { STAGE: 'production' } },
  }
  const service = await startService({
    projects: { 'web-shop': project, other: puppetProject() },
    suites: { smoke: { project: 'web-shop', name: 'Smoke test' } },
    ...settings,
  })
  return { ...service, hanging: puppet({ hangs: true, report: 'none' }) }
}

async function startScripted() {
  const service = await startScriptedService({
    key: KEY,
    script: ({ body }) => (JSON.stringify(body ?? {}).includes('hangs') ? { runningMs: Infinity } : { runningMs: 20 }),
  })
  onTestFinished(() => service.close())
  return { ...service, ...clientOf(service.url, KEY), hanging: { envOverrides: { PUPPET: 'hangs' } } }
}

describe.each([
  ['the service that runs tests', startReal],
  ['the scripted service', startScripted],
])('what clients rely on: %s', (_name, start) => {
  it('startRun responds with 200 with a run id, for a body that gives nothing', async () => {
    const service = await start()
    expect(await service.start({})).toEqual({ status: 200, body: { runId: expect.stringMatching(/^[\w-]+$/) } })
  })

  it('getRun has all fields of a run that is finished', async () => {
    const service = await start()
    const runId = await service.startRun()
    // The field outputBytes is an addition that a service may leave out.
    const { outputBytes: _, ...seen } = await service.waitFor(runId)
    expect(seen).toEqual({
      status: 'PASSED',
      startedAt: expect.stringMatching(ISO_TIME),
      finishedAt: expect.stringMatching(ISO_TIME),
      branchName: expect.any(String),
      results: { testCases: expect.any(Array) },
    })
    // The field filePath is such an addition too.
    for (const { filePath: _, ...testCase } of seen.results?.testCases ?? []) {
      expect(testCase).toEqual({ title: expect.any(String), status: 'PASSED', durationMs: expect.any(Number) })
      expect(Number.isInteger(testCase.durationMs)).toBe(true)
    }
    expect(Date.parse(seen.startedAt ?? '')).toBeLessThanOrEqual(Date.parse(seen.finishedAt ?? ''))
  })

  it('getRun has startedAt but neither finishedAt nor results of a run that is RUNNING', async () => {
    const service = await start()
    const runId = await service.startRun(service.hanging)
    const { outputBytes: _, progress: __, ...run } = await service.waitFor(runId, 'RUNNING')
    expect(run).toEqual({
      status: 'RUNNING',
      startedAt: expect.stringMatching(ISO_TIME),
      branchName: expect.any(String),
    })
  })

  it('getRun and cancelRun respond with 404 to an id that nobody was given, and to one of another project', async () => {
    const service = await start()
    const runId = await service.startRun()
    const error = { error: expect.stringMatching(/^There is no run/) }
    expect(await service.get(NO_SUCH)).toEqual({ status: 404, body: error })
    expect(await service.cancel(NO_SUCH)).toEqual({ status: 404, body: error })
    expect(await service.send('GET', `/v1/projects/other/runs/${runId}`)).toEqual({ status: 404, body: error })
    expect(await service.send('POST', '/v1/projects/other/runs/cancel', { where: { runId } })).toEqual({
      status: 404,
      body: error,
    })
  })

  it('cancelRun responds with the list of what it cancelled, and the run is CANCELLED', async () => {
    const service = await start()
    const runId = await service.startRun(service.hanging)
    await service.waitFor(runId, 'RUNNING')
    expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
    expect((await service.get(runId)).body).toMatchObject({ status: 'CANCELLED', results: {} })
  })

  it('cancelRun responds with 400 to a run that is finished, whichever way', async () => {
    const service = await start()
    const passed = await service.startRun()
    await service.waitFor(passed)
    const cancelled = await service.startRun(service.hanging)
    await service.cancel(cancelled)
    for (const [runId, status] of [
      [passed, 'PASSED'],
      [cancelled, 'CANCELLED'],
    ]) {
      const error = `Run "${runId}" is ${status}; only a QUEUED or RUNNING run can be cancelled.`
      expect(await service.cancel(runId ?? '')).toEqual({ status: 400, body: { error } })
    }
  })
})

describe('the service that runs tests', () => {
  it('has endpoints for test suites, which start, say that the run is finished, and return its tests', async () => {
    const service = await startReal()
    const { started, result } = await service.runSuite('smoke')
    const [testSuiteRunId, testSuiteName, projectId] = Array(3).fill(expect.any(String))
    expect(started).toEqual({ status: 200, body: { testSuiteRunId, testSuiteName, projectId } })
    const results = [{ testId: expect.any(String), testName: expect.any(String), status: 'PASSED' }]
    expect(result).toEqual({ status: 200, body: { testSuiteName: started.body.testSuiteName, results } })
  })

  it('has endpoints for test suites, which respond with 404 to a run that is none of theirs', async () => {
    const service = await startReal()
    const runId = await service.startRun()
    for (const id of [NO_SUCH, runId]) {
      expect((await service.send('GET', `/v1/testSuiteRun/${id}/status`)).status).toBe(404)
      expect((await service.send('GET', `/v1/testSuiteRun/${id}/result`)).status).toBe(404)
    }
    const { body } = await service.send('POST', '/v1/testSuite/smoke/run')
    expect((await service.get(body.testSuiteRunId)).status).toBe(404)
  })

  it('responds with 400 to a field that is not as documented', async () => {
    const { send } = await startReal()
    const isEmpty = 'It is empty. Leave the field out to get the default.'
    const fields = ['frameworkProjectName', 'runGroupName', 'environment', 'environmentName', 'branch']
    const rows: [path: string, body: object, field: string, problem?: string][] = [
      ...fields.map((field): [string, object, string, string] => [RUNS, { [field]: '' }, field, isEmpty]),
      [RUNS, { frameworkProjectName: 1 }, 'frameworkProjectName'],
      // An empty list would run all projects.
      [RUNS, { runGroupName: ' , ' }, 'runGroupName', 'It names no project. Leave the field out to run all.'],
      [RUNS, { frameworkProjectName: 'unit', runGroupName: 1 }, 'runGroupName'],
      [RUNS, { envOverrides: [] }, 'envOverrides'],
      [RUNS, { envOverrides: { A: {} } }, 'envOverrides.A'],
      [RUNS, { envOverrides: { 'A=B': '' } }, 'envOverrides.A=B'],
      [RUNS, { envOverrides: { A: 'a\0' } }, 'envOverrides.A'],
      [RUNS, { environment: null }, 'environment'],
      [RUNS, { autofix: 'true' }, 'autofix'],
      [RUNS, { branch: 'b'.repeat(256) }, 'branch'],
      // A cancel names one run.
      [CANCEL, {}, 'where'],
      [CANCEL, { runId: 'x' }, 'where'],
      [CANCEL, { where: 'x' }, 'where'],
      [CANCEL, { where: {} }, 'where.runId'],
      [CANCEL, { where: { runId: 5 } }, 'where.runId'],
      [CANCEL, { where: { runId: 'x', status: 'QUEUED' } }, 'where.status'],
      [SUITE_START, { environment: 1 }, 'environment'],
      [SUITE_START, { environment: '' }, 'environment', isEmpty],
      [SUITE_START, { variableOverrides: 'A=b' }, 'variableOverrides'],
      [SUITE_START, { metadata: { git: 'main' } }, 'metadata.git'],
      [SUITE_START, { metadata: { git: { branch: '' } } }, 'metadata.git.branch', isEmpty],
    ]
    for (const [path, body, field, problem = '[A-Z].*\\.'] of rows) {
      const error = expect.stringMatching(new RegExp(`^"${field}": ${problem}$`))
      expect([body, await send('POST', path, body)]).toEqual([body, { status: 400, body: { error } }])
    }
  })

  it('responds with 400 to a request that is not valid HTTP', async () => {
    const { url } = await startReal()
    const headers = `Authorization: Bearer ${KEY}\r\nConnection: close`
    for (const [target, host, problem] of [
      [`${RUNS}/a\\b`, '127.0.0.1', 'Backslash in request path'],
      [`${RUNS}/1`, 'a b', 'Invalid URL'],
    ]) {
      const response = await raw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n`)
      expect(response).toContain('HTTP/1.1 400 ')
      expect(response).toContain(JSON.stringify({ error: `The request is invalid: ${problem}.` }))
    }
  })

  it('gives a client without a key its 401 before it has sent a body, and while it is sending a large body', async () => {
    const { url } = await startReal()
    const headers = 'Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: 1000000'
    const response = await raw(url, `POST ${RUNS} HTTP/1.1\r\n${headers}\r\n\r\n`)
    expect(response).toMatch(/^HTTP\/1\.1 401 [\s\S]*API key is missing or invalid/)
    expect((await fetch(url + RUNS, { method: 'POST', body: 'x'.repeat(5_000_000) })).status).toBe(401)
  })

  it('takes a body whose length the client does not say, and refuses a large one', async () => {
    const { url } = await startReal()
    const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\nTransfer-Encoding: chunked`
    const post = (body: string) =>
      raw(url, `POST ${RUNS} HTTP/1.1\r\n${headers}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    expect(await post('{"environment": "staging"}')).toContain('HTTP/1.1 200 ')
    expect(await post(`{"environment": "${'x'.repeat(2_000_000)}"}`)).toContain('The body is larger than 1 MiB.')
  })

  it.each([
    [
      '/v1/projects/nope/runs',
      {},
      404,
      'There is no project "nope". The projects of this service: "web-shop", "other".',
    ],
    ['/v1/testSuite/nope/run', {}, 404, 'There is no test suite "nope". The test suites of this service: "smoke".'],
    [
      RUNS,
      { environmentName: 'test' },
      400,
      'Project "web-shop" has no environment "test". Its environments: "staging", "production".',
    ],
  ])('names what it has if a request names something else: %s', async (path, body, status, error) => {
    const { send } = await startReal()
    expect(await send('POST', path, body)).toEqual({ status, body: { error } })
  })

  it('has a null startedAt and neither finishedAt nor results while a run is queued', async () => {
    const service = await startReal()
    await service.startRun(service.hanging)
    const { body } = await service.get(await service.startRun())
    expect(body).toEqual({ status: 'QUEUED', startedAt: null, branchName: expect.any(String), outputBytes: 0 })
  })
})

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
