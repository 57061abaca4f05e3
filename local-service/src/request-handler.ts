import { createHash, timingSafeEqual } from 'node:crypto'
import { parseCancel, parseStart, parseSuiteStart, type RunOrder } from './request-bodies.ts'
import { findRoute, quote } from './routes.ts'

/** An answer with one of the interface's documented status codes (section 7). */
export interface Answer {
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
  startRun(projectId: string, order: RunOrder): Promise<Answer>
  getRun(projectId: string, runId: string): Promise<Answer>
  cancelRun(projectId: string, runId: string): Promise<Answer>
  startSuite(testSuiteId: string, order: RunOrder): Promise<Answer>
  getSuiteStatus(testSuiteRunId: string): Promise<Answer>
  getSuiteResult(testSuiteRunId: string): Promise<Answer>
}

/** The largest request body that is read. */
export const BODY_LIMIT_BYTES = 1024 * 1024

export function ok(body: unknown): Answer {
  return { status: 200, body }
}

export function refuse(status: 400 | 401 | 404 | 500, error: string): Answer {
  return { status, body: { error } }
}

/** The one sentence for a cancel that comes too late (section 4.2, rule 1). */
export function refuseCancel(runId: string, status: string): Answer {
  return refuse(400, `Run ${quote(runId)} is ${status}; only a QUEUED or RUNNING run can be cancelled.`)
}

/** Judges a request by the interface document and hands it to the runs behind. */
export async function answerRequest(
  request: ServiceRequest,
  keys: readonly string[],
  backend: Backend,
): Promise<Answer> {
  if (!isAuthorized(request.authorization, keys)) {
    return refuse(401, 'The API key is missing or invalid. Send the header "Authorization: Bearer <API_KEY>".')
  }
  const route = findRoute(request.method, request.target)
  if (route.kind === 'unknown') return refuse(route.status, route.error)
  if (route.kind === 'get') return backend.getRun(route.projectId, route.runId)
  if (route.kind === 'suite-status') return backend.getSuiteStatus(route.testSuiteRunId)
  if (route.kind === 'suite-result') return backend.getSuiteResult(route.testSuiteRunId)

  if (request.body.kind === 'too-large') {
    return refuse(400, `The body is larger than ${BODY_LIMIT_BYTES} bytes, which is all this service reads.`)
  }
  if (request.body.kind === 'not-utf8') return refuse(400, 'The body is not UTF-8.')
  const body = request.body.text
  if (body !== '' && !isJson(request.contentType)) {
    return refuse(400, `The body must come with "Content-Type: application/json", got ${quote(request.contentType)}.`)
  }
  switch (route.kind) {
    case 'start': {
      const order = parseStart(body)
      return order.kind === 'bad' ? refuse(400, order.error) : backend.startRun(route.projectId, order.value)
    }
    case 'cancel': {
      const runId = parseCancel(body)
      return runId.kind === 'bad' ? refuse(400, runId.error) : backend.cancelRun(route.projectId, runId.value)
    }
    case 'suite-start': {
      const order = parseSuiteStart(body)
      return order.kind === 'bad' ? refuse(400, order.error) : backend.startSuite(route.testSuiteId, order.value)
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
