import type { Dispatcher } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Pool from 'undici/lib/dispatcher/pool.js'

/** The proxy variables of the environment, whichever case of letters they came in. */
export interface Proxies {
  readonly httpsProxy?: string | undefined
  readonly noProxy?: string | undefined
}

export interface Connections {
  readonly dispatcher: Dispatcher
  /** Leaves the open connections to their requests and opens new ones for those that follow. */
  renew(): void
}

type Connector = ReturnType<typeof buildConnector>

// Set here, because Node's default for it is NODE_TLS_REJECT_UNAUTHORIZED, which any earlier step can set.
const CONNECT = { timeout: 10_000, rejectUnauthorized: true }

const SETTINGS = {
  allowH2: false,
  connect: CONNECT,
  // Our own limit ends a request; undici's must not come first. A poll comes at least every 15 s, and servers that
  // close sooner say so in their Keep-Alive header.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 20_000,
} as const

/** The proxy for an origin, unless `NO_PROXY` names it. Plain http goes to the machine itself, never through a proxy. */
export function proxyFor(origin: string, { httpsProxy }: Proxies): string | undefined {
  return origin.startsWith('https:') ? httpsProxy : undefined
}

/** Connections to the service's origin, through the proxy if there is one. Throws on an unusable proxy address. */
export async function openConnections(origin: string, proxies: Proxies): Promise<Connections> {
  const open = await dispatcherFactory(origin, proxies)
  let dispatcher = open()
  return {
    get dispatcher() {
      return dispatcher
    },
    renew() {
      void dispatcher.close()
      dispatcher = open()
    },
  }
}

async function dispatcherFactory(origin: string, proxies: Proxies): Promise<() => Dispatcher> {
  const httpsProxy = proxyFor(origin, proxies)
  if (httpsProxy === undefined) {
    const connect = buildConnector({ ...CONNECT, allowH2: false })
    return () => new Pool(origin, { ...SETTINGS, connect: closingOnError(connect) })
  }
  const { EnvHttpProxyAgent } = await import('undici')
  const noProxy = proxies.noProxy ?? ''
  const settings = { ...SETTINGS, requestTls: CONNECT, httpsProxy, httpProxy: httpsProxy, noProxy }
  // If it is given, undici also speaks TLS to a SOCKS proxy.
  const isTlsProxy = URL.parse(httpsProxy)?.protocol === 'https:'
  return () => new EnvHttpProxyAgent(isTlsProxy ? { ...settings, proxyTls: CONNECT } : settings)
}

/** A TLS alert leaves its socket open, and the end of the connection, which comes next, would hide what it said. */
function closingOnError(connect: Connector): Connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      socket?.once('error', (cause) => socket.destroy(cause))
      if (error === null) callback(null, socket)
      else callback(error, null)
    })
}
