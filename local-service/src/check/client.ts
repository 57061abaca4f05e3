import type { ErrorObject } from 'ajv'
import { errorsOf, findOperation, type Operation, responseSchema } from './openapi.ts'

/** As the action has it. */
const REQUEST_LIMIT_MS = 30_000

export interface Request {
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Sent as it is. */
  readonly rawBody?: string
  /** Instead of the valid one; null: none. */
  readonly authorization?: string | null
}

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly authorization: string | null
  readonly body?: string | undefined
  readonly response?: Response
  readonly failure?: string
}

export interface Response {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Absent if the text is not JSON. */
  readonly json?: unknown
  /** What the body has against docs/openapi.yaml. */
  readonly errors: readonly ErrorObject[]
}

/** Sends one request as the action would: never repeated, never redirected. Does not throw. */
export async function exchange(
  { url, key }: { readonly url: URL; readonly key: string },
  method: 'GET' | 'POST',
  segments: readonly string[],
  { body, rawBody = body && JSON.stringify(body), authorization = `Bearer ${key}` }: Request = {},
): Promise<Exchange> {
  const path = `/${segments.map(encodeURIComponent).join('/')}`
  const operation = findOperation(method, path)
  if (operation === undefined) throw new Error(`${method} ${path} is not in docs/openapi.yaml.`)
  const headers = {
    accept: 'application/json',
    ...(authorization === null ? {} : { authorization }),
    ...(rawBody === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const sent = { method, path, operation, authorization, body: rawBody }
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS)
  try {
    const options = { method, headers, body: rawBody ?? null, redirect: 'manual', signal } as const
    const response = await fetch(url.href.replace(/\/$/, '') + path, options)
    const { status } = response
    const text = await response.text()
    return { ...sent, response: { status, headers: response.headers, text, ...decode(operation, status, text) } }
  } catch (error) {
    const { message, cause } = error as Error
    return { ...sent, failure: signal.aborted ? 'no complete response in time' : String(cause ?? message) }
  }
}

function decode(operation: Operation, status: number, text: string): Pick<Response, 'json' | 'errors'> {
  try {
    const json: unknown = JSON.parse(text)
    // That a status is not documented is a problem of its own: its body is held against its like.
    const schema = responseSchema(operation, status) ?? responseSchema(operation, status < 300 ? 200 : 400)
    return { json, errors: schema === undefined ? [] : errorsOf(schema, json) }
  } catch {
    return { errors: [] }
  }
}
