import type { Proxies } from '../service/connection.ts'
import { logLine } from '../text/safe-text.ts'
import type { Environment } from './event.ts'
import type { InputReader } from './input-reader.ts'

/**
 * The proxy for the service, from the variables that the runner sets in both cases of letters and people in either.
 * Only an https: address is reached through one: plain http: goes to the machine itself and never leaves it.
 */
export function readProxies(inputs: Pick<InputReader, 'problem'>, env: Environment, { protocol }: URL): Proxies {
  if (protocol !== 'https:') return {}
  const noProxy = env.no_proxy || env.NO_PROXY || undefined
  const given = env.https_proxy || env.HTTPS_PROXY
  if (!given) return { noProxy }
  // As curl does, a proxy without a scheme is taken for an HTTP proxy.
  const httpsProxy = given.includes('://') ? given : `http://${given}`
  if (isProxyAddress(httpsProxy)) return { httpsProxy, noProxy }
  inputs.problem(
    logLine`The environment variable HTTPS_PROXY is not the address of a proxy (its value is not shown, because it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.`,
  )
  return {}
}

function isProxyAddress(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || url.hostname === '' || !/^(https?|socks5?):$/.test(url.protocol)) return false
  try {
    // Both go to the proxy decoded.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}
