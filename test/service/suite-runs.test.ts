import { describe, expect, it } from 'vitest'
import { suiteRuns } from '../../src/service/suite-runs.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { json, recordingServer } from '../support/recording-server.ts'
import { failureOf, patient, senderTo } from '../support/service-requests.ts'

describe('the client of a test suite', () => {
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

  it.each([
    ['RUNNING', 'RUNNING'],
    ['PAUSED', 'UNKNOWN'],
  ])('requests only the status while it is %s', async (rawStatus, status) => {
    const { targets, get } = await suite({ status: rawStatus })
    for (let poll = 0; poll < 2; poll++) expect(await get()).toEqual({ status, rawStatus })
    expect(targets()).toEqual(Array(2).fill('GET /v1/testSuiteRun/s-1/status'))
  })

  it('truncates a very long status', async () => {
    const { get } = await suite({ status: 'x'.repeat(501) })
    expect(await get()).toMatchObject({ status: 'UNKNOWN', rawStatus: `${'x'.repeat(499)}…` })
  })

  it('gives its two requests the time limit of one', async () => {
    const clock = new FakeClock()
    const asked = Promise.withResolvers<void>()
    const server = await recordingServer(async (response, request) => {
      if (request.target.endsWith('/result')) return asked.resolve()
      await clock.run(clock.sleep(20_000))
      json({ status: 'FINISHED' })(response, request)
    })
    const runs = suiteRuns(await senderTo(server.origin, { clock }), 'suite 1', clock)
    const poll = failureOf(runs.get('s-1', { ...patient(), limitMs: 60_000 }))
    await asked.promise
    expect(await clock.run(poll)).toEqual({
      failure: true,
      kind: 'no-response',
      reason: 'no complete response within 10 s',
    })
    expect(clock.now()).toBe(30_000)
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

  const UNFINISHED = ['RUNNING', 'QUEUED', 'RETRYING']
  it.each(UNFINISHED)('counts a finished suite with a result that is %s as RUNNING', async (unfinished) => {
    const { get, set } = await suite({ status: 'FINISHED', statuses: ['FAILED', unfinished] })
    for (let poll = 0; poll < 2; poll++) expect(await get()).toMatchObject({ status: 'RUNNING', rawStatus: 'RUNNING' })
    set.statuses = ['PASSED', 'PASSED']
    expect(await get()).toMatchObject({ status: 'PASSED' })
  })

  it('fails if the status is not a text', async () => {
    const { get } = await suite({ status: 7 })
    expect(await failureOf(get())).toMatchObject({ kind: 'invalid-response', got: { words: '7' } })
  })

  it('has no cancel', async () => {
    const { runs } = await suite()
    expect(runs.cancel).toBeUndefined()
  })
})
