import type { Agent } from 'node:http'
import type { Socket } from 'node:net'

export interface Proxies {
  readonly httpsProxy?: string | undefined
  readonly noProxy?: string | undefined
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Whoever stops reading before the end closes the connection. */
  readonly body: AsyncIterable<Buffer>
}

export interface Connections {
  /**
   * Sends a request, and resolves with the head of its response. Calls `onSent` immediately before the first byte is written. If the
   * signal aborts, the connection is closed, and a request that was not sent is not sent any more.
   */
  request(request: HttpRequest, signal: AbortSignal, onSent: () => void): Promise<HttpResponse>
  /** Later requests use new connections. */
  renew(): void
}

/** An idle connection is closed after this time. By default, the pause between two polls is at most 16.5 s, so they share a connection. */
const IDLE_LIMIT_MS = 20_000

// `rejectUnauthorized` is set, because its default is NODE_TLS_REJECT_UNAUTHORIZED, which an earlier step may have set.
const TLS = { rejectUnauthorized: true }

/** Opens connections to the service, through the proxy if there is one. Throws if the proxy's address is unusable. */
export async function openConnections(origin: string, { httpsProxy, noProxy }: Proxies): Promise<Connections> {
  return httpsProxy === undefined ? directConnections(new URL(origin)) : proxied(origin, httpsProxy, noProxy)
}

/** Uses Node's own client. undici, which most steps do not need, takes longer to load than all the rest of the action. */
function directConnections({ protocol, hostname, port }: URL): Connections {
  const isTls = protocol === 'https:'
  // Not imports, because a step with a service on its own machine needs no TLS, which takes long to load.
  const { Agent, request } = process.getBuiltinModule(isTls ? 'node:https' : 'node:http')
  const agent = new Agent({ ...TLS, keepAlive: true, timeout: IDLE_LIMIT_MS })
  connectFirst(agent, isTls ? 'secureConnect' : 'connect')
  // An IPv6 address stands in brackets in an address, and without them everywhere else.
  const service = { agent, protocol, port, host: hostname.replace(/^\[|\]$/g, '') }
  return {
    request: ({ body: sentBody, ...options }, signal, onSent) =>
      new Promise((resolve, reject) => {
        const outgoing = request({ ...service, ...options, signal })
        // Because of `connectFirst`, this event comes when the connection is made. Node writes the request right after it.
        outgoing.on('socket', onSent)
        outgoing.on('response', (response) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
        )
        outgoing.on('error', reject)
        // After status 101 with an `Upgrade` header, Node closes the connection, and emits neither `response` nor `error`. After a response, this
        // has no effect.
        outgoing.on('close', () => reject(new Error('the connection was closed')))
        outgoing.end(sentBody ?? undefined)
      }),
    renew: () => agent.destroy(),
  }
}

/**
 * By default, Node emits a request's event `socket` before the connection is made. This function holds the socket back until the connection is
 * made. So if the event `socket` has not come, nothing was sent, and a start may be repeated.
 */
function connectFirst(agent: Agent, made: 'connect' | 'secureConnect'): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, giveSocket = () => {}) => {
    const socket = connect(options) as Socket
    const onError = (error: Error) => giveSocket(error, socket)
    socket.on('error', onError)
    socket.once(made, () => {
      socket.off('error', onError)
      giveSocket(null, socket)
    })
    // Node then waits until `giveSocket` is called. Its page about `agent.createConnection` allows this.
    return undefined
  }
}

/** Uses undici, which speaks to HTTP and SOCKS proxies and knows the rules of NO_PROXY. */
async function proxied(origin: string, proxy: string, noProxy = ''): Promise<Connections> {
  const { EnvHttpProxyAgent } = await import('undici')
  const tls = { ...TLS, allowH2: false }
  const settings = {
    allowH2: false,
    // With one connection, the first poll uses the tunnel of the start, and does not open a second one.
    connections: 1,
    // The transport limits each request itself, so undici's own limits are off.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_LIMIT_MS,
    connect: tls,
    requestTls: tls,
    httpsProxy: proxy,
    httpProxy: proxy,
    noProxy,
  }
  const open = () => new EnvHttpProxyAgent({ ...settings, ...settingsOfProxy(new URL(proxy), tls) })
  let agent = open()
  return {
    async request(request, signal, onSent) {
      // undici says that a request is sent only to the handler of the request, by `onRequestStart`. So this method is replaced by one that also
      // calls `onSent`.
      const telling = agent.compose((dispatch) => (options, handler) => {
        const onRequestStart = handler.onRequestStart?.bind(handler)
        handler.onRequestStart = (...start) => {
          onSent()
          onRequestStart?.(...start)
        }
        return dispatch(options, handler)
      })
      const { statusCode: status, headers, body } = await telling.request({ origin, ...request, signal })
      return { status, headers, body }
    },
    renew() {
      void agent.close()
      agent = open()
    },
  }
}

function settingsOfProxy({ protocol, username, password }: URL, tls: typeof TLS) {
  // If `proxyTls` is given, undici speaks TLS to any proxy, even to a SOCKS proxy.
  if (protocol === 'https:') return { proxyTls: tls }
  // undici decodes the user and the password only for an HTTP proxy.
  const isSocks = protocol.startsWith('socks') && username !== ''
  return isSocks ? { username: decodeURIComponent(username), password: decodeURIComponent(password) } : {}
}
