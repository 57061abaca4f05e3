import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { readOpenApiDocument } from '../http/openapi-document.ts'
import { matchPath } from '../http/routes.ts'

export interface Reference {
  readonly $ref: string
}

export interface MediaTypes {
  readonly content: { readonly 'application/json': { readonly schema: Reference } }
}

export interface Operation {
  readonly operationId: string
  readonly requestBody?: MediaTypes & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Partial<Reference>>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export const DOCUMENT: Document = parse(await readOpenApiDocument())

const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addFormat('date-time', (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text))
ajv.addSchema(DOCUMENT, 'openapi')

/** The endpoint of a path, which is percent-encoded. */
export function findOperation(method: string, target: string): Operation | undefined {
  const path = target.split('?', 1)[0] ?? ''
  const fitting = Object.entries(DOCUMENT.paths).filter(([template]) => matchPath(path, template))
  return fitting.map(([, operations]) => operations[method.toLowerCase()]).find((operation) => operation)
}

/** The schema of a response, if the document has the status. */
export function responseSchema({ responses }: Operation, status: number | string): Reference | undefined {
  const response = responses[status]
  return response && resolve<MediaTypes>(response).content['application/json'].schema
}

export function resolve<T>(value: Partial<Reference>): T {
  if (value.$ref === undefined) return value as T
  const keys = value.$ref.replace('#/', '').split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], DOCUMENT) as T
}

export function errorsOf({ $ref }: Reference, value: unknown): readonly ErrorObject[] {
  const validate = ajv.getSchema(`openapi${$ref}`) as ValidateFunction
  return validate(value) ? [] : (validate.errors ?? [])
}

export function describeError({ instancePath, message }: ErrorObject): string {
  return `${instancePath || 'the body'} ${message}`
}
