import { describe, expect, it } from 'vitest'
import type { Target } from '../../src/model/run.ts'
import { openService } from '../../src/service/client.ts'
import { render } from '../../src/text/safe-text.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { closedPort, json, type RecordingServer, recordingServer, tcpServer } from '../support/recording-server.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { failureOf, patient } from '../support/service-requests.ts'

const PROJECT: Target = { kind: 'project', id: 'web-shop' }
const SUITE: Target = { kind: 'test-suite', id: 'suite 1' }
const KEY = 'sk-live-0123456789'

async function open(baseUrl: string, target = PROJECT, clock = new FakeClock()) {
  const lines: string[] = []
  const address = { baseUrl: new URL(baseUrl), apiKey: KEY, target, proxies: {} }
  const service = await openService(address, clock, { debug: (line) => lines.push(render(line)) })
  return { service, lines }
}

const requestsOf = ({ received }: RecordingServer) => received.map(({ method, target }) => `${method} ${target}`)

it.each([
  ['https://tests.example.com', 300_000],
  ['http://[::1]:8080', 30_000],
  ['https://localhost', 30_000],
])('requests to %s may fail for %i ms', async (address, limitMs) => {
  expect((await open(address)).service.failureLimitMs).toBe(limitMs)
})

describe('the debug log', () => {
  async function linesOf(origin: string, runId = 'r-1', options = patient()): Promise<string[]> {
    const { service, lines } = await open(origin)
    await service.get(runId, options)
    return lines
  }

  it('has one line for each response, with nothing of its headers and its body, and without the key', async () => {
    const SECRET = { status: 'of a body', error: 'of a body' }
    for (const status of [200, 503]) {
      const server = await recordingServer(json(SECRET, status, { 'x-other': 'of a header' }))
      const line = `GET /v1/projects/web-shop/runs/***%20a%0A%3A%3Aerror%3A%3Ab: status ${status}, 0 ms`
      expect(await linesOf(server.origin, `${KEY} a\n::error::b`)).toEqual([line])
    }
  })

  it('has one line for each failure, with its reason', async () => {
    const GET = 'GET /v1/projects/web-shop/runs/r-1'
    const port = await closedPort()
    const refused = `not-sent (connect ECONNREFUSED 127.0.0.1:${port})`
    expect(await linesOf(`http://127.0.0.1:${port}`)).toEqual([`${GET}: ${refused}, 0 ms`])
    const { origin } = await recordingServer(json({}), selfSignedCertificate())
    expect(await linesOf(origin)).toEqual([expect.stringMatching(/not-sent \(self-signed certificate; .*\), 0 ms$/)])
    expect(await linesOf(origin, 'r-1', { signal: AbortSignal.abort() })).toEqual([
      `${GET}: not-sent (the step was aborted before the request was sent), 0 ms`,
    ])
  })
})

it.each([PROJECT, SUITE])('a start uses a connection of its own: $kind', async (target) => {
  const responses = [
    'HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n',
  ]
  // The service closes the connection and sends no second response, as services do after too many requests.
  const server = await tcpServer((socket) => {
    socket.once('data', () => {
      socket.write(responses.shift() ?? '')
      socket.on('data', () => socket.destroy())
    })
  })
  const { service } = await open(`http://127.0.0.1:${server.port}`, target)
  const [first, second] = [await service.start({}, patient()), await service.start({}, patient())]
  expect([first, second]).toMatchObject([{ status: 429 }, { status: 401 }])
  expect(server.connections).toHaveLength(2)
})

describe('the client of a project', () => {
  async function project(response: string) {
    const server = await recordingServer((http) => http.end(response))
    return { server, ...(await open(server.origin)) }
  }

  it('starts a run with its fields, and without those that were not given', async () => {
    const { server, service } = await project('{"runId":"r-1"}')
    const parameters = {
      branch: 'b',
      environment: 'e',
      frameworkProject: 'f',
      envOverrides: { A: '1' },
      autofix: false,
    }
    for (const given of [parameters, {}]) expect(await service.start(given, patient())).toBe('r-1')
    const { frameworkProject: frameworkProjectName, ...others } = parameters
    expect(server.received.map(({ body }) => JSON.parse(body))).toEqual([{ ...others, frameworkProjectName }, {}])
  })

  it('reads the output from a byte on', async () => {
    const { server, service } = await project('{"text":"adds","next":9}')
    expect(await service.output?.('r-1', 5, patient())).toEqual({ text: 'adds', next: 9 })
    expect(requestsOf(server)).toEqual(['GET /v1/projects/web-shop/runs/r-1/output?from=5'])
  })

  it('cancels by posting the run as the selector. The service confirms it only if it lists this run', async () => {
    const { server, service } = await project('{"cancelled":[{"runId":"r-2"},{"runId":"r-11"}]}')
    expect(await service.cancel?.('r-11', patient())).toBe(true)
    const body = '{"where":{"runId":"r-11"}}'
    expect(server.received).toMatchObject([{ method: 'POST', target: '/v1/projects/web-shop/runs/cancel', body }])
    expect(await service.cancel?.('r-1', patient())).toEqual({ failure: true, kind: 'not-listed' })
  })
})

describe('the client of a test suite', () => {
  async function suite(set: { status?: unknown; statuses?: readonly string[] } = {}) {
    const server = await recordingServer((response, request) => {
      const results = (set.statuses ?? []).map((status, index) => ({ testName: `test ${index}`, status }))
      const body = request.target.endsWith('/status') ? { status: set.status } : { testSuiteRunId: 's-1', results }
      json(body)(response, request)
    })
    const { service } = await open(server.origin, SUITE)
    return { server, service, set, get: () => service.get('s-1', patient()) }
  }

  it('starts with the branch as metadata, and without the fields that were not given', async () => {
    const { server, service } = await suite()
    const parameters = { branch: 'main', environment: 'staging', envOverrides: { A: '1' } }
    expect(await service.start(parameters, patient())).toBe('s-1')
    await service.start({}, patient())
    expect(requestsOf(server)[0]).toBe('POST /v1/testSuite/suite%201/run')
    expect(server.received.map(({ body }) => JSON.parse(body))).toEqual([
      { environment: 'staging', variableOverrides: { A: '1' }, metadata: { git: { branch: 'main' } } },
      {},
    ])
  })

  it.each([
    ['RUNNING', { status: 'RUNNING', rawStatus: 'RUNNING' }],
    ['x'.repeat(501), { status: 'UNKNOWN', rawStatus: `${'x'.repeat(499)}…` }],
  ])('requests only the status while it is not FINISHED (%#)', async (status, run) => {
    const { server, get } = await suite({ status })
    for (let poll = 0; poll < 2; poll++) expect(await get()).toEqual(run)
    expect(requestsOf(server)).toEqual(Array(2).fill('GET /v1/testSuiteRun/s-1/status'))
  })

  it('gives its two requests the time limit of one', async () => {
    const clock = new FakeClock()
    const asked = Promise.withResolvers<void>()
    const server = await recordingServer(async (response, request) => {
      if (request.target.endsWith('/result')) return asked.resolve()
      await clock.run(clock.sleep(20_000))
      json({ status: 'FINISHED' })(response, request)
    })
    const { service } = await open(server.origin, SUITE, clock)
    await clock.run(clock.sleep(60_000))
    const poll = failureOf(service.get('s-1', { ...patient(), limitMs: 60_000 }))
    await asked.promise
    const reason = 'no complete response within 10 s'
    expect(await clock.run(poll)).toEqual({ failure: true, kind: 'no-response', reason })
    expect(clock.now()).toBe(60_000 + 30_000)
  })

  it('leaves its second request a millisecond if the machine was suspended during the first request', async () => {
    let suspendedMs = 0
    class SuspendedClock extends FakeClock {
      override now(): number {
        return super.now() + suspendedMs
      }
    }
    const clock = new SuspendedClock()
    const asked = Promise.withResolvers<void>()
    const server = await recordingServer((response, request) => {
      if (request.target.endsWith('/result')) return asked.resolve()
      suspendedMs = 60_000
      json({ status: 'FINISHED' })(response, request)
    })
    const { service } = await open(server.origin, SUITE, clock)
    const poll = failureOf(service.get('s-1', patient()))
    await asked.promise
    expect(await clock.run(poll)).toMatchObject({ reason: expect.stringMatching(/ within 0\.001 s$/) })
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

  it.each<[readonly string[], string]>([
    [[], 'PASSED'], // no test case ran, so the conclusion is no-tests
    [['PASSED', 'FLAKY', 'SKIPPED'], 'PASSED'],
    [['PASSED', 'FAILED'], 'FAILED'],
    [['PASSED', 'CANCELLED'], 'CANCELLED'],
    [['CANCELLED', 'FAILED'], 'FAILED'],
    [['PASSED', 'QUARANTINED'], 'FAILED'],
    [['CANCELLED', 'QUARANTINED'], 'CANCELLED'],
    [['CANCELLED', 'TIMEDOUT'], 'FAILED'],
    [['passed'], 'FAILED'],
    [['FAILED', 'RUNNING'], 'RUNNING'],
    [['FAILED', 'QUEUED'], 'RUNNING'],
    [['FAILED', 'RETRYING'], 'RUNNING'],
  ])('counts results of %j as %s', async (statuses, verdict) => {
    const { get, set } = await suite({ status: 'FINISHED', statuses })
    expect(await get()).toMatchObject({ status: verdict, rawStatus: verdict })
    // A poll remembers nothing of the polls before.
    set.statuses = ['PASSED', 'PASSED']
    expect(await get()).toMatchObject({ status: 'PASSED' })
  })

  it('has no cancel', async () => {
    expect((await suite()).service.cancel).toBeUndefined()
  })
})
