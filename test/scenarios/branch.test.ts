import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ACTIONS_BOT, type GitHubApi, startGitHubApi } from '../support/github-api.ts'
import { ONE_PASSED, type Scenario, type ScenarioOptions, scenario } from '../support/scenario.ts'
import { type Payload, realPayloads } from '../support/workflow-event.ts'

// A green check must be about the code that GitHub shows it for. These tests run the built action on events that do not name a
// branch. test/inputs/branch.test.ts tests all events.

const TOKEN = 'ghs_0123456789'
let api: GitHubApi

beforeEach(async () => {
  api = await startGitHubApi()
  api.grant(TOKEN, ACTIONS_BOT, 'write')
})
afterEach(() => api.close())

function onEvent(name: string, payload: Payload, options: ScenarioOptions = {}): Promise<Scenario> {
  const repository = { id: api.repositoryId, full_name: api.repository, default_branch: 'main' }
  return scenario({
    script: { cases: ONE_PASSED },
    ...options,
    event: { name, payload: { ...payload, repository } },
    github: { api_url: api.url, token: TOKEN, repository: api.repository, ...options.github },
  })
}

/** What the start asked for, of every run that was started. */
function started({ service }: Scenario): unknown[] {
  return service.runs.map(({ body }) => body)
}

const [comment] = realPayloads('issue_comment')
const ON_PULL_REQUEST_7 = { ...comment, issue: { ...(comment?.issue as object), number: 7, pull_request: {} } }
const ALWAYS = { inputs: { comment: 'always' } }

describe('a comment on a pull request', () => {
  test('has the head of the pull request tested, not the branch that the workflow runs on', async () => {
    await using one = await onEvent('issue_comment', ON_PULL_REQUEST_7, ALWAYS)
    const { main } = await one.step.run()
    expect(main).toMatchObject({ conclusion: 'success', outputs: { conclusion: 'passed' } })
    expect(main.log).toContain('Testing the branch "feature/cart", the head of pull request 7.')
    expect(started(one)).toEqual([{ branch: 'feature/cart' }])
    expect(api.comments.map(({ body }) => /<h3>.*<\/h3>/.exec(body)?.[0])).toEqual([
      expect.not.stringContaining('branch'),
    ])
  })

  test('from a fork starts nothing, and says why', async () => {
    api.pullRequests.set(7, { ref: 'main', repo: { id: 2, full_name: 'mallory/web-shop' } })
    await using one = await onEvent('issue_comment', ON_PULL_REQUEST_7, ALWAYS)
    const { main } = await one.step.run()
    expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
    expect(main.annotations).toMatchObject([
      { level: 'error', title: 'Invalid input', message: expect.stringContaining('the branch "main" of a fork') },
    ])
    expect([one.service.requests, api.comments]).toEqual([[], []])
  })

  test('starts nothing if the proxy for GitHub is unusable, and shows no password', async () => {
    await using one = await onEvent('issue_comment', ON_PULL_REQUEST_7, {
      github: { api_url: 'https://api.github.test' },
      proxy: { https: 'ann:hunter2@:x' },
    })
    const { main, summary } = await one.step.run()
    expect(main).toMatchObject({ conclusion: 'failure', outputs: { conclusion: 'error' } })
    expect(main.annotations).toMatchObject([
      { message: expect.stringContaining("could not find the head of pull request 7 through GitHub's API: ") },
    ])
    expect(JSON.stringify([main, summary])).not.toContain('hunter2')
    expect(one.service.requests).toEqual([])
  })

  test('starts nothing if the workflow is cancelled while GitHub is asked', async () => {
    const hanging = api.inject({ method: 'GET' }, { kind: 'hang' })
    await using one = await onEvent('issue_comment', ON_PULL_REQUEST_7)
    const { main, post } = await one.step.run({ on: hanging, by: 'cancel' })
    expect(main).toMatchObject({ exitCode: 1, signalsSent: ['SIGINT'], outputs: { conclusion: 'cancelled' } })
    expect(one.service.requests).toEqual([])
    expect(post.log).toEqual([])
  })
})

test('an empty branch on a pull request is a warning, and a line in summary and comment', async () => {
  const [payload] = realPayloads('pull_request')
  const pull_request = { ...(payload?.pull_request as object), number: 7 }
  await using one = await onEvent(
    'pull_request',
    { ...payload, pull_request },
    { inputs: { ...ALWAYS.inputs, branch: '' } },
  )
  const { main, summary } = await one.step.run()
  expect(started(one)).toEqual([{}])
  expect(main).toMatchObject({ conclusion: 'success', annotations: [{ level: 'warning' }] })
  expect(main.annotations[0]?.message).toContain(
    "the project's default branch is tested. This workflow run is about “changes”, which is not tested.",
  )
  const line =
    "Input <code>branch</code> is empty, so the project's default branch is tested. This workflow run is about <code>changes</code>, which is not tested."
  for (const page of [summary, ...api.comments.map(({ body }) => body)]) expect(page).toContain(line)
  expect(api.comments).toHaveLength(1)
})
