import { describe, expect, it } from 'vitest'
import { suiteRuns } from '../../src/service/suite-runs.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

/** A suite whose status and results are what the test last set them to. */
async function suite(set: { status?: unknown; statuses?: readonly string[] } = {}) {
  const server = await recordingServer((response, request) => {
    if (request.target.endsWith('/run')) return json({ testSuiteRunId: 's-1', projectId: 'p' })(response, request)
    if (request.target.endsWith('/status')) return json({ status: set.status })(response, request)
    const results = (set.statuses ?? []).map((status, index) => ({
      testId: `t-${index}`,
      testName: `test ${index}`,
      status,
    }))
    return json({ testSuiteName: 'Checkout', results })(response, request)
  })
  const clock = new FakeClock()
  const runs = suiteRuns(await sendJsonTo(server.origin, { clock }), 'suite 1', clock)
  const targets = () => server.received.map(({ method, target }) => `${method} ${target}`)
  return { server, targets, clock, runs, set }
}

describe('start', () => {
  it('posts the environment, the overrides and the branch under the names of this workflow', async () => {
    const { server, runs } = await suite()
    const parameters = { branch: 'main', environment: 'staging', envOverrides: { A: '1' } }
    expect(await runs.start(parameters, patient())).toBe('s-1')
    expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/testSuite/suite%201/run' }])
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      environment: 'staging',
      variableOverrides: { A: '1' },
      metadata: { git: { branch: 'main' } },
    })
  })

  it('posts an empty object if nothing was given', async () => {
    const { server, runs } = await suite()
    await runs.start({}, patient())
    expect(server.received[0]?.body).toBe('{}')
  })
})

describe('get', () => {
  it('asks for the status alone while the suite runs', async () => {
    const { targets, runs } = await suite({ status: 'RUNNING' })
    const running = { status: 'RUNNING', rawStatus: 'RUNNING', hasFinishedAt: false }
    expect(await runs.get('s-1', patient())).toEqual(running)
    expect(await runs.get('s-1', patient())).toEqual(running)
    expect(targets()).toEqual(['GET /v1/testSuiteRun/s-1/status', 'GET /v1/testSuiteRun/s-1/status'])
  })

  it('asks for the results once the suite has finished, and for no status any more', async () => {
    const { targets, runs, set } = await suite({ status: 'RUNNING', statuses: ['PASSED', 'RUNNING'] })
    await runs.get('s-1', patient())
    set.status = 'FINISHED'
    await runs.get('s-1', patient())
    await runs.get('s-1', patient())
    expect(targets().map((target) => target.split('/').at(-1))).toEqual(['status', 'status', 'result', 'result'])
  })

  it('makes a run of a finished suite, without durations', async () => {
    const { runs } = await suite({ status: 'FINISHED', statuses: ['PASSED', 'ERROR'] })
    const run = await runs.get('s-1', patient())
    expect(run).toEqual({
      status: 'FAILED',
      rawStatus: 'FAILED',
      hasFinishedAt: true,
      testCases: [
        { title: 'test 0', rawStatus: 'PASSED', outcome: 'passed', ran: true },
        { title: 'test 1', rawStatus: 'ERROR', outcome: 'failed', ran: true },
      ],
      responseText: JSON.stringify({
        testSuiteName: 'Checkout',
        results: [
          { testId: 't-0', testName: 'test 0', status: 'PASSED' },
          { testId: 't-1', testName: 'test 1', status: 'ERROR' },
        ],
      }),
    })
  })

  it.each([
    [[], 'PASSED'], // in which no test case ran: the gate makes it no-tests
    [['PASSED', 'PASSED'], 'PASSED'],
    [['PASSED', 'FLAKY', 'SKIPPED'], 'PASSED'],
    [['SKIPPED'], 'PASSED'],
    [['PASSED', 'FAILED'], 'FAILED'],
    [['PASSED', 'ERROR'], 'FAILED'],
    [['PASSED', 'CANCELLED'], 'CANCELLED'],
    [['CANCELLED'], 'CANCELLED'],
    [['CANCELLED', 'FAILED'], 'FAILED'],
    [['PASSED', 'QUARANTINED'], 'FAILED'],
    [['CANCELLED', 'QUARANTINED'], 'FAILED'],
    [['passed'], 'FAILED'],
  ])('counts results of %j as %s', async (statuses, verdict) => {
    const { runs } = await suite({ status: 'FINISHED', statuses })
    expect(await runs.get('s-1', patient())).toMatchObject({ status: verdict, rawStatus: verdict })
  })

  it('waits for a suite with any other status', async () => {
    const { runs } = await suite({ status: 'PAUSED' })
    expect(await runs.get('s-1', patient())).toEqual({
      status: 'UNKNOWN',
      rawStatus: 'PAUSED',
      hasFinishedAt: false,
    })
  })

  it.each(['RUNNING', 'QUEUED', 'RETRYING'])('waits for 30 s for a result that is still %s', async (unfinished) => {
    const { clock, runs, set } = await suite({ status: 'FINISHED', statuses: ['PASSED', unfinished] })
    expect(await runs.get('s-1', patient())).toMatchObject({ status: 'RUNNING' })
    await clock.run(clock.sleep(29_999))
    expect(await runs.get('s-1', patient())).toMatchObject({ status: 'RUNNING' })
    set.statuses = ['PASSED', 'PASSED']
    expect(await runs.get('s-1', patient())).toMatchObject({ status: 'PASSED' })
  })

  it('fails a suite whose results are unfinished after 30 s', async () => {
    const { clock, runs } = await suite({ status: 'FINISHED', statuses: ['CANCELLED', 'RUNNING'] })
    await runs.get('s-1', patient())
    await clock.run(clock.sleep(30_000))
    expect(await runs.get('s-1', patient())).toMatchObject({
      status: 'FAILED',
      testCases: [{ rawStatus: 'CANCELLED' }, { rawStatus: 'RUNNING', ran: false }],
    })
  })

  it('counts the 30 s from the end of the suite', async () => {
    const { clock, runs, set } = await suite({ status: 'RUNNING', statuses: ['RUNNING'] })
    await runs.get('s-1', patient())
    await clock.run(clock.sleep(600_000))
    set.status = 'FINISHED'
    expect(await runs.get('s-1', patient())).toMatchObject({ status: 'RUNNING' })
  })

  it('fails if the status is none', async () => {
    const { runs } = await suite({ status: 7 })
    expect(await failureOf(runs.get('s-1', patient()))).toMatchObject({ kind: 'invalid-response', got: '7' })
  })
})

it('has no cancel', async () => {
  const { runs } = await suite()
  expect(runs.cancel).toBeUndefined()
})
