import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'

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

export const OPENAPI_FILE = join(import.meta.dirname, '../../docs/openapi.yaml')
export const DOCUMENT: Document = parse(readFileSync(OPENAPI_FILE, 'utf8'))

const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addSchema(DOCUMENT, 'openapi')

/** The endpoint of a path, which is percent-encoded. */
export function findOperation(method: string, target: string): Operation | undefined {
  const path = target.split('?', 1)[0] ?? ''
  const fitting = Object.entries(DOCUMENT.paths).filter(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
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
