import { type LogLine, logLine } from '../report/safe-text.ts'
import type { Proxies } from '../service/connection.ts'
import { InvalidInputsError } from './inputs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy variables, which the runner sets in both cases of letters and people in either. Throws InvalidInputsError. */
export function readProxies(env: Environment): Proxies {
  const httpsProxy = readProxy('https_proxy', env)
  const httpProxy = readProxy('http_proxy', env)
  const noProxy = env.no_proxy || env.NO_PROXY
  return {
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(noProxy ? { noProxy } : {}),
  }
}

function readProxy(name: string, env: Environment): string | undefined {
  const given = env[name] || env[name.toUpperCase()]
  if (!given) return undefined
  // As curl does, a proxy without a scheme is taken for an HTTP proxy.
  const address = given.includes('://') ? given : `http://${given}`
  if (isProxyAddress(address)) return address
  throw new InvalidInputsError([proxySentence(name)])
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

function proxySentence(name: string): LogLine {
  return logLine`The environment variable ${name.toUpperCase()} is not the address of a proxy (its value is not shown, since it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.`
}
