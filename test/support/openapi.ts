import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { parseJson } from '../../src/text/json.ts'

// Compares the action's requests and the services' responses with docs/openapi.yaml.

interface Reference {
  readonly $ref: string
}

interface MediaTypes {
  readonly content: { readonly 'application/json': { readonly schema: Reference } }
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[]
  readonly requestBody?: MediaTypes & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Partial<Reference>>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export const OPENAPI_FILE = join(import.meta.dirname, '../../docs/openapi.yaml')
export const DOCUMENT: Document = parse(readFileSync(OPENAPI_FILE, 'utf8'))

const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addSchema(DOCUMENT, 'openapi')

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

/** Checks that each request is in the interface, and has only fields that the interface names. */
export function expectConformingRequests({ requests }: { readonly requests: readonly ReceivedRequest[] }): void {
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
  const { requestBody, parameters = [] } = operation
  for (const key of new URLSearchParams(path.split('?')[1]).keys())
    if (!parameters.some((parameter) => parameter.in === 'query' && parameter.name === key))
      problems.push(`${name} has the query "${key}"`)
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

function problemsOf({ $ref }: Reference, value: unknown, name: string): string[] {
  const validate = ajv.getSchema(`openapi${$ref}`) as ValidateFunction
  const errors = validate(value) ? [] : (validate.errors ?? [])
  return errors.map(({ instancePath, message }) => `${name}: ${instancePath || 'the body'} ${message}`)
}

/** The interface lets a client send more fields. The action sends only the fields that the interface names. */
function unknownFields(schema: Reference, value: unknown, name: string): string[] {
  const { properties } = resolve<{ properties: object }>(schema)
  return Object.keys(value ?? {})
    .filter((field) => !Object.hasOwn(properties, field))
    .map((field) => `${name}: ${JSON.stringify(field)} is not in the interface`)
}

/** The endpoint of a path, which is percent-encoded. */
function findOperation(method: string, target: string): Operation | undefined {
  const path = target.split('?', 1)[0] ?? ''
  const fitting = Object.entries(DOCUMENT.paths).filter(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  return fitting.map(([, operations]) => operations[method.toLowerCase()]).find((operation) => operation)
}

/** A service may send more codes, which the document calls an addition. No service of this project does. */
const SENT = [200, 400, 401, 404, 500]

function responseSchema({ responses }: Operation, status: number): Reference | undefined {
  const response = SENT.includes(status) ? responses[status] : undefined
  return response && resolve<MediaTypes>(response).content['application/json'].schema
}

function resolve<T>(value: Partial<Reference>): T {
  if (value.$ref === undefined) return value as T
  const keys = value.$ref.replace('#/', '').split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], DOCUMENT) as T
}
