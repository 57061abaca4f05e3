import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pullRequestOfEvent, readEvent } from '../../src/github/event.ts'
import { render } from '../../src/text/safe-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Payload, realPayloads, workflowEvent } from '../support/workflow-event.ts'

const OWN = { id: 1, full_name: 'shop/shop' }
const FORK = { id: 2, full_name: 'ann/shop' }

const eventOf = (name: string, payload: Payload) => workflowEvent(name, payload, { repository: 'shop/shop' }).event

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
      GITHUB_REF_NAME: 'main',
      GITHUB_REF_TYPE: 'branch',
      GITHUB_SHA: 'abc',
    }
    expect(readEvent({ ...env, GITHUB_EVENT_PATH: file('{"issue":{"number":7}}') })).toEqual({
      name: 'push',
      repository: { id: 1, full_name: 'shop/shop' },
      ref: { name: 'main', isTag: false },
      commit: 'abc',
      payload: { issue: { number: 7 } },
    })
  })

  it.each([
    [{ GITHUB_REF: 'refs/heads/feature/pay' }, { name: 'feature/pay', isTag: false }],
    [{ GITHUB_REF: 'refs/tags/v1' }, { name: 'v1', isTag: true }],
    [
      { GITHUB_REF: 'refs/heads/v1', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' },
      { name: 'v1', isTag: true },
    ],
    [{ GITHUB_REF_NAME: 'main' }, { name: 'main', isTag: false }],
  ])('has its ref from what there is: %j', (env, ref) => {
    expect(readEvent(env).ref).toEqual(ref)
  })

  it.each([
    ['the head of its pull request', { pull_request: { head: { sha: 'head' } } }, 'head'],
    ['the head of its workflow run', { workflow_run: { head_sha: 'head' } }, 'head'],
    ['the commit that the workflow runs on', {}, 'merge'],
  ])('is about the commit of %s', (_, payload, commit) => {
    const env = { GITHUB_SHA: 'merge', GITHUB_EVENT_PATH: file(JSON.stringify(payload)) }
    expect(readEvent(env).commit).toBe(commit)
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
})

describe('the pull request of an event', () => {
  const numberIn = (name: string, payload: Payload) => pullRequestOfEvent(eventOf(name, payload))
  const listed = (number: number, head: object, base: object) => ({
    number,
    head: { repo: head },
    base: { repo: base },
  })
  const run = (...pullRequests: readonly object[]) => ({
    repository: OWN,
    workflow_run: { pull_requests: pullRequests },
  })

  const ABOUT_A_PULL_REQUEST = ['pull_request', 'pull_request_review', 'pull_request_review_comment']
  it.each(ABOUT_A_PULL_REQUEST)('of %s is the pull request in the payload', (name) => {
    for (const payload of realPayloads(name)) expect(numberIn(name, payload)).toBe(2)
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
    expect(numberIn('workflow_run', payload)).toBe(7)
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
