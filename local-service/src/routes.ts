import { quote } from './text.ts'

/** Which endpoint a request is for, with the ids in its path. */
export type Route =
  | { readonly kind: 'start'; readonly projectId: string }
  | { readonly kind: 'cancel'; readonly projectId: string }
  | { readonly kind: 'get'; readonly projectId: string; readonly runId: string }
  | { readonly kind: 'suite-start'; readonly testSuiteId: string }
  | { readonly kind: 'suite-status'; readonly testSuiteRunId: string }
  | { readonly kind: 'suite-result'; readonly testSuiteRunId: string }
  /** The description of the interface itself. */
  | { readonly kind: 'openapi' }
  | { readonly kind: 'unknown'; readonly status: 400 | 404; readonly error: string }

export type Endpoint = Exclude<Route['kind'], 'unknown'>

interface EndpointShape {
  readonly method: 'GET' | 'POST'
  /** `ID` is any id. */
  readonly parts: readonly string[]
  readonly route: (ids: readonly string[]) => Route
}

/** Each path takes one method. Of two that match, the first counts: `runs/cancel` is no run. */
const ENDPOINTS: readonly EndpointShape[] = [
  {
    method: 'POST',
    parts: ['v1', 'projects', 'ID', 'runs'],
    route: ([projectId = '']) => ({ kind: 'start', projectId }),
  },
  {
    method: 'POST',
    parts: ['v1', 'projects', 'ID', 'runs', 'cancel'],
    route: ([projectId = '']) => ({ kind: 'cancel', projectId }),
  },
  {
    method: 'GET',
    parts: ['v1', 'projects', 'ID', 'runs', 'ID'],
    route: ([projectId = '', runId = '']) => ({ kind: 'get', projectId, runId }),
  },
  {
    method: 'POST',
    parts: ['v1', 'testSuite', 'ID', 'run'],
    route: ([testSuiteId = '']) => ({ kind: 'suite-start', testSuiteId }),
  },
  {
    method: 'GET',
    parts: ['v1', 'testSuiteRun', 'ID', 'status'],
    route: ([testSuiteRunId = '']) => ({ kind: 'suite-status', testSuiteRunId }),
  },
  {
    method: 'GET',
    parts: ['v1', 'testSuiteRun', 'ID', 'result'],
    route: ([testSuiteRunId = '']) => ({ kind: 'suite-result', testSuiteRunId }),
  },
  { method: 'GET', parts: ['openapi.yaml'], route: () => ({ kind: 'openapi' }) },
]

/**
 * Finds the endpoint for a request line. The path is taken as it came over the wire: a URL parser would collapse
 * `.` and `..`, and an id may be either.
 */
export function findRoute(method: string, target: string): Route {
  const path = target.split('?', 1)[0] ?? ''
  // The response to HEAD is that to GET; Node leaves its body out.
  const asked = method === 'HEAD' ? 'GET' : method
  let methodOfPath: string | undefined
  for (const endpoint of ENDPOINTS) {
    const ids = matchPath(path, endpoint.parts)
    if (ids === undefined) continue
    if (endpoint.method !== asked) {
      methodOfPath = endpoint.method
      break
    }
    const decoded = ids.map(decodeId)
    const broken = decoded.indexOf(undefined)
    if (broken >= 0) {
      return {
        kind: 'unknown',
        status: 400,
        error: `The id ${quote(ids[broken])} in the path is not valid percent-encoding. Encode each id as UTF-8.`,
      }
    }
    return endpoint.route(decoded.filter((id) => id !== undefined))
  }
  const hint =
    methodOfPath === undefined ? 'GET /openapi.yaml describes the endpoints.' : `This path takes ${methodOfPath}.`
  return { kind: 'unknown', status: 404, error: `There is no endpoint ${method} ${quote(path)}. ${hint}` }
}

function matchPath(path: string, parts: readonly string[]): string[] | undefined {
  const given = path.split('/')
  if (given.shift() !== '' || given.length !== parts.length) return undefined
  const ids: string[] = []
  for (const [index, part] of parts.entries()) {
    const text = given[index] ?? ''
    if (part === 'ID' && text !== '') ids.push(text)
    else if (part !== text) return undefined
  }
  return ids
}

function decodeId(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
