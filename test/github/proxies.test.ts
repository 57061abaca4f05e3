import { describe, expect, it } from 'vitest'
import { InvalidInputsError } from '../../src/github/inputs.ts'
import { readProxies } from '../../src/github/proxies.ts'
import { render } from '../../src/report/safe-text.ts'

const PROXY = 'http://proxy.example.com:3128'

describe('the proxies', () => {
  it('are none where no variable says so', () => {
    expect(readProxies({})).toEqual({})
    expect(readProxies({ https_proxy: '', HTTPS_PROXY: '', HTTP_PROXY: '', no_proxy: '', NO_PROXY: '' })).toEqual({})
  })

  it.each([
    [{ https_proxy: PROXY }, { httpsProxy: PROXY }],
    [{ HTTPS_PROXY: PROXY }, { httpsProxy: PROXY }],
    [{ http_proxy: PROXY }, { httpProxy: PROXY }],
    [{ HTTP_PROXY: PROXY }, { httpProxy: PROXY }],
    [{ no_proxy: 'a.example.com' }, { noProxy: 'a.example.com' }],
    [{ NO_PROXY: 'a.example.com' }, { noProxy: 'a.example.com' }],
    [{ https_proxy: '', HTTPS_PROXY: PROXY }, { httpsProxy: PROXY }],
    [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other:1' }, { httpsProxy: PROXY }],
  ])('are read in either case of letters: %j', (env, proxies) => {
    expect(readProxies(env)).toEqual(proxies)
  })

  it.each([
    ['proxy.example.com:3128', 'http://proxy.example.com:3128'],
    ['localhost:3128', 'http://localhost:3128'],
    ['10.0.0.1', 'http://10.0.0.1'],
    ['https://ann:p%40ss@proxy.example.com', 'https://ann:p%40ss@proxy.example.com'],
    ['socks5://proxy.example.com:1080', 'socks5://proxy.example.com:1080'],
  ])('may have the address %s', (given, httpsProxy) => {
    expect(readProxies({ HTTPS_PROXY: given })).toEqual({ httpsProxy })
  })

  it.each([
    'ftp://proxy.example.com',
    'http://',
    'socks5://',
    'http://proxy example.com',
    'proxy:hunter2@:x',
    'http://ann:100%hunter2@proxy.example.com',
    'http://100%hunter2@proxy.example.com',
  ])('cannot have the address %s, of which nothing is shown', (given) => {
    for (const name of ['https_proxy', 'HTTP_PROXY']) {
      const error = catching(() => readProxies({ [name]: given }))
      expect(error).toBeInstanceOf(InvalidInputsError)
      expect((error as InvalidInputsError).sentences.map(render)).toEqual([
        `The environment variable ${name.toUpperCase()} is not the address of a proxy (its value is not shown, since it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.`,
      ])
    }
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
