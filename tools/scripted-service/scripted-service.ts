import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { type ListenOptions, listen, sendResponse, toServiceRequest } from '../../local-service/src/http/listen.ts'
import { handleRequest, ok, type ServiceResponse } from '../../local-service/src/http/request-handler.ts'
import { type Endpoint, findRoute, type Route } from '../../local-service/src/http/routes.ts'
import { createScriptedRuns, type Script, type ScriptedStart } from './scripted-runs.ts'

export type { Script, ScriptedRun, ScriptedStart } from './scripted-runs.ts'

/** A fault of one endpoint. If several faults apply to a request, the first fault happens. */
export interface Fault {
  readonly on: Endpoint
  /** The first and the last request of the endpoint that have the fault, counted from 1. The default is all requests. */
  readonly from?: number
  readonly to?: number
  /** If absent, the response is the normal one. Use this with `delayMs`. */
  readonly do?: FaultAction
  /** If true, the request takes effect, for example a start whose response is lost. The default is false. */
  readonly effect?: boolean
  /** How much later the response is sent. An effect of the request comes before. */
  readonly delayMs?: number
  /** The response is sent after this promise settles. An effect of the request comes before. */
  readonly until?: Promise<unknown>
}

export type FaultAction =
  | {
      readonly status: number
      readonly body?: unknown
      /** Sent as it is instead of `body`. */
      readonly rawBody?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The connection is reset, and there is no response. */
  | 'reset'
  /** There is never a response. */
  | 'hang'
  /** The response ends after half of the body that its headers announce. */
  | 'truncate'

export interface RecordedRequest {
  readonly kind: Route['kind']
  readonly method: string
  /** Path and query as they came over the wire, undecoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Since the service began. */
  readonly atMs: number
  /** Absent until a response is sent. After a reset or a hang, it stays absent. */
  readonly response?: { readonly status: number } | undefined
}

export interface ScriptedServiceOptions extends ListenOptions {
  /** The default is one generated key. */
  readonly keys?: readonly string[]
  readonly script?: Script | ((start: ScriptedStart) => Script)
  readonly faults?: readonly Fault[]
  /** A prefix of every path, as a reverse proxy may add it, for example `/api`. */
  readonly pathPrefix?: string
}

export type ScriptedService = Awaited<ReturnType<typeof startScriptedService>>

/**
 * A test run service for tests. It has real sockets and follows the interface's rules. Its runs follow a script and execute
 * nothing. It can have faults.
 */
export async function startScriptedService(options: ScriptedServiceOptions = {}) {
  const keys = options.keys ?? [randomBytes(16).toString('hex')]
  const prefix = options.pathPrefix ?? ''
  const faults = [...(options.faults ?? [])]
  const requests: RecordedRequest[] = []
  const arrivals = new EventEmitter()
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')
  const beganAtMs = performance.now()
  let script = options.script ?? {}
  const scripted = createScriptedRuns((start) => (typeof script === 'function' ? script(start) : script))
  const countOf = (kind: Route['kind']) => requests.filter((request) => request.kind === kind).length

  const listener = await listen(options, async (message, response) => {
    // If a fault makes a client close the connection early, this is no error of the service.
    response.on('error', () => undefined)
    const request = toServiceRequest(message, response)
    // The body is read before the key is checked, because every request that arrives whole is recorded.
    const body = await request.readBody()
    if (!message.complete) return
    const { method, target: path, headers } = request
    const target = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : ''
    const { kind } = findRoute(method, target)
    const text = body.kind === 'valid' ? body.value : body.error
    const atMs = performance.now() - beganAtMs
    const index = requests.push({ kind, method, path, headers, body: text, atMs }) - 1
    const occurrence = countOf(kind)
    const fault = faults.find(
      ({ on, from = 1, to = Infinity }) => on === kind && from <= occurrence && occurrence <= to,
    )
    const takesEffect = fault?.do === undefined || fault.effect === true || method === 'GET'
    const result = takesEffect
      ? await handleRequest({ ...request, target, readBody: async () => body }, keys, scripted.backend)
      : ok({})
    arrivals.emit('request')

    if (fault?.delayMs !== undefined) {
      await delay(fault.delayMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
    if (fault?.until !== undefined) await Promise.race([fault.until, closed])
    if (closing.signal.aborted) return
    const status = sendOrFault(response, result, fault?.do)
    if (status !== undefined) requests[index] = { ...(requests[index] as RecordedRequest), response: { status } }
  })

  return {
    /** `{base_url}`, path prefix included. */
    url: `${listener.url}${prefix}`,
    port: listener.port,
    key: keys[0] ?? '',
    /** Every request that arrived whole, in order. */
    requests: requests as readonly RecordedRequest[],
    get runs() {
      return scripted.runs
    },
    addFault: (fault: Fault) => void faults.push(fault),
    removeFaults: () => void faults.splice(0),
    /** Applies to later starts. */
    setScript: (next: NonNullable<typeof options.script>) => {
      script = next
    },
    finishRun: scripted.finishRun,
    /** Resolves when `count` such requests have arrived. Requests before the call count too. */
    async waitForRequest(kind: Endpoint, count = 1): Promise<void> {
      while (countOf(kind) < count) await once(arrivals, 'request', { signal: closing.signal })
    },
    async close() {
      closing.abort()
      await listener.close()
    },
  }
}

/** Sends the response as the fault changes it. Returns the status that was sent. */
function sendOrFault(to: ServerResponse, response: ServiceResponse, action: FaultAction | undefined) {
  if (action === 'hang') return undefined
  if (action === 'reset') {
    const { socket } = to
    // Only a plain TCP socket can send a reset. A TLS socket is closed.
    if (socket instanceof TLSSocket) socket.destroy()
    else socket?.resetAndDestroy()
    return undefined
  }
  if (action === undefined) {
    sendResponse(to, response)
    return response.status
  }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  if (action === 'truncate') {
    const text = JSON.stringify(response.body)
    to.writeHead(response.status, { ...headers, 'content-length': Buffer.byteLength(text) })
    to.write(text.slice(0, Math.floor(text.length / 2)), () => to.destroy())
    return response.status
  }
  to.writeHead(action.status, { ...headers, ...action.headers })
  to.end(action.rawBody ?? JSON.stringify(action.body ?? { error: 'A scripted fault.' }))
  return action.status
}
