import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { parse } from 'yaml'

// Holds the action's requests and the services' responses to docs/openapi.yaml.

export const OPENAPI_FILE = join(import.meta.dirname, '../../docs/openapi.yaml')

interface Reference {
  readonly $ref: string
}

interface MediaTypes {
  readonly content: { readonly 'application/json': { readonly schema: Reference } }
}

interface Operation {
  readonly requestBody?: MediaTypes & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Partial<Reference>>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export const DOCUMENT: Document = parse(readFileSync(OPENAPI_FILE, 'utf8'))

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

/** The requests that a service recorded. `url` may have a path that stands before every other. */
interface RecordingService {
  readonly url: string
  readonly requests: readonly (ReceivedRequest & {
    readonly response?: { readonly status: number; readonly body: unknown; readonly deviates: boolean } | undefined
  })[]
}

const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addFormat('date-time', (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text))
ajv.addSchema(DOCUMENT, 'openapi')

/** For a service that only the action talked to. */
export function expectConformingExchanges(service: RecordingService): void {
  expectConformingRequests(service)
  expectConformingResponses(service)
}

/** Each request is one of the interface's, with no more fields than the interface names. */
function expectConformingRequests(service: RecordingService): void {
  const problems = service.requests.flatMap((request) =>
    problemsOfRequest({ ...request, path: withoutPrefix(service, request.path) }),
  )
  expect(problems, 'what the requests have against docs/openapi.yaml').toEqual([])
}

/** Each response is as the interface has it, unless the test made it deviate. */
export function expectConformingResponses(service: RecordingService): void {
  const problems = service.requests.flatMap(({ method, path, response }) =>
    response === undefined || response.deviates
      ? []
      : problemsOfResponse({ method, path: withoutPrefix(service, path), ...response }),
  )
  expect(problems, 'what the responses have against docs/openapi.yaml').toEqual([])
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
  return [...problems, ...errorsOf(schema, value, name), ...unknownFields(schema, value, name)]
}

export function problemsOfResponse({ method, path, status, body }: ReceivedResponse): string[] {
  const name = `${status} to ${method} ${path}`
  const operation = findOperation(method, path)
  // What is not in the interface gets an error, which is the same for all endpoints.
  const { responses } = operation ?? (Object.values(DOCUMENT.paths)[0]?.post as Operation)
  const response = responses[status]
  if (response === undefined || (operation === undefined && status === 200)) return [`${name} is not in the interface`]
  const { content } = resolve<MediaTypes>(response)
  return errorsOf(content['application/json'].schema, body, name)
}

function findOperation(method: string, path: string): Operation | undefined {
  const given = (path.split('?', 1)[0] ?? '').split('/')
  const fits = (template: string) => {
    const parts = template.split('/')
    return (
      parts.length === given.length &&
      parts.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
    )
  }
  const templates = Object.keys(DOCUMENT.paths).filter(fits)
  return templates.map((template) => DOCUMENT.paths[template]?.[method.toLowerCase()]).find((found) => found)
}

function resolve<T>(value: Partial<Reference>): T {
  if (value.$ref === undefined) return value as T
  const keys = value.$ref.replace('#/', '').split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], DOCUMENT) as T
}

const validators = new Map<string, ValidateFunction>()

function errorsOf({ $ref }: Reference, value: unknown, name: string): string[] {
  const validate = validators.get($ref) ?? ajv.compile({ $ref: `openapi${$ref}` })
  validators.set($ref, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${name}: ${instancePath || 'the body'} ${message}`)
}

/** The interface lets a client send more fields; the action sends none that it does not name. */
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

function withoutPrefix({ url }: RecordingService, path: string): string {
  const { pathname } = new URL(url)
  return pathname === '/' || !path.startsWith(`${pathname}/`) ? path : path.slice(pathname.length)
}
