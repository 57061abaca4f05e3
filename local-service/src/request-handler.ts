import { createHash, timingSafeEqual } from 'node:crypto'
import { parseCancel, parseStart, parseSuiteStart, type StartParameters } from './request-bodies.ts'
import { findRoute } from './routes.ts'
import { quote } from './text.ts'

/** An answer with one of the interface's documented status codes (section 7). */
export interface ServiceResponse {
  readonly status: 200 | 400 | 401 | 404 | 500
  readonly body: unknown
}

/** One request, read from the wire and not yet judged. */
export interface ServiceRequest {
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  readonly authorization: string | undefined
  readonly contentType: string | undefined
  readonly body:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'too-large' }
    | { readonly kind: 'not-utf8' }
}

/** What stands behind the front: the runs themselves. Bodies are valid when they get here. */
export interface Backend {
  startRun(projectId: string, parameters: StartParameters): Promise<ServiceResponse>
  getRun(projectId: string, runId: string): Promise<ServiceResponse>
  cancelRun(projectId: string, runId: string): Promise<ServiceResponse>
  startSuite(testSuiteId: string, parameters: StartParameters): Promise<ServiceResponse>
  getSuiteStatus(testSuiteRunId: string): Promise<ServiceResponse>
  getSuiteResult(testSuiteRunId: string): Promise<ServiceResponse>
}

/** The largest request body that is read. */
export const BODY_LIMIT_BYTES = 1024 * 1024

export function ok(body: unknown): ServiceResponse {
  return { status: 200, body }
}

export function errorResponse(status: 400 | 401 | 404 | 500, error: string): ServiceResponse {
  return { status, body: { error } }
}

/** The one sentence for a cancel that comes too late (section 4.2, rule 1). */
export function notCancellable(runId: string, status: string): ServiceResponse {
  return errorResponse(400, `Run ${quote(runId)} is ${status}; only a QUEUED or RUNNING run can be cancelled.`)
}

/** Judges a request by the interface document and hands it to the runs behind. */
export async function handleRequest(
  request: ServiceRequest,
  keys: readonly string[],
  backend: Backend,
): Promise<ServiceResponse> {
  if (!isAuthorized(request.authorization, keys)) {
    return errorResponse(401, 'The API key is missing or invalid. Send the header "Authorization: Bearer <API_KEY>".')
  }
  const route = findRoute(request.method, request.target)
  if (route.kind === 'unknown') return errorResponse(route.status, route.error)
  if (route.kind === 'get') return backend.getRun(route.projectId, route.runId)
  if (route.kind === 'suite-status') return backend.getSuiteStatus(route.testSuiteRunId)
  if (route.kind === 'suite-result') return backend.getSuiteResult(route.testSuiteRunId)

  if (request.body.kind === 'too-large') {
    return errorResponse(400, `The body is larger than ${BODY_LIMIT_BYTES} bytes, which is all this service reads.`)
  }
  if (request.body.kind === 'not-utf8') return errorResponse(400, 'The body is not UTF-8.')
  const body = request.body.text
  if (body !== '' && !isJson(request.contentType)) {
    return errorResponse(
      400,
      `The body must come with "Content-Type: application/json", got ${quote(request.contentType)}.`,
    )
  }
  switch (route.kind) {
    case 'start': {
      const parameters = parseStart(body)
      return parameters.kind === 'invalid'
        ? errorResponse(400, parameters.error)
        : backend.startRun(route.projectId, parameters.value)
    }
    case 'cancel': {
      const runId = parseCancel(body)
      return runId.kind === 'invalid'
        ? errorResponse(400, runId.error)
        : backend.cancelRun(route.projectId, runId.value)
    }
    case 'suite-start': {
      const parameters = parseSuiteStart(body)
      return parameters.kind === 'invalid'
        ? errorResponse(400, parameters.error)
        : backend.startSuite(route.testSuiteId, parameters.value)
    }
  }
}

/** Every key is compared, in full and by digest, so that the time taken tells neither a key nor which one came near. */
function isAuthorized(authorization: string | undefined, keys: readonly string[]): boolean {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  const given = digest(token ?? '')
  let found = false
  for (const key of keys) {
    if (timingSafeEqual(given, digest(key))) found = true
  }
  return found && token !== undefined
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
