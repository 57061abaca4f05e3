import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunOutcome } from '../../src/execution/outcome.ts'
import { resourcesOf } from '../../src/execution/resources.ts'
import { createApi } from '../../src/http/api.ts'
import type { RunQueue } from '../../src/runs/queue.ts'
import { createRun } from '../../src/runs/run.ts'
import type { RunStore } from '../../src/runs/store.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { KEY, PLAIN_ENV, puppetProject, temporaryFolder, until } from '../support/a-local-service.ts'
import { createQueue, openStore, PASSED } from '../support/a-run-store.ts'

// Sends requests without a socket. The tests in local-service/test/interface send them over HTTP.

const RUNS = '/v1/projects/shop/runs'

let api: ReturnType<typeof createApi>
let store: RunStore
let queue: RunQueue
let log: string[]
let folder: string

beforeEach(async () => {
  log = []
  folder = temporaryFolder()
  const shop = puppetProject(join(folder, 'shop'))
  mkdirSync(shop.folder)
  const configuration = readConfiguration({ projects: { shop }, suites: { smoke: { project: 'shop' } } }, folder)
  // Without its folder, every start of the project is refused. So no request starts tests.
  rmSync(shop.folder, { recursive: true })
  store = await openStore()
  queue = createQueue(store, [], 1_000_000)
  const service = {
    queue,
    store,
    log: (text: string) => void log.push(text),
    logError: (text: string) => void log.push(`error: ${text}`),
    outputs: folder,
    serviceEnv: PLAIN_ENV,
    stopGraceMs: 1000,
  }
  api = createApi(configuration, service, KEY)
})

interface Sent {
  readonly method?: string
  readonly target: string
  readonly authorization?: string | undefined
  readonly body?: string | undefined
}

async function send({ method = 'GET', target, body, ...others }: Sent) {
  const authorization = 'authorization' in others ? others.authorization : `Bearer ${KEY}`
  const headers = new Headers(authorization === undefined ? {} : { authorization })
  const init = { method, headers, ...(body === undefined || /^(GET|HEAD)$/.test(method) ? {} : { body }) }
  const response = await api.request(target, init)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

function addRun(outcome = Promise.resolve(PASSED)): string {
  const run = createRun({ projectId: 'shop' })
  queue.add(run, { folder, resources: resourcesOf(run.runId, '/none'), execute: () => outcome })
  return run.runId
}

const ENDPOINTS = [
  ['POST', RUNS],
  ['POST', `${RUNS}/cancel`],
  ['GET', `${RUNS}/1`],
  ['GET', `${RUNS}/1/output?from=0`],
  ['POST', '/v1/testSuite/smoke/run'],
  ['GET', '/v1/testSuiteRun/1/status'],
  ['GET', '/v1/testSuiteRun/1/result'],
  ['GET', '/'],
] as const

it('a client that asks for a RUNNING run learns of its end at once', async () => {
  const ended = Promise.withResolvers<RunOutcome>()
  const runId = addRun(ended.promise)
  const status = async () => JSON.parse((await send({ target: `${RUNS}/${runId}` })).text).status
  const asked = status()
  // Without the wait, the first of these requests has its response before the second.
  await send({ target: '/' })
  ended.resolve(PASSED)
  expect(await asked).toBe('PASSED')
})

describe('what a run has written', () => {
  it('is told also if the store cannot note that it was, as on a full disk', async () => {
    const runId = addRun()
    mkdirSync(join(folder, runId))
    writeFileSync(join(folder, runId, 'output.txt'), 'hello')
    vi.spyOn(store, 'markShown').mockImplementation(() => {
      throw new Error('database or disk is full')
    })
    const { status, text } = await send({ target: `${RUNS}/${runId}/output?from=0` })
    expect([status, JSON.parse(text)]).toEqual([200, { text: 'hello', next: 5 }])
    expect(JSON.parse((await send({ target: `${RUNS}/${runId}` })).text)).toMatchObject({ outputBytes: 5 })
    const problem = 'could not be marked as shown, so post shows its output again: database or disk is full'
    expect(log).toEqual([`error: run ${runId}: ${problem}`])
  })

  it.each([
    ['999', 0],
    ['2', 0],
    ['0', 5],
  ])('is shown by post without a gap, if a client has read from byte %s on', async (from, shownBytes) => {
    const runId = addRun()
    mkdirSync(join(folder, runId))
    writeFileSync(join(folder, runId, 'output.txt'), 'hello')
    await until(() => store.findFinished().length === 1)
    await send({ target: `${RUNS}/${runId}/output?from=${from}` })
    expect(store.findFinished()).toMatchObject([{ runId, shownBytes }])
  })

  it('keeps no client from learning how the run is, whatever tests have put in its place', async () => {
    const runId = addRun()
    symlinkSync(runId, join(folder, runId))
    const { status, text } = await send({ target: `${RUNS}/${runId}` })
    expect([status, JSON.parse(text).outputBytes]).toEqual([200, 0])
  })
})

describe('the key', () => {
  it.each([
    undefined,
    '',
    KEY,
    'Bearer ',
    'Bearer something-else',
    `Bearer ${KEY.slice(0, -1)}`,
    `Bearer ${KEY}x`,
    `Bearer ${KEY} x`,
    `Basic ${KEY}`,
  ])('is not %j, so every endpoint responds with 401', async (authorization) => {
    for (const [method, target] of ENDPOINTS) {
      const { status, text, headers } = await send({ method, target, authorization, body: '{' })
      expect([target, status, headers.get('www-authenticate')]).toEqual([target, 401, 'Bearer'])
      expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/API key is missing or invalid/) })
    }
  })

  it.each([`bearer ${KEY}`, `BEARER   ${KEY}  `])('is accepted as %j', async (authorization) => {
    expect((await send({ target: '/', authorization })).status).toBe(404)
  })
})

describe('a path', () => {
  it.each([
    ['GET', '/'],
    ['POST', `${RUNS}/`],
    ['POST', '/v1/projects//runs'],
    ['GET', RUNS],
    ['DELETE', `${RUNS}/1`],
    ['POST', '/v1/testSuiteRun/1/status'],
    ['POST', '/v2/projects/shop/runs'],
  ])('is no endpoint: %s %s', async (method, target) => {
    const { status, text } = await send({ method, target })
    const error = `There is no endpoint ${method} "${target}". docs/openapi.yaml describes the endpoints.`
    expect([status, JSON.parse(text)]).toEqual([404, { error }])
  })

  it.each([
    ['a%2Fb', 'a/b'],
    ['%F0%9F%90%99', '🐙'],
    ['a+b', 'a+b'],
    ['%2525', '%25'],
    ['__proto__', '__proto__'],
    // No valid percent-encoding.
    ['%', '%'],
    ['%FF', '%FF'],
    ['a%zz', 'a%zz'],
  ])('has the id %s, which is %j', async (encoded, id) => {
    const { status, text } = await send({ target: `${RUNS}/${encoded}` })
    expect([status, JSON.parse(text)]).toEqual([404, { error: `There is no run ${JSON.stringify(id)} here.` }])
    // The log has only what starts or cancels a run.
    expect(log).toEqual([])
  })
})

it.each([
  ['?from=-1', '"-1"'],
  ['?from=x', '"x"'],
  ['', '""'],
])('a part of the output begins at a byte, and not at %j', async (query, given) => {
  const run = createRun({ projectId: 'shop' })
  store.save(run)
  const { status, text } = await send({ target: `${RUNS}/${run.runId}/output${query}` })
  const error = `"from" must be the number of a byte, such as ?from=0, got ${given}.`
  expect([status, JSON.parse(text)]).toEqual([400, { error }])
})

it('a start is refused if the folder of the project is not there any more, and the log says so', async () => {
  const { status, text } = await send({ method: 'POST', target: RUNS, body: '{}' })
  const what = `${join(folder, 'shop')} was moved or removed`
  const error = `Project "shop" has no folder any more: ${what}. Put it back, or start the service again for another folder.`
  expect([status, JSON.parse(text)]).toEqual([404, { error }])
  expect(log).toEqual([`refused POST "${RUNS}" with 404: ${error}`])
})

describe('a body', () => {
  it.each(['', '{', 'branch=main', '[]', 'null'])('is refused: %j', async (body) => {
    const error = 'The body is not a JSON object.'
    const { status, text } = await send({ method: 'POST', target: RUNS, body })
    expect([status, JSON.parse(text)]).toEqual([400, { error }])
    expect(log).toEqual([`refused POST "${RUNS}" with 400: ${error}`])
  })

  it.each([RUNS, '/v1/testSuite/smoke/run'])('of more than 1 MiB is refused: %s', async (target) => {
    const sendBytes = (bytes: number) => send({ method: 'POST', target, body: `{}${' '.repeat(bytes - 2)}` })
    const error = 'The body is larger than 1 MiB.'
    const { status, text } = await sendBytes(2 ** 20 + 1)
    expect([status, JSON.parse(text)]).toEqual([400, { error }])
    expect((await sendBytes(2 ** 20)).text).toContain('has no folder any more')
    expect(log[0]).toBe(`refused POST "${target}" with 400: ${error}`)
  })
})

describe('a request', () => {
  it('gets a documented status, whatever it asks for, and one sentence if it is refused', async () => {
    const anyId = fc.oneof(fc.string(), fc.constantFrom('..', '.', '%', '%00', '%2e%2e', '__proto__', 'constructor'))
    const anyTarget = fc.oneof(
      fc.array(anyId, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
      fc.constantFrom(RUNS, `${RUNS}/cancel`, '/v1/testSuite/smoke/run'),
      anyId.map((id) => `${RUNS}/${id}`),
      anyId.map((id) => `/v1/testSuiteRun/${id}/result`),
      fc.string(),
    )
    const anyBody = fc.oneof(fc.string(), fc.json(), fc.constant(undefined))
    const methods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')
    await fc.assert(
      fc.asyncProperty(methods, anyTarget, anyBody, async (method, target, body) => {
        const { status, text } = await send({ method, target, body })
        expect([200, 400, 404]).toContain(status)
        if (status === 200 || method === 'HEAD') return
        expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/^[^\r\n]+\.$/) })
      }),
      { numRuns: 1_000 },
    )
    expect(log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  it('that fails gets the status 500, and the log has the place in the code', async () => {
    store.close()
    const { status, text } = await send({ target: `${RUNS}/1` })
    const error = 'The service failed to handle this request; its log says why.'
    expect([status, JSON.parse(text)]).toEqual([500, { error }])
    expect(log).toEqual([expect.stringMatching(/^error: a request failed: Error: database is not open\n +at /)])
  })
})
