import { hash, timingSafeEqual } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { messageOf } from '../../../src/text/untrusted.ts'
import { outputBytes, readOutput } from '../execution/output.ts'
import type { RunQueue } from '../runs/queue.ts'
import { Refusal, refuse } from '../runs/refusal.ts'
import { isFinished, type Run } from '../runs/run.ts'
import { type ServiceContext, startRun } from '../runs/start.ts'
import type { Configuration } from '../settings/configuration.ts'
import { whyCannotSelect } from '../settings/project.ts'
import { quote, quoteAll } from '../text.ts'
import { parseCancel, parseStart, parseSuiteStart } from './request-bodies.ts'
import { describeRun, describeSuiteResult } from './response-bodies.ts'

const STATUSES = { invalid: 400, unauthorized: 401, 'not-found': 404, failed: 500 } as const

const RUNS = '/v1/projects/:projectId/runs'
const SUITE_RUN = '/v1/testSuiteRun/:runId'

/** The variables of a start are far smaller. */
const BODY_LIMIT_BYTES = 1024 * 1024

export function createRequestListener(
  configuration: Configuration,
  service: ServiceContext,
  key: string,
): RequestListener {
  return getRequestListener(createApi(configuration, service, key).fetch, {
    overrideGlobalObjects: false,
    // If nobody has begun to read a body, Node reads it. So the response reaches a client that is still sending.
    autoCleanupIncoming: false,
    errorHandler: (error) => Response.json({ error: `The request is invalid: ${messageOf(error)}.` }, { status: 400 }),
  })
}

/** Serves the interface over the projects and runs of this service. The body of a request is read only with a valid key. */
export function createApi({ projects, suites }: Configuration, service: ServiceContext, key: string): Hono {
  const { log, logError } = service
  const api = new Hono()
  api.onError((error, c) => {
    if (!(error instanceof Refusal)) {
      logError(`a request failed: ${error.stack}`)
      return c.json({ error: 'The service failed to handle this request; its log says why.' }, 500)
    }
    const status = STATUSES[error.kind]
    if (c.req.method === 'POST') log(`refused POST ${quote(c.req.path)} with ${status}: ${error.message}`)
    if (status === 401) c.header('www-authenticate', 'Bearer')
    return c.json({ error: error.message }, status)
  })
  api.use(async ({ req }, next) => {
    if (isAuthorized(req.header('authorization'), key)) return next()
    refuse('unauthorized', 'The API key is missing or invalid. Send the header "Authorization: Bearer <API_KEY>".')
  })
  const onError = () => refuse('invalid', `The body is larger than ${BODY_LIMIT_BYTES / 2 ** 20} MiB.`)
  api.on('POST', '*', bodyLimit({ maxSize: BODY_LIMIT_BYTES, onError }))
  addRuns(api, projects, service)
  addSuiteRuns(api, suites, service)
  api.notFound(({ req: { method, path } }) =>
    refuse('not-found', `There is no endpoint ${method} ${quote(path)}. docs/openapi.yaml describes the endpoints.`),
  )
  return api
}

function addRuns(api: Hono, projects: Configuration['projects'], service: ServiceContext): void {
  const { queue, outputs, store, logError } = service
  api.post(RUNS, async (c) => {
    const { frameworkProjects, ...parameters } = parseStart(await c.req.text())
    const project = orNotFound('project', c.req.param('projectId'), projects)
    const selection = { frameworkProjects, files: [] }
    const problem = whyCannotSelect(project, selection)
    if (problem !== undefined) refuse('invalid', problem)
    return c.json({ runId: await startRun(service, { ...parameters, project, selection }) })
  })
  api.post(`${RUNS}/cancel`, async (c) => {
    const runId = parseCancel(await c.req.text())
    const run = findProjectRun(queue, { ...c.req.param(), runId })
    if (await queue.cancel(runId)) return c.json({ cancelled: [{ runId }] })
    refuse('invalid', `Run ${quote(runId)} is ${run.phase.status}; only a QUEUED or RUNNING run can be cancelled.`)
  })
  api.get(`${RUNS}/:runId`, async (c) => {
    const run = findProjectRun(queue, c.req.param())
    await queue.waitForEnd(run.runId)
    const progress = queue.progressOf(run.runId)
    return c.json({ ...describeRun(run, progress), outputBytes: outputBytes(join(outputs, run.runId)) })
  })
  api.get(`${RUNS}/:runId/output`, (c) => {
    const { runId } = findProjectRun(queue, c.req.param())
    const byte = c.req.query('from') ?? ''
    if (!/^\d{1,15}$/.test(byte)) {
      refuse('invalid', `"from" must be the number of a byte, such as ?from=0, got ${quote(byte)}.`)
    }
    const from = Number(byte)
    const part = readOutput(join(outputs, runId), from)
    try {
      // In a job, post shows what no client has read.
      store.markShown(runId, from, part.next)
    } catch (error) {
      logError(`run ${runId}: could not be marked as shown, so post shows its output again: ${messageOf(error)}`)
    }
    return c.json(part)
  })
}

function addSuiteRuns(api: Hono, suites: Configuration['suites'], service: ServiceContext): void {
  api.post('/v1/testSuite/:testSuiteId/run', async (c) => {
    const parameters = parseSuiteStart(await c.req.text())
    const { name: suite, project, selection } = orNotFound('test suite', c.req.param('testSuiteId'), suites)
    const testSuiteRunId = await startRun(service, { ...parameters, project, selection, suite })
    return c.json({ testSuiteRunId, testSuiteName: suite, projectId: project.id })
  })
  api.get(`${SUITE_RUN}/status`, (c) =>
    c.json({ status: isFinished(findSuiteRun(service.queue, c.req.param('runId'))) ? 'FINISHED' : 'RUNNING' }),
  )
  api.get(`${SUITE_RUN}/result`, (c) => c.json(describeSuiteResult(findSuiteRun(service.queue, c.req.param('runId')))))
}

function findProjectRun(queue: RunQueue, { projectId, runId }: { projectId: string; runId: string }): Run {
  const run = queue.find(runId)
  return run !== undefined && run.suite === undefined && run.projectId === projectId ? run : refuseRun(runId)
}

function findSuiteRun(queue: RunQueue, runId: string): Run {
  const run = queue.find(runId)
  return run?.suite === undefined ? refuseRun(runId) : run
}

function refuseRun(runId: string): never {
  refuse('not-found', `There is no run ${quote(runId)} here.`)
}

/** The digests are compared in full, so that the time taken does not reveal how similar a key is. */
function isAuthorized(authorization: string | undefined, key: string): boolean {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return token !== undefined && timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', key, 'buffer'))
}

function orNotFound<T>(what: string, id: string, known: ReadonlyMap<string, T>): T {
  const list = `The ${what}s of this service: ${quoteAll([...known.keys()])}.`
  return known.get(id) ?? refuse('not-found', `There is no ${what} ${quote(id)}. ${list}`)
}
