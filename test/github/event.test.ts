import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { headLabel, type PullRequest, pullRequestOfEvent, readEvent, whyNoSecrets } from '../../src/github/event.ts'
import { render } from '../../src/text/safe-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Payload, realPayloads, workflowEvent } from '../support/workflow-event.ts'

const OWN = { id: 1, full_name: 'shop/shop' }
const FORK = { id: 2, full_name: 'ann/shop' }

function pullRequest(headRepository: unknown, author = 'ann'): Payload {
  const head = { ref: 'patch-1', repo: headRepository }
  return {
    repository: OWN,
    sender: { login: author },
    pull_request: { number: 7, user: { login: author }, head, base: { repo: OWN } },
  }
}

const eventOf = (name: string, payload: Payload, actor = 'ann') =>
  workflowEvent(name, payload, { actor, repository: 'shop/shop' }).event

describe('the event', () => {
  function file(text: string): string {
    const path = join(temporaryFolder(), 'event.json')
    writeFileSync(path, text)
    return path
  }

  it("is read from the runner's variables and its file", () => {
    const env = {
      GITHUB_EVENT_NAME: 'push',
      GITHUB_REPOSITORY: 'shop/shop',
      GITHUB_REPOSITORY_ID: '1',
      GITHUB_SHA: 'a0a0',
      GITHUB_REF_NAME: 'main',
      GITHUB_REF_TYPE: 'branch',
    }
    expect(readEvent({ ...env, GITHUB_EVENT_PATH: file('{"sender":{"login":"ann"}}') })).toEqual({
      name: 'push',
      repository: OWN,
      commit: 'a0a0',
      ref: { name: 'main', type: 'branch' },
      payload: { sender: { login: 'ann' } },
    })
  })

  it.each(['null', '7'])('has an empty payload if the file holds %j', (text) => {
    expect(readEvent({ GITHUB_EVENT_PATH: file(text) })).toMatchObject({ payload: {}, problem: undefined })
  })

  it.each(['', '{'])('has a problem if the file holds %j', (text) => {
    const path = file(text)
    const { payload, problem } = readEvent({ GITHUB_EVENT_PATH: path })
    expect([payload, problem && render(problem)]).toEqual([
      {},
      `the file of the event (GITHUB_EVENT_PATH is "${path}") cannot be read`,
    ])
  })

  it('has a problem if there is no file', () => {
    expect(readEvent({}).problem).toBeDefined()
  })
})

it('a fork is named with its branch, which may have the name of a branch of this repository', () => {
  const label = (repo: unknown, head: object = {}) =>
    headLabel({ head: { ref: 'main', repo, ...head }, base: { repo: OWN } } as PullRequest, OWN)
  expect(label(OWN, { label: 'shop:main' })).toBe('main')
  expect(label(FORK, { label: 'ann:main' })).toBe('ann:main')
  expect(label(null)).toBe('fork:main')
})

describe('why there are no secrets', () => {
  it.each([
    ['pull_request', pullRequest(FORK), 'ann', 'fork'],
    ['pull_request', pullRequest(null), 'ann', 'fork'],
    ['pull_request_review', pullRequest(FORK), 'ann', 'fork'],
    ['pull_request', pullRequest(OWN), 'ann', undefined],
    ['pull_request_target', pullRequest(FORK), 'ann', undefined],
    ['workflow_run', { workflow_run: { head_branch: 'x', head_repository: FORK } }, 'ann', undefined],
    ['workflow_run', { sender: { login: 'dependabot[bot]' } }, 'dependabot[bot]', undefined],
    // If a person re-runs the workflow, this person is the actor.
    ['pull_request', pullRequest(OWN, 'dependabot[bot]'), 'ann', 'dependabot'],
    ['pull_request', { ...pullRequest(OWN, 'dependabot[bot]'), sender: { login: 'ann' } }, 'ann', 'dependabot'],
    ['push', { repository: OWN, sender: { login: 'dependabot[bot]' } }, 'ann', 'dependabot'],
    ['merge_group', { repository: OWN, sender: { login: 'dependabot[bot]' } }, 'dependabot[bot]', undefined],
    ['schedule', { repository: OWN }, 'dependabot[bot]', undefined],
  ])('in the event %s with %j by %s: %s', (name, payload, actor, why) => {
    expect(whyNoSecrets(eventOf(name, payload, actor))).toBe(why)
  })
})

describe('the pull request of an event', () => {
  const numberIn = (name: string, payload: Payload) => pullRequestOfEvent(eventOf(name, payload))?.number
  const listed = (number: number, head: object, base: object) => ({
    number,
    head: { ref: 'changes', repo: head },
    base: { repo: base },
  })
  const run = (...pullRequests: readonly object[]) => ({
    repository: OWN,
    workflow_run: { pull_requests: pullRequests },
  })

  it.each([
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
  ])('of %s is the pull request in the payload, with its head', (name) => {
    for (const payload of realPayloads(name)) {
      expect(pullRequestOfEvent(eventOf(name, payload))).toMatchObject({ number: 2, headLabel: 'changes' })
    }
  })

  it('of issue_comment is the pull request that the comment is on, and is absent for a comment on an issue', () => {
    for (const payload of realPayloads('issue_comment')) {
      expect(numberIn('issue_comment', payload)).toBeUndefined()
      const issue = { ...(payload.issue as object), pull_request: {} }
      expect(numberIn('issue_comment', { ...payload, issue })).toBe(1)
    }
  })

  it('of workflow_run is the pull request of this repository that GitHub lists', () => {
    const payload = run(listed(9, FORK, FORK), listed(7, OWN, OWN))
    expect(pullRequestOfEvent(eventOf('workflow_run', payload))).toMatchObject({ number: 7, headLabel: 'changes' })
  })

  it.each([
    ['none', []],
    ['two', [listed(7, OWN, OWN), listed(8, OWN, OWN)]],
    ['one from a fork', [listed(9, FORK, OWN)]],
    ['one into another repository', [listed(9, OWN, FORK)]],
  ])('of workflow_run is absent if GitHub lists %s', (_, pullRequests) => {
    expect(numberIn('workflow_run', run(...pullRequests))).toBeUndefined()
  })

  it.each(['push', 'merge_group', 'check_suite'])('of %s is absent', (name) => {
    for (const payload of realPayloads(name)) expect(numberIn(name, payload)).toBeUndefined()
  })

  it.each([{}, { pull_request: {} }, { pull_request: { number: 0 } }])('is absent if the payload is %j', (payload) => {
    expect(numberIn('pull_request', payload)).toBeUndefined()
  })
})
