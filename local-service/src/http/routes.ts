import { quote } from '../text.ts'

// The tests in local-service/test/interface test this file.

/** Each path takes one method. If two paths match, the first counts, so `runs/cancel` is not a run. */
const ENDPOINTS = [
  ['start', 'POST', '/v1/projects/{projectId}/runs'],
  ['cancel', 'POST', '/v1/projects/{projectId}/runs/cancel'],
  ['get', 'GET', '/v1/projects/{projectId}/runs/{runId}'],
  ['output', 'GET', '/v1/projects/{projectId}/runs/{runId}/output'],
  ['suite-start', 'POST', '/v1/testSuite/{testSuiteId}/run'],
  ['suite-status', 'GET', '/v1/testSuiteRun/{testSuiteRunId}/status'],
  ['suite-result', 'GET', '/v1/testSuiteRun/{testSuiteRunId}/result'],
  ['openapi', 'GET', '/openapi.yaml'],
] as const

type Endpoint = (typeof ENDPOINTS)[number][0]

type Route =
  /** With the ids in the path, in order. */
  | { readonly kind: Endpoint; readonly ids: readonly string[] }
  | { readonly kind: 'unknown'; readonly status: 400 | 404; readonly error: string }

/**
 * Finds the endpoint for a request line. The path is taken as it was sent. A URL parser would collapse `.` and `..`, but an
 * id may be `.` or `..`.
 */
export function findRoute(method: string, target: string): Route {
  const path = target.split('?', 1)[0] ?? ''
  let hint = 'GET /openapi.yaml describes the endpoints.'
  for (const [kind, methodOfPath, template] of ENDPOINTS) {
    const ids = matchPath(path, template)
    if (ids === undefined) continue
    if (methodOfPath !== method) {
      hint = `This path takes ${methodOfPath}.`
      break
    }
    try {
      return { kind, ids: ids.map(decodeURIComponent) }
    } catch {
      const error = `An id in the path ${quote(path)} is not valid percent-encoding. Encode each id as UTF-8.`
      return { kind: 'unknown', status: 400, error }
    }
  }
  return { kind: 'unknown', status: 404, error: `There is no endpoint ${method} ${quote(path)}. ${hint}` }
}

/** The encoded ids in a path. Undefined if the path does not match the template. */
function matchPath(path: string, template: string): string[] | undefined {
  const given = path.split('/')
  const parts = template.split('/')
  const isId = (part: string | undefined) => part?.startsWith('{')
  const fits = parts.every((part, index) => (isId(part) ? given[index] : part === given[index]))
  return fits && given.length === parts.length ? given.filter((_, index) => isId(parts[index])) : undefined
}
