import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pullRequestOfEvent } from '../../src/github/pull-request-of-event.ts'

const HERE = { id: 1, full_name: 'octo-org/web-shop' }
const FORK = { id: 2, full_name: 'mallory/web-shop' }

describe('an event about one pull request', () => {
  test.each([
    ['pull_request', { action: 'opened', number: 7, pull_request: { number: 7 }, repository: HERE }],
    ['pull_request_target', { action: 'synchronize', number: 7, pull_request: { number: 7 }, repository: HERE }],
    ['pull_request_review', { action: 'submitted', review: { id: 5 }, pull_request: { number: 7 }, repository: HERE }],
    ['issue_comment', { issue: { number: 7, pull_request: { url: '…' } }, comment: { id: 9 }, repository: HERE }],
    ['workflow_run', workflowRun([{ number: 7, head: { repo: HERE }, base: { repo: HERE } }])],
    [
      'workflow_run, with a pull request of the same branch elsewhere',
      workflowRun([
        { number: 99, head: { repo: HERE }, base: { repo: FORK } },
        { number: 7, head: { repo: HERE }, base: { repo: HERE } },
      ]),
    ],
  ])('%s', (_, event) => {
    expect(pullRequestOfEvent(event)).toBe(7)
  })
})

describe('an event about none, or not about one', () => {
  test.each([
    ['push', { ref: 'refs/heads/main', head_commit: {}, repository: HERE }],
    ['schedule', { schedule: '0 3 * * *', repository: HERE }],
    ['workflow_dispatch', { inputs: { number: 7 }, repository: HERE }],
    ['merge_group', { merge_group: { head_ref: 'refs/heads/gh-readonly-queue/main/pr-7-abc' }, repository: HERE }],
    ['issue_comment on an issue', { issue: { number: 7 }, comment: { id: 9 }, repository: HERE }],
    ['workflow_run of a fork', workflowRun([])],
    ['workflow_run of a push', workflowRun(null)],
    [
      'workflow_run of a branch with two pull requests',
      workflowRun([7, 8].map((number) => ({ number, head: { repo: HERE }, base: { repo: HERE } }))),
    ],
    [
      'workflow_run whose pull request goes to another repository',
      workflowRun([{ number: 7, head: { repo: HERE }, base: { repo: FORK } }]),
    ],
    [
      'workflow_run whose pull request comes from another repository',
      workflowRun([{ number: 7, head: { repo: FORK }, base: { repo: HERE } }]),
    ],
    [
      'workflow_run without a word on repositories',
      { workflow_run: { pull_requests: [{ number: 7, head: {}, base: {} }] } },
    ],
  ])('%s', (_, event) => {
    expect(pullRequestOfEvent(event)).toBeUndefined()
  })
})

test.each([0, -1, 1.5, Number.NaN, 2 ** 60, '7', null, {}])('%j is no number of a pull request', (number) => {
  expect(pullRequestOfEvent({ pull_request: { number } })).toBeUndefined()
})

test('any JSON at all is read without an exception, and gives a number or nothing', () => {
  const shape = fc.dictionary(
    fc.constantFrom('pull_request', 'issue', 'workflow_run', 'repository', 'pull_requests', 'number', 'base', 'repo'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), shape), (event) => {
      const number = pullRequestOfEvent(event)
      expect(number === undefined || Number.isSafeInteger(number)).toBe(true)
    }),
  )
})

function workflowRun(pullRequests: unknown) {
  return { workflow_run: { head_branch: 'feature', pull_requests: pullRequests }, repository: HERE }
}
