import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { type ListenOptions, listen, sendResponse, toServiceRequest } from './listen.ts'
import { errorResponse, handleRequest, ok } from './request-handler.ts'
import { type Endpoint, findRoute, type Route } from './routes.ts'
import { createScriptedRuns, type Script, type ScriptedResponse, type ScriptedStart } from './scripted-runs.ts'

export type { Script, ScriptedRun, ScriptedStart } from './scripted-runs.ts'

/** What goes wrong with the requests of one endpoint. The first fault that applies to a request is the one that happens. */
export interface Fault {
  readonly on: Endpoint
  /** The first and the last of that endpoint's requests, counted from 1 since the service started. Default: all. */
  readonly from?: number
  readonly to?: number
  /** Absent: the normal response, for use with `delayMs`. */
  readonly do?: FaultAction
  /** The request still takes effect, as a start that is accepted and whose response is then lost. Default: false. */
  readonly effect?: boolean
  /** How much later the response is sent. The effect, if there is one, comes before. */
  readonly delayMs?: number
}

export type FaultAction =
  | {
      readonly status: number
      readonly body?: unknown
      /** Sent as it is instead of `body`. */
      readonly rawBody?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The connection is reset instead of a response. */
  | 'reset'
  /** No response, ever. */
  | 'hang'
  /** Half of the body that the headers announce, then the end of the connection. */
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
  /** Absent until a response was sent; it stays absent after a reset or a hang. */
  readonly response?: RecordedResponse | undefined
}

export interface RecordedResponse {
  readonly status: number
  /** Before it was turned into JSON. */
  readonly body: unknown
  /** A fault or a script made it other than the interface has it. */
  readonly deviates: boolean
}

export interface ScriptedServiceOptions extends ListenOptions {
  /** Default: one generated key. */
  readonly keys?: readonly string[]
  readonly script?: Script | ((start: ScriptedStart) => Script)
  readonly faults?: readonly Fault[]
  /** As a reverse proxy might put before every path, for example `/api`. */
  readonly pathPrefix?: string
}

export type ScriptedService = Awaited<ReturnType<typeof startScriptedService>>

/**
 * A test run service for tests: real sockets and the interface's own rules, with runs that follow a script and, if
 * wanted, faults. Nothing is executed.
 */
export async function startScriptedService(options: ScriptedServiceOptions = {}) {
  const keys = options.keys ?? [randomBytes(16).toString('hex')]
  const prefix = options.pathPrefix ?? ''
  const faults = [...(options.faults ?? [])]
  const requests: Mutable<RecordedRequest>[] = []
  const waiting = new Set<() => void>()
  const closing = new AbortController()
  const beganAtMs = performance.now()
  let script = options.script ?? {}
  const scripted = createScriptedRuns((start) => (typeof script === 'function' ? script(start) : script))

  const listener = await listen(options, async (message, response) => {
    // A client that hangs up early, which is what faults provoke, is not an error of the service.
    response.on('error', () => undefined)
    const request = toServiceRequest(message, response)
    // Read before the key is checked: what is recorded are the requests that arrived whole, whatever their key.
    const body = await request.readBody()
    if (!message.complete) return
    const path = request.target
    const target = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : ''
    const { kind } = findRoute(request.method, target)
    const record: Mutable<RecordedRequest> = {
      kind,
      method: request.method,
      path,
      headers: message.headers,
      body: body.kind === 'valid' ? body.value : body.error,
      atMs: performance.now() - beganAtMs,
    }
    requests.push(record)
    const occurrence = requests.filter((other) => other.kind === kind).length
    const fault = faults.find(
      ({ on, from = 1, to = Infinity }) => on === kind && from <= occurrence && occurrence <= to,
    )
    const action = fault?.do
    const takesEffect = action === undefined || fault?.effect === true || message.method === 'GET'
    let result: ScriptedResponse = ok({})
    try {
      if (takesEffect)
        result = await handleRequest({ ...request, target, readBody: async () => body }, keys, scripted.backend)
    } catch (error) {
      result = errorResponse(500, `The test's script threw: ${String(error)}`)
    }
    for (const look of waiting) look()

    if (fault?.delayMs !== undefined) {
      await delay(fault.delayMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
    if (closing.signal.aborted) return
    record.response = sendOrFault(response, result, action)
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
    /** For the starts that come after. */
    setScript: (next: NonNullable<typeof options.script>) => {
      script = next
    },
    finishRun: scripted.finishRun,
    /** Resolves once `count` such requests have arrived, those before the call included. */
    waitForRequest(which: Endpoint | ((request: RecordedRequest) => boolean), count = 1): Promise<void> {
      const fits = typeof which === 'string' ? (request: RecordedRequest) => request.kind === which : which
      return new Promise((resolve, reject) => {
        const look = () => {
          if (requests.filter(fits).length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        closing.signal.addEventListener('abort', () => reject(new Error('The scripted service closed before that.')))
        look()
      })
    },
    async close() {
      closing.abort()
      await listener.close()
    },
  }
}

/** Sends the response, or what the fault makes of it. Returns what was sent. */
function sendOrFault(
  to: ServerResponse,
  { deviates = false, ...response }: ScriptedResponse,
  action: FaultAction | undefined,
): RecordedResponse | undefined {
  const { status, body } = response
  if (action === undefined) {
    sendResponse(to, response)
    return { status, body, deviates }
  }
  if (action === 'hang') return undefined
  if (action === 'reset') {
    const { socket } = to
    // Only a plain TCP socket can send a reset; a TLS one is just closed.
    if (socket instanceof TLSSocket) socket.destroy()
    else socket?.resetAndDestroy()
    return undefined
  }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  if (action === 'truncate') {
    const text = JSON.stringify(body)
    to.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    to.write(text.slice(0, Math.floor(text.length / 2)), () => to.destroy())
    return { status, body, deviates: true }
  }
  const faultBody = action.rawBody ?? action.body ?? { error: 'A scripted fault.' }
  to.writeHead(action.status, { ...headers, ...action.headers })
  to.end(action.rawBody ?? JSON.stringify(faultBody))
  return { status: action.status, body: faultBody, deviates: true }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
