import { afterEach, beforeEach, expect, test } from 'vitest'
import { type GitHubApi, onPullRequest, startGitHubApi, TOKEN } from '../support/github-api.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED, type ScenarioOptions, scenario } from '../support/scenario.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'

let api: GitHubApi

beforeEach(async () => {
  api = await startGitHubApi()
})
afterEach(() => api.close())

function commenting(run_id: string, options: ScenarioOptions) {
  return scenario({
    ...options,
    event: onPullRequest(),
    github: { api_url: api.url, run_id },
    inputs: { comment: 'on-failure', 'github-token': TOKEN, ...options.inputs },
  })
}

test('a failing run comments, the next passing one updates the comment, and a job of a matrix has its own', async () => {
  await using failing = await commenting('100', { script: { end: 'FAILED', cases: ONE_OF_TWO_FAILED } })
  const { main } = await failing.step.run()
  expect(main.conclusion).toBe('failure')
  expect(main.outputs['comment-url']).toMatch(/#issuecomment-\d+$/)
  expect(api.comments).toHaveLength(1)
  expect(api.comments[0]?.body).toMatch(/^<!-- test-run-action /)
  expect(api.comments[0]?.body).toContain('1 of 2')
  expect(JSON.parse(failing.service.requests[0]?.body ?? '')).toEqual({ branch: 'faster-checkout' })

  await using passing = await commenting('101', { script: { cases: ONE_PASSED } })
  expect((await passing.step.run()).main.conclusion).toBe('success')
  expect(api.comments).toHaveLength(1)
  expect(api.comments[0]?.body).toContain('✅')

  const inputs = { comment: 'always' }
  await using other = await commenting('101', { script: { cases: ONE_PASSED }, matrix: { project: 'unit' }, inputs })
  await other.step.run()
  expect(api.comments).toHaveLength(2)
  expect(api.comments[1]?.body).toContain('unit')
})

test('the token is not sent to a server whose certificate is not trusted, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  await api.close()
  api = await startGitHubApi({ certificate: selfSignedCertificate() })
  await using one = await commenting('100', {
    inputs: { comment: 'always' },
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  })
  const { main } = await one.step.run()
  expect(main.conclusion).toBe('success')
  expect(main.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('self-signed') }])
  expect(api.requests).toEqual([])
})
