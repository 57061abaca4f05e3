import type { Dispatcher } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export interface Proxies {
  readonly httpsProxy?: string | undefined
  readonly noProxy?: string | undefined
}

export type Connections = Awaited<ReturnType<typeof openConnections>>

type Connector = ReturnType<typeof buildConnector>

// Set here, because Node's default for it is NODE_TLS_REJECT_UNAUTHORIZED, which any earlier step can set.
const CONNECT = { rejectUnauthorized: true, allowH2: false }

const SETTINGS = {
  allowH2: false,
  // Our own limit ends a request; undici's must not come first. A poll comes at least every 15 s, and servers that
  // close sooner say so in their Keep-Alive header.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 20_000,
} as const

/** Connections to the service's origin, through the proxy if there is one. Throws on an unusable proxy address. */
export async function openConnections(origin: string, { httpsProxy, noProxy }: Proxies) {
  const direct = () => openPool(origin, { ...SETTINGS, connect: buildConnector(CONNECT) })
  const open = httpsProxy === undefined ? direct : await proxiedConnections(httpsProxy, noProxy)
  let dispatcher = open()
  return {
    get dispatcher() {
      return dispatcher
    },
    /** Leaves the open connections to their requests and opens new ones for those that follow. */
    renew(): void {
      void dispatcher.close()
      dispatcher = open()
    },
  }
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
  // If it is given, undici also speaks TLS to a SOCKS proxy.
  const isTlsProxy = URL.parse(proxy)?.protocol === 'https:'
  return () => new EnvHttpProxyAgent(isTlsProxy ? { ...settings, proxyTls: CONNECT } : settings)
}

/** A TLS alert leaves its socket open, and the end of the connection, which comes next, would hide what it said. */
function openPool(origin: string | URL, options: object): Dispatcher {
  const { connect } = options as { connect: Connector }
  const closingOnError: Connector = (target, callback) =>
    connect(target, (...[error, socket]) => {
      socket?.once('error', (cause) => socket.destroy(cause))
      if (error === null) callback(null, socket)
      else callback(error, null)
    })
  return new Pool(origin, { ...options, connect: closingOnError })
}
