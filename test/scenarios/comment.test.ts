import { expect, onTestFinished, test } from 'vitest'
import { onPullRequest, startGitHubApi, TOKEN } from '../support/github-api.ts'
import { ONE_OF_TWO_FAILED, type ScenarioOptions, scenario } from '../support/scenario.ts'
import { type Certificate, selfSignedCertificate } from '../support/self-signed-certificate.ts'

// The built action. test/github/comment.test.ts has all cases.

async function commenting(comment: 'always' | 'on-failure', options: ScenarioOptions, certificate?: Certificate) {
  const api = await startGitHubApi({ certificate })
  onTestFinished(() => api.close())
  const inputs = { comment, 'github-token': TOKEN }
  await using one = await scenario({ event: onPullRequest(), github: { api_url: api.url }, inputs, ...options })
  return { main: (await one.step.run()).main, api }
}

test('a failing run comments if the input comment is on-failure, and a passing run does not', async () => {
  const failing = await commenting('on-failure', { script: { end: 'FAILED', cases: ONE_OF_TWO_FAILED } })
  expect(failing.main.outputs['comment-url']).toMatch(/#issuecomment-\d+$/)
  expect(failing.api.comments).toMatchObject([{ body: expect.stringContaining('1 of 2') }])
  const passing = await commenting('on-failure', {})
  expect(passing.main.conclusion).toBe('success')
  expect(passing.api.comments).toEqual([])
})

test('the token is not sent to a server whose certificate is not trusted, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const { main, api } = await commenting('always', { env }, selfSignedCertificate())
  expect(main.conclusion).toBe('success')
  expect(main.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('self-signed') }])
  expect(api.requests).toEqual([])
})
