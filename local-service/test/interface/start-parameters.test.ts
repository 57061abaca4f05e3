import { describe, expect, it } from 'vitest'
import { describeSuiteResult } from '../../src/http/response-bodies.ts'
import { createRun, finishRun } from '../../src/runs/run.ts'
import { PLAIN_ENV, puppet, puppetProject, type StartedService, startService } from '../support/a-local-service.ts'

async function titlesOf(service: StartedService, body: object): Promise<string[]> {
  const { results } = await service.run(body)
  return results?.testCases.map(({ title }) => title.replace('puppet > ', '')) ?? []
}

describe('what a start request asks for', () => {
  it.each([
    [{}, []],
    [{ runGroupName: 'unit' }, ['--project=unit']],
    [{ frameworkProjectName: 'checkout', runGroupName: 'unit' }, ['--project=checkout']],
    [
      { frameworkProjectName: ' Mobile Safari , --watch,$(touch x); `y`,' },
      ['--project=Mobile Safari', '--project=--watch', '--project=$(touch x); `y`'],
    ],
  ])('reaches the test runner as --project: %j', async (body, expected) => {
    const service = await startService()
    const given = await titlesOf(service, { ...body, ...puppet({ tellsArguments: true }) })
    expect(given[0]).toBe('--run')
    expect(given.filter((argument) => argument.startsWith('--project'))).toEqual(expected)
  })

  it.each([
    [{}, {}, ['of the default environment', 'of the machine']],
    [{ environmentName: 'production' }, {}, ['of production', '8080']],
    [{ environment: 'production', environmentName: 'default' }, {}, ['of production', '8080']],
    [{ environment: 'empty' }, {}, ['of the machine', 'of the machine']],
    [{ environment: 'production' }, { STAGE: '', PORT: 5 }, ['', '5']],
  ])("sets the test process's variables: %j, %j", async (body, overrides, [stage, port]) => {
    const environments = {
      default: { STAGE: 'of the default environment' },
      production: { STAGE: 'of production', PORT: '8080' },
      empty: {},
    }
    const project = { ...puppetProject(), environments }
    const env = { ...PLAIN_ENV, STAGE: 'of the machine', PORT: 'of the machine' }
    const service = await startService({ projects: { 'web-shop': project }, env })
    const { envOverrides } = puppet({ tellsVariables: ['STAGE', 'PORT'] })
    const given = await titlesOf(service, { ...body, envOverrides: { ...overrides, ...envOverrides } })
    expect(given).toEqual([`STAGE=${stage}`, `PORT=${port}`])
  })

  it('cannot replace the marker by which the run is stopped', async () => {
    const service = await startService()
    const { envOverrides } = puppet({ tellsVariables: ['LOCAL_SERVICE_RUN_ID'] })
    const runId = await service.startRun({ envOverrides: { ...envOverrides, LOCAL_SERVICE_RUN_ID: 'another' } })
    const title = `puppet > LOCAL_SERVICE_RUN_ID=${runId}`
    expect(await service.waitFor(runId)).toMatchObject({ results: { testCases: [{ title }] } })
  })
})

describe('a test suite', () => {
  const suites = {
    smoke: {
      project: 'web-shop',
      name: 'Smoke test',
      frameworkProjects: ['unit', 'checkout'],
      files: ['cart', 'bill'],
    },
    plain: { project: 'web-shop' },
  }

  const variables = (actions: object) => ({ variableOverrides: puppet(actions).envOverrides })

  it('is a named selection of a project', async () => {
    const service = await startService({ suites })
    const { result } = await service.runSuite('smoke', variables({ tellsArguments: true }))
    expect(result.body.testSuiteName).toBe('Smoke test')
    const given = result.body.results.map(({ testName }: { testName: string }) => testName.replace('puppet > ', ''))
    expect(given).toEqual(expect.arrayContaining(['cart', 'bill', '--project=unit', '--project=checkout']))
  })

  it.each([
    ['a failing test', 'FAILED', ['FAILED'], ['FAILED']],
    ['a test that took too long', 'FAILED', ['TIMEDOUT', 'FLAKY'], ['FAILED', 'FLAKY']],
    ['an unfinished test', 'FAILED', ['PASSED', 'INTERRUPTED'], ['PASSED', 'ERROR']],
    ['a skipped test', 'PASSED', ['SKIPPED'], ['SKIPPED']],
    ['passing tests in a run that fails', 'FAILED', ['PASSED'], ['PASSED', 'ERROR']],
    ['no test at all', 'CANCELLED', [], ['ERROR']],
  ] as const)('never reads as passed because of %s', (_case, outcome, cases, statuses) => {
    const run = createRun({ projectId: 'web-shop', suite: 'plain' })
    finishRun(run, { status: outcome, testCases: cases.map((status) => ({ title: 'adds', status, durationMs: 1 })) })
    expect(describeSuiteResult(run)).toMatchObject({ results: statuses.map((status) => ({ status })) })
  })

  it('is in progress while it is running or queued', async () => {
    const service = await startService({ suites })
    const body = variables({ hangs: true })
    const ids: string[] = []
    for (const _ of [1, 2]) ids.push((await service.send('POST', '/v1/testSuite/plain/run', body)).body.testSuiteRunId)
    for (const [index, status] of ['RUNNING', 'QUEUED'].entries()) {
      const run = `/v1/testSuiteRun/${ids[index]}`
      expect((await service.send('GET', `${run}/status`)).body).toEqual({ status: 'RUNNING' })
      expect((await service.send('GET', `${run}/result`)).body.results).toMatchObject([{ testName: 'plain', status }])
    }
  })
})
