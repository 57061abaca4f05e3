import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/github/event.ts'
import { InputReader, InvalidInputsError } from '../../src/github/input-reader.ts'
import * as proxies from '../../src/github/proxies.ts'
import type { Proxies } from '../../src/service/connection.ts'
import { render } from '../../src/text/safe-text.ts'

const PROXY = 'http://proxy.example.com:3128'
const SERVICE = new URL('https://tests.example.com')

/** Throws if there is a problem. */
function readProxies(env: Environment, service: URL): Proxies {
  const inputs = new InputReader(env)
  return inputs.orThrow(proxies.readProxies(inputs, env, service))
}

describe('the proxy', () => {
  it('is none if no variable says so', () => {
    expect(readProxies({}, SERVICE)).toEqual({})
    expect(readProxies({ https_proxy: '', HTTPS_PROXY: '', no_proxy: '', NO_PROXY: '' }, SERVICE)).toEqual({})
  })

  it.each([
    [{ https_proxy: PROXY }, { httpsProxy: PROXY }],
    [{ HTTPS_PROXY: PROXY }, { httpsProxy: PROXY }],
    [{ no_proxy: 'a.example.com' }, { noProxy: 'a.example.com' }],
    [{ NO_PROXY: 'a.example.com' }, { noProxy: 'a.example.com' }],
    [{ https_proxy: '', HTTPS_PROXY: PROXY }, { httpsProxy: PROXY }],
    [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other:1' }, { httpsProxy: PROXY }],
  ])('is read in either case of letters: %j', (env, proxies) => {
    expect(readProxies(env, SERVICE)).toEqual(proxies)
  })

  it.each([
    ['proxy.example.com:3128', 'http://proxy.example.com:3128'],
    ['localhost:3128', 'http://localhost:3128'],
    ['10.0.0.1', 'http://10.0.0.1'],
    ['https://ann:p%40ss@proxy.example.com', 'https://ann:p%40ss@proxy.example.com'],
    ['socks5://proxy.example.com:1080', 'socks5://proxy.example.com:1080'],
  ])('may have the address %s', (given, httpsProxy) => {
    expect(readProxies({ HTTPS_PROXY: given }, SERVICE)).toEqual({ httpsProxy })
  })

  const UNUSABLE = [
    'ftp://proxy.example.com',
    'http://',
    'socks5://',
    'http://proxy example.com',
    'proxy:hunter2@:x',
    'http://ann:100%hunter2@proxy.example.com',
    'http://100%hunter2@proxy.example.com',
  ]

  it.each(UNUSABLE)('cannot have the address %s, of which nothing is shown', (given) => {
    const error = catching(() => readProxies({ https_proxy: given }, SERVICE))
    expect(error).toBeInstanceOf(InvalidInputsError)
    expect((error as InvalidInputsError).messages.map(render)).toEqual([
      'The environment variable HTTPS_PROXY is not the address of a proxy (its value is not shown, because it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.',
    ])
  })

  it.each(UNUSABLE)('is not looked at if it is not used: %s', (given) => {
    expect(readProxies({ HTTP_PROXY: given, http_proxy: given }, SERVICE)).toEqual({})
    const ownMachine = new URL('http://127.0.0.1:8080')
    expect(readProxies({ HTTP_PROXY: given, HTTPS_PROXY: given, NO_PROXY: 'x' }, ownMachine)).toEqual({})
  })

  it('is never for plain http, which goes to the machine itself', () => {
    expect(readProxies({ HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY }, new URL('http://localhost:8080'))).toEqual({})
  })
})

function catching(task: () => unknown): unknown {
  try {
    task()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
