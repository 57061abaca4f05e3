import { describe, expect, it } from 'vitest'
import { InputReader } from '../../src/inputs/input-reader.ts'
import * as address from '../../src/inputs/service-address.ts'
import type { Proxies } from '../../src/service/connection.ts'

const PROXY = 'http://proxy.example.com:3128'
const SERVICE = new URL('https://tests.example.com')

function readProxies(env: NodeJS.ProcessEnv, service: URL): Proxies {
  const inputs = new InputReader(env)
  return inputs.orThrow(address.readProxies(inputs, env, service))
}

describe('the proxy', () => {
  it.each([
    [
      { https_proxy: PROXY, no_proxy: 'a.example.com' },
      { httpsProxy: PROXY, noProxy: 'a.example.com' },
    ],
    [
      { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example.com' },
      { httpsProxy: PROXY, noProxy: 'a.example.com' },
    ],
    [{ no_proxy: 'a.example.com' }, {}],
    [{ https_proxy: '', HTTPS_PROXY: PROXY, no_proxy: '' }, { httpsProxy: PROXY }],
    [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other:1' }, { httpsProxy: PROXY }],
    [{}, {}],
  ])('is read in upper and lower case: %j', (env, proxies) => {
    expect(readProxies(env, SERVICE)).toEqual(proxies)
  })

  it.each([
    ['proxy.example.com:3128', 'http://proxy.example.com:3128'],
    ['https://ann:p%40ss@proxy.example.com', 'https://ann:p%40ss@proxy.example.com'],
    ['socks5://proxy.example.com:1080', 'socks5://proxy.example.com:1080'],
  ])('may have the address %s', (given, httpsProxy) => {
    expect(readProxies({ HTTPS_PROXY: given }, SERVICE)).toEqual({ httpsProxy })
  })

  const UNUSABLE = [
    'ftp://proxy.example.com',
    'http://',
    'proxy:hunter2@:x',
    'http://ann:100%hunter2@proxy.example.com',
  ]

  it.each(UNUSABLE)('cannot have the address %s, and the message shows no part of it', (given) => {
    expect(() => readProxies({ https_proxy: given }, SERVICE)).toThrow(
      'The environment variable HTTPS_PROXY is not the address of a proxy (its value is not shown, because it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.',
    )
  })

  it('is not read for plain http, because the request goes to the machine itself', () => {
    const env = { HTTP_PROXY: 'ftp://x', http_proxy: PROXY }
    expect(readProxies(env, SERVICE)).toEqual({})
    const ownMachine = new URL('http://127.0.0.1:8080')
    for (const given of [PROXY, 'ftp://x']) expect(readProxies({ ...env, HTTPS_PROXY: given }, ownMachine)).toEqual({})
  })
})
