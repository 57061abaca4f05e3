import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { excerptWithoutKey } from './key.ts'

/** The limits are those of the action. */
const REQUEST_LIMIT_MS = 30_000
const BODY_LIMIT_BYTES = 16 * 1024 * 1024
/** How much of a body a report can need. */
const KEPT_CHARS = 2000

export type Endpoint = 'start' | 'read' | 'cancel' | 'suite-start' | 'suite-status' | 'suite-result'

export interface Request {
  readonly endpoint: Endpoint
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string | Buffer | undefined
  /** What is sent in place of the valid key, and how a report names it. */
  readonly credentials?: { readonly name: string; readonly header: string | null } | undefined
  /** The rule that the request was sent to test. Absent for an ordinary request. */
  readonly probe?: string | undefined
  /** The run that it reads or cancels. */
  readonly runId?: string | undefined
}

export interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The beginning of the body, without the key. */
  readonly text: string
  /** Absent if the body is not JSON. */
  readonly json?: unknown
}

/** If both are absent, the check itself ended the request. */
interface Reply {
  readonly response?: Response
  readonly failure?: string
}

export interface Exchange extends Request, Reply {
  /** Its place in the order in which the requests were sent. */
  readonly index: number
  readonly atMs: number
  readonly durationMs?: number
}

export type Send = (request: Request, signal: AbortSignal) => Promise<Reply>

/** Sends requests as the action does. It never repeats or redirects a request, and needs a valid certificate. */
export function createSend({ url, key }: { readonly url: URL; readonly key: string }): Send {
  const isTls = url.protocol === 'https:'
  // Each request gets a new connection. So it never uses a connection that the service has just closed.
  const agent = isTls ? new Agent({ keepAlive: false, proxyEnv: process.env }) : undefined
  const base = url.href.replace(/\/$/, '')
  return async ({ method, path, body, credentials = { name: '', header: `Bearer ${key}` } }, signal) => {
    const limit = AbortSignal.timeout(REQUEST_LIMIT_MS)
    const headers = {
      accept: 'application/json',
      ...(credentials.header === null ? {} : { authorization: credentials.header }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const either = AbortSignal.any([limit, signal])
    const options = { method, headers, signal: either, rejectUnauthorized: true, ...(agent && { agent }) }
    try {
      const message = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = (isTls ? httpsRequest : httpRequest)(base + path, options, resolve)
        request.on('error', reject).end(body)
      })
      const bytes = await readBody(message)
      return { response: { status: message.statusCode ?? 0, headers: message.headers, ...decode(bytes, key) } }
    } catch (error) {
      if (signal.aborted) return {}
      const { message, code } = error as NodeJS.ErrnoException
      return { failure: limit.aborted ? 'no complete response within 30 s' : message || String(code) }
    }
  }
}

async function readBody(message: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > BODY_LIMIT_BYTES) throw new Error('the body is larger than 16 MiB')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const { gunzip, inflate, brotliDecompress } = zlib
  const decompress = { gzip: gunzip, deflate: inflate, br: brotliDecompress }[message.headers['content-encoding'] ?? '']
  if (decompress === undefined) return bytes
  return promisify<Buffer, zlib.ZlibOptions, Buffer>(decompress)(bytes, { maxOutputLength: BODY_LIMIT_BYTES }).catch(
    (error) => Promise.reject(new Error(`the body cannot be decompressed to at most 16 MiB: ${error.message}`)),
  )
}

function decode(bytes: Uint8Array, key: string): Pick<Response, 'text' | 'json'> {
  // A byte order mark stays. JSON cannot begin with it, and the action does not parse it either.
  const decoder = (fatal: boolean) => new TextDecoder('utf-8', { fatal, ignoreBOM: true })
  const text = excerptWithoutKey(decoder(false).decode(bytes), key, KEPT_CHARS)
  try {
    return { text, json: JSON.parse(decoder(true).decode(bytes)) }
  } catch {
    return { text }
  }
}
