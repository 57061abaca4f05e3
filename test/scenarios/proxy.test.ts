import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forwardProxy } from '../support/forward-proxy.ts'
import { ACTIONS_BOT, startGitHubApi } from '../support/github-api.ts'
import { scenario } from '../support/scenario.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// A self-hosted runner reaches the service and GitHub only through tunnels of a proxy. Their certificates are signed by an
// authority that NODE_EXTRA_CA_CERTS names.

const tls = selfSignedCertificate({ hosts: ['127.0.0.1', 'api.github.example'] })

test('every request goes through a tunnel, to GitHub too', async () => {
  const authority = join(temporaryFolder(), 'authority.pem')
  writeFileSync(authority, tls.cert)
  const api = await startGitHubApi({ certificate: tls })
  const token = 'ghs_0123456789'
  api.grant(token, ACTIONS_BOT, 'write')
  const proxy = await forwardProxy({ ports: { 'api.github.example:443': Number(new URL(api.url).port) } })
  const repository = { id: 1, full_name: api.repository }
  await using one = await scenario({
    // The runner sets proxy variables in both cases of letters.
    env: { NODE_EXTRA_CA_CERTS: authority, https_proxy: proxy.address, HTTPS_PROXY: proxy.address },
    service: { tls },
    event: {
      name: 'pull_request',
      payload: {
        repository,
        pull_request: { number: 7, head: { ref: 'feature/cart', sha: 'a'.repeat(40), repo: repository } },
      },
    },
    github: { api_url: 'https://api.github.example', token, repository: api.repository },
    inputs: { comment: 'always', 'github-token': token },
  })
  const { main } = await one.step.run()
  await api.close()
  expect(main.annotations).toEqual([])
  expect(main.outputs['comment-url']).toMatch(/#issuecomment-\d+$/)
  expect(api.comments).toHaveLength(1)
  const tunnels = [`CONNECT ${new URL(one.service.url).host}`, 'CONNECT api.github.example:443']
  expect(new Set(proxy.asked)).toEqual(new Set(tunnels))
})
