import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACTIONS_BOT, type GitHubApi, startGitHubApi } from '../support/github-api.ts'
import { ONE_PASSED, type Scenario, scenario } from '../support/scenario.ts'
import { realPayloads } from '../support/workflow-event.ts'

// A green check must be about the code that GitHub shows it for. These tests run the built action on a comment on a pull request,
// which does not name a branch. test/inputs/branch.test.ts tests all events.

const TOKEN = 'ghs_0123456789'
let api: GitHubApi

beforeEach(async () => {
  api = await startGitHubApi()
  api.grant(TOKEN, ACTIONS_BOT, 'write')
})
afterEach(() => api.close())

function onComment(inputs: Readonly<Record<string, string>>): Promise<Scenario> {
  const [comment] = realPayloads('issue_comment')
  const issue = { ...(comment?.issue as object), number: 7, pull_request: {} }
  return scenario({
    script: { cases: ONE_PASSED },
    event: { name: 'issue_comment', payload: { ...comment, issue, repository: { full_name: api.repository } } },
    github: { api_url: api.url, token: TOKEN, repository: api.repository },
    inputs: { comment: 'always', ...inputs },
  })
}

test('a comment on a pull request starts nothing, and says what to do', async () => {
  await using one = await onComment({})
  const { main, summary } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
  expect(main.annotations).toMatchObject([
    {
      level: 'error',
      title: 'Invalid input',
      message: expect.stringContaining('The recipe examples/workflows/on-com'),
    },
  ])
  expect(summary).toContain('the event <code>issue_comment</code> does not name the branch of the pull request')
  expect([one.service.requests, api.requests]).toEqual([[], []])
})

test('a comment on a pull request has the branch tested that the user names, and the headline of the comment names it', async () => {
  await using one = await onComment({ branch: 'feature/cart' })
  const { main } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'success', outputs: { conclusion: 'passed' } })
  expect(one.service.runs.map(({ body }) => body)).toEqual([{ branch: 'feature/cart' }])
  expect(api.comments.map(({ body }) => /<h3>.*<\/h3>/.exec(body)?.[0])).toEqual([
    expect.stringContaining('on branch <code>feature/cart</code>'),
  ])
})
