import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import type { StartParameters } from '../runs/start.ts'
import { quote } from '../text.ts'
import { BODY_LIMIT_BYTES, type ServiceResponse } from './listen.ts'
import { type Parsed, parseCancel, parseStart, parseSuiteStart } from './request-bodies.ts'
import { findRoute } from './routes.ts'

// The tests in local-service/test/interface test this file.

/** A request. So far, only its headers have been read. */
export interface ServiceRequest {
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Undefined if the body is too large. To be called once. */
  readBody(): Promise<string | undefined>
}

/** What the endpoints do. The bodies are already checked. */
export interface Backend {
  startRun(projectId: string, parameters: StartParameters): Promise<ServiceResponse>
  getRun(projectId: string, runId: string): Promise<ServiceResponse>
  getOutput(projectId: string, runId: string, from: number): Promise<ServiceResponse>
  cancelRun(projectId: string, runId: string): Promise<ServiceResponse>
  startSuite(testSuiteId: string, parameters: StartParameters): Promise<ServiceResponse>
  getSuiteStatus(testSuiteRunId: string): Promise<ServiceResponse>
  getSuiteResult(testSuiteRunId: string): Promise<ServiceResponse>
}

export function ok(body: unknown): ServiceResponse {
  return { status: 200, body }
}

export function errorResponse(status: 400 | 401 | 404 | 500, error: string): ServiceResponse {
  return { status, body: { error } }
}

export function noRun(runId: string): ServiceResponse {
  return errorResponse(404, `There is no run ${quote(runId)} here.`)
}

/** The one sentence for a cancel of a run that is finished. */
export function notCancellable(runId: string, status: string): ServiceResponse {
  return errorResponse(400, `Run ${quote(runId)} is ${status}; only a QUEUED or RUNNING run can be cancelled.`)
}

/** The description of the interface. This path is valid in the repository and in the bundle. */
const OPENAPI_FILE = join(import.meta.dirname, '../../../docs/openapi.yaml')

/** Checks a request against the interface and passes it on to the runs. The body is read last, and only with a valid key. */
export async function handleRequest(request: ServiceRequest, key: string, backend: Backend): Promise<ServiceResponse> {
  const { headers } = request
  const route = findRoute(request.method, request.target)
  if (route.kind === 'openapi') {
    return { status: 200, body: await readFile(OPENAPI_FILE, 'utf8'), contentType: 'application/yaml; charset=utf-8' }
  }
  if (!isAuthorized(headers.authorization, key)) {
    return errorResponse(401, 'The API key is missing or invalid. Send the header "Authorization: Bearer <API_KEY>".')
  }
  if (route.kind === 'unknown') return errorResponse(route.status, route.error)
  const [id = '', runId = ''] = route.ids
  switch (route.kind) {
    case 'start':
      return withBody(request, parseStart, (parameters) => backend.startRun(id, parameters))
    case 'cancel':
      return withBody(request, parseCancel, (toCancel) => backend.cancelRun(id, toCancel))
    case 'get':
      return backend.getRun(id, runId)
    case 'output': {
      const from = new URLSearchParams(request.target.split('?')[1]).get('from')
      if (from !== null && /^\d{1,15}$/.test(from)) return backend.getOutput(id, runId, Number(from))
      return errorResponse(
        400,
        `"from" must be the number of a byte, such as ?from=0, got ${quote(from ?? 'nothing')}.`,
      )
    }
    case 'suite-start':
      return withBody(request, parseSuiteStart, (parameters) => backend.startSuite(id, parameters))
    case 'suite-status':
      return backend.getSuiteStatus(id)
    case 'suite-result':
      return backend.getSuiteResult(id)
  }
}

async function withBody<T>(
  { headers: { 'content-type': type }, readBody }: ServiceRequest,
  parse: (text: string) => Parsed<T>,
  respond: (value: T) => Promise<ServiceResponse>,
): Promise<ServiceResponse> {
  const body = await readBody()
  if (body === undefined) return errorResponse(400, `The body is larger than ${BODY_LIMIT_BYTES} bytes.`)
  if (body !== '' && !isJson(type)) {
    return errorResponse(400, 'The body must come with the header "Content-Type: application/json".')
  }
  const parsed = parse(body)
  return parsed.kind === 'invalid' ? errorResponse(400, parsed.error) : respond(parsed.value)
}

/** The digests are compared in full, so that the time taken does not reveal how similar a key is. */
function isAuthorized(authorization: string | undefined, key: string): boolean {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return token !== undefined && timingSafeEqual(digest(token), digest(key))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
