import { onTestFinished } from 'vitest'
import { createScriptedRuns } from '../../../tools/scripted-service/scripted-runs.ts'
import type { RuleId } from '../../src/check/rules.ts'
import { listen, toServiceRequest } from '../../src/http/listen.ts'
import { handleRequest } from '../../src/http/request-handler.ts'
import { findRoute } from '../../src/http/routes.ts'

export const KEY = 'a-key-for-checks'

interface Seen {
  readonly kind: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
  /** Parsed, if it is an object. */
  readonly json: Readonly<Record<string, unknown>>
  /** How many such requests with the key there were, this one included. */
  readonly occurrence: number
  readonly runId: string | undefined
  /** The run's, before the request. */
  readonly runStatus: string | undefined
}

interface Sent {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the JSON of the body; null: the connection is reset. */
  readonly raw?: string | null
}

/** What is wrong with a service: each part of it returns what is other than in the right service, or nothing. */
export interface Fault {
  /** What it takes the request for. */
  readonly request?: (seen: Seen) => Partial<Pick<Seen, 'path' | 'authorization' | 'body'>> | false
  /** What it sends to a request with the key, and does nothing. */
  readonly instead?: (seen: Seen) => Sent | false
  /** What it makes of the right response. */
  readonly response?: (sent: Sent, seen: Seen) => Partial<Sent> | false
  readonly runId?: (number: number) => string
}

// biome-ignore lint/suspicious/noExplicitAny: a fault looks into whatever it spoils
type Body = any

const VALID = { authorization: `Bearer ${KEY}` }
const REFUSED = { status: 400, body: { error: 'No.' } }
const FAILED = { status: 500, body: { error: 'Broken.' } }
const TIME = '2026-01-01T00:00:00Z'

const cancelled = (runId: unknown) => ({ status: 200, body: { cancelled: [{ runId }] } })
const lengthOf = ({ json }: Seen) => (typeof json.branch === 'string' ? [...json.branch].length : undefined)
const isFirst = ({ kind, occurrence }: Seen, wanted: string) => kind === wanted && occurrence === 1
/** Other fields in the response about a run, if it is as `concerns` has it. */
const runWith = (fields: object, concerns: (run: Body) => unknown): Fault => ({
  response: ({ body }) => 'status' in Object(body) && !!concerns(body) && { body: { ...Object(body), ...fields } },
})

/** One service for each rule, which breaks this rule alone. */
export const FAULTS: Readonly<Record<RuleId, Fault>> = {
  'key-missing': { request: ({ authorization }) => authorization === undefined && VALID },
  'key-invalid': { request: ({ authorization = '' }) => authorization.startsWith('Bearer') && VALID },
  'key-scheme': { request: ({ authorization = '' }) => authorization.startsWith('Basic') && VALID },
  json: { response: ({ status }, { kind }) => kind === 'get' && status === 404 && { raw: 'Not found' } },
  'status-codes': { response: ({ status }, { kind }) => kind === 'cancel' && status === 400 && { status: 409 } },
  'error-object': { response: ({ status }) => status === 401 && { body: { message: 'Who are you?' } } },
  'not-json': { instead: ({ body }) => body === '{' && FAILED },
  'start-response': {
    response: ({ body }) => 'runId' in Object(body) && { body: { runId: Number((body as Body).runId) } },
  },
  'start-fields': { instead: ({ json }) => 'autofix' in json && REFUSED },
  'start-deprecated': { instead: ({ json }) => Object.keys(json).join() === 'environmentName,runGroupName' && REFUSED },
  'branch-empty': { request: (seen) => lengthOf(seen) === 0 && { body: '{}' } },
  'branch-shortest': { instead: (seen) => lengthOf(seen) === 1 && REFUSED },
  // As JavaScript counts: in UTF-16 units.
  'branch-longest': { instead: ({ json: { branch } }) => typeof branch === 'string' && branch.length > 255 && REFUSED },
  'branch-too-long': { request: (seen) => lengthOf(seen) === 256 && { body: '{}' } },
  'run-read': { instead: ({ kind, occurrence }) => kind === 'get' && occurrence === 2 && FAILED },
  'run-status': runWith({ status: 'PREPARING' }, ({ status, branchName }) => branchName && status === 'RUNNING'),
  'run-fields': runWith({ finishedAt: 'yesterday' }, ({ finishedAt }) => finishedAt),
  'run-branch': runWith({ branchName: 'another' }, ({ branchName }) => branchName),
  'queued-started-at': runWith({ startedAt: TIME }, ({ status }) => status === 'QUEUED'),
  'running-results': runWith(
    { results: { testCases: [] } },
    ({ status, branchName }) => branchName && status === 'RUNNING',
  ),
  results: runWith({ results: {} }, ({ finishedAt }) => finishedAt),
  'test-cases': runWith({ results: { testCases: [{ durationMs: 1.5 }] } }, ({ finishedAt }) => finishedAt),
  'run-unknown': {
    response: ({ status }, { kind, path }) => kind === 'get' && path.includes('/shop/') && status === 404 && REFUSED,
  },
  'project-unknown': {
    request: ({ kind, path }) => kind === 'get' && { path: path.replace(/projects\/[^/]+/, 'projects/shop') },
  },
  'cancel-response': {
    response: ({ status }, { kind, runId }) => kind === 'cancel' && status === 200 && cancelled(Number(runId)),
  },
  'cancel-queued': { instead: (seen) => isFirst(seen, 'cancel') && seen.runStatus === 'QUEUED' && REFUSED },
  'cancel-running': { instead: (seen) => isFirst(seen, 'cancel') && seen.runStatus === 'RUNNING' && REFUSED },
  'cancel-ends': {
    response: ({ body }) => (body as Body).status === 'CANCELLED' && { body: { status: 'RUNNING', startedAt: TIME } },
  },
  'cancel-only': {
    response: ({ status }, { kind, json }) =>
      kind === 'cancel' && status === 200 && { body: { cancelled: [json.where, { runId: 'of somebody else' }] } },
  },
  'cancel-finished': {
    response: ({ status }, { kind, runId }) => kind === 'cancel' && status === 400 && cancelled(runId),
  },
  'cancel-unknown': {
    response: ({ status }, { kind, runId }) => kind === 'cancel' && status === 404 && cancelled(runId),
  },
  'suite-start': { instead: ({ kind }) => kind === 'suite-start' && FAILED },
  'suite-status': { response: ({ status }, seen) => isFirst(seen, 'suite-status') && status === 200 && FAILED },
  'suite-result': { response: ({ status }, { kind }) => kind === 'suite-result' && status === 200 && FAILED },
  'suite-unknown': { response: ({ status }, { kind }) => kind === 'suite-status' && status === 404 && REFUSED },
  'complete-response': { instead: (seen) => lengthOf(seen) === 0 && { ...FAILED, raw: null } },
  'no-redirect': { response: ({ status }) => status === 404 && { status: 302, headers: { location: '/sign-in' } } },
  'content-type': { response: ({ status }) => status === 200 && { headers: { 'content-type': 'text/plain' } } },
  'retry-after': {
    instead: (seen) => isFirst(seen, 'start') && { status: 429, body: {}, headers: { 'retry-after': 'soon' } },
  },
  'start-least': { instead: ({ kind, body }) => kind === 'start' && body === '{}' && REFUSED },
  'run-id': { runId: (number) => `run ${number}` },
  'read-at-once': { instead: (seen) => isFirst(seen, 'get') && { status: 404, body: { error: 'Not yet.' } } },
  'suite-fields': {
    response: ({ body }) => 'testSuiteName' in Object(body) && { body: { testSuiteRunId: '107', results: 5 } },
  },
}

/** The key comes back wherever a service can put it. */
export const ECHO: Fault = {
  response: ({ status }, { authorization = '' }) =>
    status === 404 && {
      body: { error: `${'x'.repeat(470)}${authorization}`, key: KEY },
      headers: { 'retry-after': `${'x'.repeat(90)}${KEY}` },
    },
}

/**
 * Scripted runs behind a server with a fault. The clock counts requests, so that every check sees the same: the run of the
 * start without fields finishes, that of the start with all of them is RUNNING and the others QUEUED until a cancel.
 */
export async function startFaultyService({ request, instead, response, runId = String }: Fault = {}) {
  let requests = 0
  const scripted = createScriptedRuns(
    ({ number, testSuiteId, body }) => {
      const isLeast = testSuiteId !== undefined || Object.keys(body ?? {}).length === 0
      const times = isLeast
        ? { runningMs: 5 }
        : 'autofix' in Object(body)
          ? { runningMs: Infinity }
          : { queuedMs: Infinity }
      return { ...times, runId: runId(testSuiteId === undefined ? number : number + 100) }
    },
    () => requests,
  )
  const occurrences = new Map<string, number>()
  const seen: Seen[] = []
  const listener = await listen({}, async (message, to) => {
    requests++
    const { method, target: path, headers, hosts, readBody } = toServiceRequest(message, to)
    const read = await readBody()
    const body = read.kind === 'valid' ? read.value : ''
    const json = parseObject(body)
    const { authorization } = headers
    const isValid = authorization === VALID.authorization
    const occurrence = (occurrences.get(path + body) ?? 0) + (isValid ? 1 : 0)
    occurrences.set(path + body, occurrence)
    const route = findRoute(method, path)
    const id = route.kind === 'get' ? route.ids[1] : Object(json.where).runId
    const runStatus = scripted.runs.find((run) => run.runId === id)?.status
    const one: Seen = { kind: route.kind, path, authorization, body, json, occurrence, runId: id, runStatus }
    seen.push(one)

    const taken = { ...one, ...request?.(one) }
    const target = { method, target: taken.path, hosts, headers: { ...headers, authorization: taken.authorization } }
    let sent: Sent | false | undefined = isValid && instead?.(one)
    if (!sent) {
      const text = { kind: 'valid', value: taken.body } as const
      const right = await handleRequest({ ...target, readBody: async () => text }, [KEY], scripted.backend)
      sent = { ...right, ...response?.(right, one) }
    }
    if (sent.raw === null) message.socket.destroy()
    else to.writeHead(sent.status, { 'content-type': 'application/json', ...sent.headers })
    to.end(sent.raw ?? JSON.stringify(sent.body))
  })
  onTestFinished(() => listener.close())
  return { url: listener.url, seen, scripted }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
