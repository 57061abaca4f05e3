import { setFlagsFromString } from 'node:v8'
import type { Dispatcher } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export interface Proxies {
  readonly httpsProxy?: string | undefined
  readonly noProxy?: string | undefined
}

export type Connections = Awaited<ReturnType<typeof openConnections>>

type Connector = ReturnType<typeof buildConnector>

// `rejectUnauthorized` is set, because its default is NODE_TLS_REJECT_UNAUTHORIZED, which an earlier step may have set.
const CONNECT = { rejectUnauthorized: true, allowH2: false }

const SETTINGS = {
  allowH2: false,
  // The transport limits each request itself, so undici's own limits are off. A connection stays open from one poll to
  // the next, which comes within 16.5 s by default. If the server's Keep-Alive header asks for less, undici obeys.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 20_000,
} as const

/** Opens connections to the service, through the proxy if there is one. Throws if the proxy's address is unusable. */
export async function openConnections(origin: string, { httpsProxy, noProxy }: Proxies) {
  const direct = () => openPool(origin, { ...SETTINGS, connect: buildConnector(CONNECT) })
  const open = httpsProxy === undefined ? direct : await proxiedConnections(httpsProxy, noProxy)
  let dispatcher = open()
  return {
    /** Sends a request. If it cannot be sent, this calls `onResponseError` and does not throw. */
    dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
      dispatcher.dispatch(request, handler)
      preventSecondParserCompilation()
    },
    /** Later requests use new connections. */
    renew(): void {
      void dispatcher.close()
      dispatcher = open()
    },
    destroy: () => dispatcher.destroy(),
  }
}

/**
 * V8 compiles undici's WebAssembly parser a second time, to optimise it. The exit would wait about 40 ms for that, so a flag
 * prevents it. After a flag has changed, V8 ignores the code cache of Node's modules. So the flag is set only after a request
 * was dispatched, when all modules that requests need are loaded.
 */
function preventSecondParserCompilation(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000')
}

async function proxiedConnections(proxy: string, noProxy = ''): Promise<() => Dispatcher> {
  const { EnvHttpProxyAgent } = await import('undici')
  const settings = {
    ...SETTINGS,
    connect: buildConnector(CONNECT),
    requestTls: CONNECT,
    factory: openPool,
    httpsProxy: proxy,
    httpProxy: proxy,
    noProxy,
  }
  // If `proxyTls` is given, undici speaks TLS to any proxy, even to a SOCKS proxy.
  const isTlsProxy = URL.parse(proxy)?.protocol === 'https:'
  return () => new EnvHttpProxyAgent(isTlsProxy ? { ...settings, proxyTls: CONNECT } : settings)
}

/** Destroys a socket at its first error. Otherwise undici reports the closed connection, and not the TLS alert that caused it. */
function openPool(origin: string | URL, options: object): Dispatcher {
  const { connect } = options as { connect: Connector }
  const closingOnError: Connector = (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result
      socket?.once('error', (cause) => socket.destroy(cause))
      callback(...result)
    })
  return new Pool(origin, { ...options, connect: closingOnError })
}
