import { expect, onTestFinished, test } from 'vitest'
import { onPullRequest, startGitHubApi, TOKEN } from '../support/github-api.ts'
import { scenario } from '../support/scenario.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'

// The built action. test/github/comment.test.ts has all cases, and in the tests of the recipes the built action comments.

test('the token is not sent to a server whose certificate is not trusted, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  const api = await startGitHubApi({ certificate: selfSignedCertificate() })
  onTestFinished(() => api.close())
  await using one = await scenario({
    event: onPullRequest(),
    github: { api_url: api.url },
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    inputs: { comment: 'always', 'github-token': TOKEN },
  })
  const { main } = await one.step.run()
  expect(main.conclusion).toBe('success')
  expect(main.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('self-signed') }])
  expect(api.requests).toEqual([])
})
