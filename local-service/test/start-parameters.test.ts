import { describe, expect, it } from 'vitest'
import { PLAIN_ENV, puppet, puppetProject, type StartedService, startPuppetService } from './a-local-service.ts'

async function titlesOf(service: StartedService, body: object): Promise<string[]> {
  const { results } = await service.waitFor(await service.startRun(body))
  return results?.testCases.map(({ title }) => title.replace('puppet > ', '')) ?? []
}

describe('what a start request asks for', () => {
  it.each([
    [{}, []],
    [{ frameworkProjectName: 'unit' }, ['--project=unit']],
    [{ runGroupName: 'unit' }, ['--project=unit']],
    [{ frameworkProjectName: 'checkout', runGroupName: 'unit' }, ['--project=checkout']],
    [{ frameworkProjectName: ' Mobile Safari , unit,' }, ['--project=Mobile Safari', '--project=unit']],
    [{ frameworkProjectName: '--watch' }, ['--project=--watch']],
    [{ frameworkProjectName: '$(touch x); `y`' }, ['--project=$(touch x); `y`']],
  ])('reaches the test runner as --project: %j', async (body, expected) => {
    const service = await startPuppetService()
    const given = await titlesOf(service, { ...body, ...puppet({ tellsArguments: true }) })
    expect(given[0]).toBe('run')
    expect(given.filter((argument) => argument.startsWith('--project'))).toEqual(expected)
  })

  it.each([
    [{}, 'STAGE=of the default environment'],
    [{ environment: 'production' }, 'STAGE=of production'],
    [{ environmentName: 'production' }, 'STAGE=of production'],
    [{ environment: 'production', environmentName: 'default' }, 'STAGE=of production'],
    [{ environment: 'empty' }, 'STAGE=of the machine'],
    [{ envOverrides: { STAGE: 'of the request' } }, 'STAGE=of the request'],
    [{ envOverrides: { STAGE: 5 } }, 'STAGE=5'],
    [{ envOverrides: { STAGE: '' } }, 'STAGE='],
  ])("sets the test process's variables: %j", async (body, expected) => {
    const environments = {
      default: { STAGE: 'of the default environment' },
      production: { STAGE: 'of production' },
      empty: {},
    }
    const project = { ...puppetProject(), environments, defaultEnvironment: 'default' }
    const env = { ...PLAIN_ENV, STAGE: 'of the machine' }
    const service = await startPuppetService({ projects: { 'web-shop': project } }, { env })
    const envOverrides = {
      ...('envOverrides' in body ? body.envOverrides : {}),
      ...puppet({ tellsVariables: ['STAGE'] }).envOverrides,
    }
    expect(await titlesOf(service, { ...body, envOverrides })).toEqual([expected])
  })

  it('does not reach the marker by which the run is stopped', async () => {
    const service = await startPuppetService()
    const { envOverrides } = puppet({ tellsVariables: ['LOCAL_SERVICE_RUN_ID'] })
    const runId = await service.startRun({ envOverrides: { ...envOverrides, LOCAL_SERVICE_RUN_ID: 'another' } })
    expect((await service.waitFor(runId)).results?.testCases).toMatchObject([
      { title: `puppet > LOCAL_SERVICE_RUN_ID=${runId}` },
    ])
  })

  it('meets an environment fit for tests', async () => {
    const service = await startPuppetService({}, { env: { ...PLAIN_ENV, GIT_DIR: '/elsewhere/.git' } })
    expect(await titlesOf(service, puppet({ tellsVariables: ['CI', 'GIT_DIR'] }))).toEqual([
      'CI=true',
      'GIT_DIR=undefined',
    ])
  })
})

describe('a test suite', () => {
  const suites = {
    smoke: {
      project: 'web-shop',
      name: 'Smoke test',
      frameworkProjects: ['unit', 'checkout'],
      files: ['cart', 'bill'],
      titles: '^cart',
    },
    plain: { project: 'web-shop' },
  }

  async function resultOf(service: StartedService, suiteId: string, body?: object) {
    const started = await service.send('POST', `/v1/testSuite/${suiteId}/run`, body)
    const run = `/v1/testSuiteRun/${started.body.testSuiteRunId}`
    while ((await service.send('GET', `${run}/status`)).body.status === 'RUNNING');
    return (await service.send('GET', `${run}/result`)).body
  }

  const variables = (actions: object) => ({ variableOverrides: puppet(actions).envOverrides })

  it('is a named selection of a project', async () => {
    const service = await startPuppetService({ suites })
    const { testSuiteName, results } = await resultOf(service, 'smoke', variables({ tellsArguments: true }))
    expect(testSuiteName).toBe('Smoke test')
    const given = results.map(({ testName }: { testName: string }) => testName.replace('puppet > ', ''))
    expect(given).toEqual(
      expect.arrayContaining(['cart', 'bill', '--project=unit', '--project=checkout', '--testNamePattern=^cart']),
    )
  })

  it('has its id as its name if it was given none', async () => {
    const service = await startPuppetService({ suites })
    expect((await resultOf(service, 'plain')).testSuiteName).toBe('plain')
  })

  it('gives each test the same id in every run, and another one to every test', async () => {
    const service = await startPuppetService({ suites })
    const body = variables({
      cases: [
        ['a', 'passed'],
        ['b', 'passed'],
      ],
    })
    const first = await resultOf(service, 'plain', body)
    expect(await resultOf(service, 'plain', body)).toEqual(first)
    expect(new Set(first.results.map(({ testId }: { testId: string }) => testId)).size).toBe(2)
  })

  it.each([
    ['a failing test', { cases: [['a', 'failed']], exitCode: 1 }, ['FAILED']],
    [
      'an unfinished test',
      {
        cases: [
          ['a', 'passed'],
          ['b', 'pending'],
        ],
        exitCode: 1,
      },
      ['PASSED', 'ERROR'],
    ],
    ['a skipped test', { cases: [['a', 'skipped']] }, ['SKIPPED']],
    ['passing tests in a run that fails', { exitCode: 1 }, ['PASSED', 'FAILED']],
    ['no test at all', { cases: [], exitCode: 1 }, ['FAILED']],
    ['no report', { report: 'none' }, ['ERROR']],
  ])('never reads as passed because of %s', async (_case, actions, statuses) => {
    const service = await startPuppetService({ suites })
    const { results } = await resultOf(service, 'plain', variables(actions))
    expect(results.map(({ status }: { status: string }) => status)).toEqual(statuses)
  })

  it('is in progress while it is running or queued', async () => {
    const service = await startPuppetService({ suites, concurrency: 1 })
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
