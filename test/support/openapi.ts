import type { IncomingHttpHeaders } from 'node:http'
import { expect } from 'vitest'
import {
  DOCUMENT,
  describeError,
  errorsOf,
  findOperation,
  type Operation,
  type Reference,
  resolve,
  responseSchema,
} from './openapi-document.ts'

// Compares the action's requests and the services' responses with docs/openapi.yaml.

export { OPENAPI_FILE } from './openapi-document.ts'

interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface ReceivedResponse {
  /** Of the request that it responds to. */
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: unknown
}

/** The requests that a service recorded. */
interface RecordingService {
  readonly requests: readonly ReceivedRequest[]
}

/** Checks that each request is in the interface, and has only fields that the interface names. */
export function expectConformingRequests({ requests }: RecordingService): void {
  const problems = requests.flatMap(problemsOfRequest)
  expect(problems, 'what the requests have against docs/openapi.yaml').toEqual([])
}

export function expectConformingResponse(response: ReceivedResponse): void {
  expect(problemsOfResponse(response), 'what the response has against docs/openapi.yaml').toEqual([])
}

export function problemsOfRequest({ method, path, headers, body }: ReceivedRequest): string[] {
  const name = `${method} ${path}`
  const operation = findOperation(method, path)
  if (operation === undefined) return [`${name} is not in the interface`]
  const problems: string[] = []
  if (!/^Bearer \S+$/.test(headers.authorization ?? '')) problems.push(`${name} has no key`)
  if (path.includes('?')) problems.push(`${name} has a query`)
  const { requestBody } = operation
  if (body === '') {
    if (requestBody?.required) problems.push(`${name} has no body`)
    return problems
  }
  if (requestBody === undefined) return [...problems, `${name} has a body`]
  if (headers['content-type'] !== 'application/json') problems.push(`${name} has a body of another type than JSON`)
  const schema = requestBody.content['application/json'].schema
  const value = parseJson(body)
  return [...problems, ...problemsOf(schema, value, name), ...unknownFields(schema, value, name)]
}

export function problemsOfResponse({ method, path, status, body }: ReceivedResponse): string[] {
  const name = `${status} to ${method} ${path}`
  const operation = findOperation(method, path)
  // A request that is not in the interface gets an error. This error has one form for all endpoints.
  const schema = responseSchema(operation ?? (Object.values(DOCUMENT.paths)[0]?.post as Operation), status)
  if (schema === undefined || (operation === undefined && status === 200)) return [`${name} is not in the interface`]
  return problemsOf(schema, body, name)
}

function problemsOf(schema: Reference, value: unknown, name: string): string[] {
  return errorsOf(schema, value).map((error) => `${name}: ${describeError(error)}`)
}

/** The interface lets a client send more fields. The action sends only the fields that the interface names. */
function unknownFields(schema: Reference, value: unknown, name: string): string[] {
  const { properties } = resolve<{ properties: object }>(schema)
  return Object.keys(value ?? {})
    .filter((field) => !Object.hasOwn(properties, field))
    .map((field) => `${name}: ${JSON.stringify(field)} is not in the interface`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
