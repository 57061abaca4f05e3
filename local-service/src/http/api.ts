import { hash, timingSafeEqual } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { messageOf } from '../../../src/text/untrusted.ts'
import { outputBytes, readOutput } from '../execution/output.ts'
import type { RunQueue } from '../runs/queue.ts'
import { refuse } from '../runs/refusal.ts'
import { isFinished, type Run } from '../runs/run.ts'
import { type ServiceContext, startRun } from '../runs/start.ts'
import type { Configuration } from '../settings/configuration.ts'
import { whyCannotSelect } from '../settings/project.ts'
import { quote, quoteAll } from '../text.ts'
import { parseCancel, parseStart, parseSuiteStart } from './request-bodies.ts'
import { describeRun, describeSuiteResult } from './response-bodies.ts'

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
    // By default, Hono closes the connection if a client still sends its body 500 ms after the response. Such a client may never see the
    // response. With `false`, Node reads the rest of the body, and the connection stays open.
    autoCleanupIncoming: false,
    errorHandler: (error) => Response.json({ error: `The request is invalid: ${messageOf(error)}.` }, { status: 400 }),
  })
}

/** Serves the interface over the projects and runs of this service. The body of a request is read only with a valid key. */
export function createApi({ projects, suites }: Configuration, service: ServiceContext, key: string): Hono {
  const { log, logError } = service
  const api = new Hono()
  api.onError((error, c) => {
    if (!(error instanceof HTTPException)) {
      logError(`a request failed: ${error.stack}`)
      return c.json({ error: 'The service failed to handle this request; its log says why.' }, 500)
    }
    const { status, message } = error
    if (c.req.method === 'POST') log(`refused POST ${quote(c.req.path)} with ${status}: ${message}`)
    if (status === 401) c.header('www-authenticate', 'Bearer')
    return c.json({ error: message }, status)
  })
  api.use(async ({ req }, next) => {
    if (isAuthorized(req.header('authorization'), key)) return next()
    refuse(401, 'The API key is missing or invalid. Send the header "Authorization: Bearer <API_KEY>".')
  })
  const onError = () => refuse(400, `The body is larger than ${BODY_LIMIT_BYTES / 2 ** 20} MiB.`)
  api.on('POST', '*', bodyLimit({ maxSize: BODY_LIMIT_BYTES, onError }))
  addRuns(api, projects, service)
  addSuiteRuns(api, suites, service)
  api.notFound(({ req: { method, path } }) =>
    refuse(404, `There is no endpoint ${method} ${quote(path)}. docs/openapi.yaml describes the endpoints.`),
  )
  return api
}

function addRuns(api: Hono, projects: Configuration['projects'], service: ServiceContext): void {
  const { queue, outputs, store, logError } = service
  const find = ({ projectId, runId }: { projectId: string; runId: string }) =>
    findRun(queue, runId, (run) => run.projectId === projectId && run.suite === undefined)
  api.post(RUNS, async (c) => {
    store.markUsed()
    const { frameworkProjects, ...parameters } = parseStart(await c.req.text())
    const project = orNotFound('project', c.req.param('projectId'), projects)
    const selection = { frameworkProjects, files: [] }
    const problem = whyCannotSelect(project, selection)
    if (problem !== undefined) refuse(400, problem)
    return c.json({ runId: await startRun(service, { ...parameters, project, selection }) })
  })
  api.post(`${RUNS}/cancel`, async (c) => {
    const runId = parseCancel(await c.req.text())
    const run = find({ ...c.req.param(), runId })
    if (await queue.stop(runId, { status: 'CANCELLED' })) return c.json({ cancelled: [{ runId }] })
    refuse(400, `Run ${quote(runId)} is ${run.phase.status}; only a QUEUED or RUNNING run can be cancelled.`)
  })
  api.get(`${RUNS}/:runId`, async (c) => {
    const run = find(c.req.param())
    // Meanwhile, the queue may change the phase of this run.
    await queue.waitForEnd(run.runId)
    const progress = queue.progressOf(run.runId)
    return c.json({ ...describeRun(run, progress), outputBytes: outputBytes(join(outputs, run.runId)) })
  })
  api.get(`${RUNS}/:runId/output`, (c) => {
    const { runId } = find(c.req.param())
    const byte = c.req.query('from') ?? ''
    if (!/^\d{1,15}$/.test(byte)) {
      refuse(400, `"from" must be the number of a byte, such as ?from=0, got ${quote(byte)}.`)
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
    service.store.markUsed()
    const parameters = parseSuiteStart(await c.req.text())
    const { name: suite, project, selection } = orNotFound('test suite', c.req.param('testSuiteId'), suites)
    const testSuiteRunId = await startRun(service, { ...parameters, project, selection, suite })
    return c.json({ testSuiteRunId, testSuiteName: suite, projectId: project.id })
  })
  const find = (runId: string) => findRun(service.queue, runId, ({ suite }) => suite !== undefined)
  api.get(`${SUITE_RUN}/status`, (c) => {
    return c.json({ status: isFinished(find(c.req.param('runId'))) ? 'FINISHED' : 'RUNNING' })
  })
  api.get(`${SUITE_RUN}/result`, (c) => c.json(describeSuiteResult(find(c.req.param('runId')))))
}

function findRun(queue: RunQueue, runId: string, isOfRoute: (run: Run) => boolean): Run {
  const run = queue.find(runId)
  return run !== undefined && isOfRoute(run) ? run : refuse(404, `There is no run ${quote(runId)} here.`)
}

/** The digests are compared in full, so that the time taken does not reveal how similar a key is. */
function isAuthorized(authorization: string | undefined, key: string): boolean {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return token !== undefined && timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', key, 'buffer'))
}

function orNotFound<T>(what: string, id: string, known: ReadonlyMap<string, T>): T {
  const list = `The ${what}s of this service: ${quoteAll([...known.keys()])}.`
  return known.get(id) ?? refuse(404, `There is no ${what} ${quote(id)}. ${list}`)
}
