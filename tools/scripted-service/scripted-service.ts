import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  createScriptedRuns,
  type Endpoint,
  refuse,
  type Script,
  type ScriptedResponse,
  type ScriptedStart,
} from './scripted-runs.ts'

export type { Script, ScriptedRun, ScriptedStart } from './scripted-runs.ts'

/** A fault of one endpoint. If several faults apply to a request, the first fault happens. */
export interface Fault {
  readonly on: Endpoint
  /** The first and the last request of the endpoint that have the fault, counted from 1. The default is all requests. */
  readonly from?: number
  readonly to?: number
  /** What happens in place of the request's effect and its response: another response, or none at all. Absent with `until`. */
  readonly do?: { readonly status: number; readonly body?: unknown } | 'hang'
  /** The effect of the request comes at once, and the response after this promise settles. */
  readonly until?: Promise<unknown>
}

export interface RecordedRequest {
  readonly kind: Endpoint | 'unknown'
  readonly method: string
  /** Path and query as they came over the wire, undecoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Since the service began. */
  readonly atMs: number
}

export interface ScriptedServiceOptions {
  /** The default is any free port. */
  readonly port?: number
  /** PEM texts. If they are given, the service speaks HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined
  readonly key?: string
  readonly script?: Script | ((start: ScriptedStart) => Script)
  readonly faults?: readonly Fault[]
}

export type ScriptedService = Awaited<ReturnType<typeof startScriptedService>>

const ID = '([^/]+)'
const ENDPOINTS: readonly (readonly [Endpoint, method: string, path: RegExp])[] = [
  ['start', 'POST', RegExp(`^/v1/projects/${ID}/runs$`)],
  ['cancel', 'POST', RegExp(`^/v1/projects/${ID}/runs/cancel$`)],
  ['get', 'GET', RegExp(`^/v1/projects/${ID}/runs/${ID}$`)],
  ['output', 'GET', RegExp(`^/v1/projects/${ID}/runs/${ID}/output(?:\\?.*)?$`)],
]

/**
 * A test run service for tests. It has real sockets, and its runs follow a script and execute nothing. It can have faults. It
 * accepts every body that is JSON: `expectConformingRequests` checks what clients sent.
 */
export async function startScriptedService(options: ScriptedServiceOptions = {}) {
  const { key = randomBytes(16).toString('hex') } = options
  const faults = [...(options.faults ?? [])]
  const requests: RecordedRequest[] = []
  const arrivals = new EventEmitter()
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')
  const beganAtMs = performance.now()
  let script = options.script ?? {}
  const scripted = createScriptedRuns((start) => (typeof script === 'function' ? script(start) : script))
  const countOf = (kind: RecordedRequest['kind']) => requests.filter((request) => request.kind === kind).length

  function respondTo({ kind, headers, path, body }: RecordedRequest, ids: readonly string[]): ScriptedResponse {
    if (headers.authorization !== `Bearer ${key}`) return refuse(401, 'The API key is missing or invalid.')
    if (kind === 'unknown') return refuse(404, `There is no such endpoint as "${path}".`)
    const [id = '', runId = ''] = ids.map(decodeURIComponent)
    const given = kind === 'output' ? path.split('?')[1] : body === '' ? undefined : JSON.parse(body)
    return scripted.endpoints[kind](given, id, runId)
  }

  const service = await listen(options, async (message, response) => {
    // If a fault makes a client close the connection early, this is no error of the service.
    response.on('error', () => undefined)
    const body = await text(message).catch(() => undefined)
    // The client closed the connection before it had sent all.
    if (body === undefined) return
    const { method = '', url: path = '', headers } = message
    const { kind, ids } = findEndpoint(method, path)
    const request = { kind, method, path, headers, body, atMs: performance.now() - beganAtMs }
    requests.push(request)
    const occurrence = countOf(kind)
    const fault = faults.find(
      ({ on, from = 1, to = Infinity }) => on === kind && from <= occurrence && occurrence <= to,
    )
    const result = fault?.do ?? respondTo(request, ids)
    arrivals.emit('request')

    if (fault?.until !== undefined) await Promise.race([fault.until, closed])
    if (closing.signal.aborted || result === 'hang') return
    const content = JSON.stringify(result.body ?? { error: 'A scripted fault.' })
    const contentHeaders = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(content),
    }
    response.writeHead(result.status, contentHeaders).end(content)
  })

  return {
    url: service.url,
    key,
    requests: requests as readonly RecordedRequest[],
    get runs() {
      return scripted.runs
    },
    addFault: (fault: Fault) => void faults.push(fault),
    /** Applies to later starts. */
    setScript: (next: NonNullable<typeof options.script>) => {
      script = next
    },
    /** Resolves when `count` such requests have arrived. Requests before the call count too. */
    async waitForRequest(kind: Endpoint, count = 1): Promise<void> {
      while (countOf(kind) < count) await once(arrivals, 'request', { signal: closing.signal })
    },
    async close() {
      closing.abort()
      await service.close()
    },
  }
}

/** A server on this machine, with HTTPS if it has a certificate. */
export async function listen(
  { port = 0, tls }: Pick<ScriptedServiceOptions, 'port' | 'tls'>,
  onRequest: RequestListener,
) {
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The endpoint, and the encoded ids in the path. */
function findEndpoint(
  method: string,
  path: string,
): { readonly kind: RecordedRequest['kind']; readonly ids: readonly string[] } {
  for (const [kind, methodOfPath, pattern] of ENDPOINTS) {
    const [, ...ids] = (methodOfPath === method && pattern.exec(path)) || []
    if (ids.length > 0) return { kind, ids }
  }
  return { kind: 'unknown', ids: [] }
}
