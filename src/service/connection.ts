import type { Dispatcher } from 'undici'
import Pool from 'undici/lib/dispatcher/pool.js'

/** The proxy variables of the environment, whichever case of letters they came in. */
export interface Proxies {
  readonly httpsProxy?: string
  readonly httpProxy?: string
  readonly noProxy?: string
}

const SETTINGS = {
  allowH2: false,
  connect: { timeout: 10_000 },
  // Our own limit ends a request; undici's must not come first. A poll comes at least every 15 s, and servers that
  // close sooner say so in their Keep-Alive header.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 20_000,
} as const

/** The proxy that is set for an origin, unless `NO_PROXY` names it. */
export function proxyFor(origin: string, proxies: Proxies): string | undefined {
  // As for the runner itself, HTTP_PROXY is for http: addresses alone; undici would take it for https: ones too.
  return origin.startsWith('https:') ? proxies.httpsProxy : proxies.httpProxy
}

/** Connections to the service's origin, through the proxies where there are any. Throws on an unusable proxy address. */
export async function openConnections(origin: string, proxies: Proxies): Promise<Dispatcher> {
  const proxy = proxyFor(origin, proxies)
  if (proxy === undefined) return new Pool(origin, SETTINGS)
  const { EnvHttpProxyAgent } = await import('undici')
  return new EnvHttpProxyAgent({ ...SETTINGS, httpProxy: proxy, httpsProxy: proxy, noProxy: proxies.noProxy ?? '' })
}
