import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forwardProxy } from '../support/forward-proxy.ts'
import { onPullRequest, startGitHubApi, TOKEN } from '../support/github-api.ts'
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
  const proxy = await forwardProxy({ ports: { 'api.github.example:443': Number(new URL(api.url).port) } })
  await using one = await scenario({
    // The runner sets proxy variables in both cases of letters.
    env: { NODE_EXTRA_CA_CERTS: authority, https_proxy: proxy.address, HTTPS_PROXY: proxy.address },
    tls,
    event: onPullRequest(),
    github: { api_url: 'https://api.github.example' },
    inputs: { comment: 'always', 'github-token': TOKEN },
  })
  const { main } = await one.step.run()
  await api.close()
  expect(main.annotations).toEqual([])
  expect(main.outputs['comment-url']).toMatch(/#issuecomment-\d+$/)
  expect(api.comments).toHaveLength(1)
  const tunnels = [`CONNECT ${new URL(one.service.url).host}`, 'CONNECT api.github.example:443']
  expect(new Set(proxy.asked)).toEqual(new Set(tunnels))
})
