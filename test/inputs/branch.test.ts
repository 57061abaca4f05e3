import { describe, expect, test } from 'vitest'
import { InvalidInputsError } from '../../src/inputs/input-reader.ts'
import { readInputs } from '../../src/inputs/inputs.ts'
import { render } from '../../src/text/safe-text.ts'
import type { GithubContext } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { inputVariables } from '../support/process-effects.ts'
import { type Payload, realPayloads, workflowEvent } from '../support/workflow-event.ts'

// The branch of every event, with payloads that GitHub really sent.

interface Step {
  readonly name: string
  readonly payload?: Payload | undefined
  readonly inputs?: Readonly<Record<string, string>> | undefined
  readonly github?: GithubContext
  readonly isUnreadable?: boolean
}

/** The branch that the step sends, or why the step refuses to start. */
function branchOf({ name, payload, inputs = {}, github = {}, isUnreadable = false }: Step) {
  const { env, event } = workflowEvent(name, isUnreadable ? '{"pull_request":{"head":' : payload, github)
  const required = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }
  const variables = inputVariables({ ...required, ...inputs })
  try {
    return { branch: readInputs({ ...env, ...variables }, event).subject.parameters.branch }
  } catch (error) {
    if (error instanceof InvalidInputsError) return { problems: error.messages.map(render) }
    throw error
  }
}

function changed(payload: Payload | undefined, ...changes: readonly [path: string, value: unknown][]): Payload {
  const copy = structuredClone(payload ?? {}) as Record<string, unknown>
  for (const [path, value] of changes) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    const parent = keys.reduce<Record<string, unknown>>((object, key) => {
      object[key] ??= {}
      return object[key] as Record<string, unknown>
    }, copy)
    parent[last] = value
  }
  return copy
}

const first = (name: string) => realPayloads(name)[0]
const FORK = { id: 2, full_name: 'mallory/web-shop' }
const OWN = { id: 1296269, full_name: 'octo-org/web-shop' }

describe('an event that carries a pull request', () => {
  const EVENTS = ['pull_request', 'pull_request_target', 'pull_request_review', 'pull_request_review_comment']
  test.each(EVENTS)('%s has its head branch', (name) => {
    // Some events are no webhooks of GitHub. They have the payload of another event.
    const payloads = realPayloads(name === 'pull_request_target' ? 'pull_request' : name)
    for (const payload of payloads) expect(branchOf({ name, payload })).toEqual({ branch: 'changes' })
  })

  const withRepositories = (head: unknown, base?: unknown) =>
    changed(
      first('pull_request'),
      ['pull_request.head.repo', head],
      ['pull_request.base.repo', base],
      ['repository', base],
    )

  test.each([
    ['pull_request', FORK, OWN],
    ['pull_request_target', FORK, OWN],
    ['pull_request_review', FORK, OWN],
    ['deployment_review', FORK, OWN],
    // The repository was deleted.
    ['pull_request', null, OWN],
    // A repository is known by its id.
    ['pull_request', { ...FORK, full_name: OWN.full_name }, OWN],
    ['pull_request', {}, undefined],
    // The event does not say where the branch is.
    ['pull_request', undefined, OWN],
  ])('%s is refused if its head is in %j, and not in %j', (name, head, base) => {
    const payload = withRepositories(head, base)
    expect(branchOf({ name, payload })).toEqual({ problems: [forkMessage('changes')] })
  })

  test('is not from a fork if its repository was renamed', () => {
    const payload = withRepositories({ ...OWN, full_name: 'octo-org/former-name' }, OWN)
    expect(branchOf({ name: 'pull_request', payload })).toEqual({ branch: 'changes' })
  })

  test.each([
    [{ full_name: 'Octo-Org/Web-Shop' }, OWN, { branch: 'changes' }],
    [OWN, { full_name: 'octo-org/web-shop' }, { branch: 'changes' }],
    [{ full_name: FORK.full_name }, OWN, { problems: [forkMessage('changes')] }],
    [FORK, { full_name: 'octo-org/web-shop' }, { problems: [forkMessage('changes')] }],
  ])('is known by the name of its repository if an id is missing: %j, %j', (head, base, expected) => {
    const github = { repository_id: '' }
    expect(branchOf({ name: 'pull_request', payload: withRepositories(head, base), github })).toEqual(expected)
  })

  test('is refused if it contains no pull request', () => {
    expect(branchOf({ name: 'pull_request', payload: {} })).toEqual({ problems: [noBranchMessage('pull_request')] })
  })

  test('carries no pull request if the pull request is null', () => {
    const payload = { pull_request: null, workflow_run: null, issue: null, deployment: null, repository: OWN }
    expect(branchOf({ name: 'deployment_review', payload })).toMatchObject({ branch: 'main' })
  })
})

describe('a workflow run', () => {
  test('has its head branch in this repository', () => {
    const found = realPayloads('workflow_run').map((payload) => branchOf({ name: 'workflow_run', payload }))
    expect(found).toContainEqual({ branch: 'master' })
    // This pull request is of a fork whose repository has the same name and another id.
    expect(found.filter((one) => 'problems' in one)).toEqual([{ problems: [forkMessage('main')] }])
  })

  test.each([undefined, null, FORK])('is refused if its head repository is %j', (repository) => {
    const payload = changed(first('workflow_run'), ['workflow_run.head_repository', repository])
    expect(branchOf({ name: 'workflow_run', payload })).toEqual({ problems: [forkMessage('main')] })
  })

  test('is refused if GitHub names no branch', () => {
    const payload = changed(first('workflow_run'), ['workflow_run.head_branch', null])
    expect(branchOf({ name: 'workflow_run', payload })).toEqual({ problems: [noBranchMessage('workflow_run')] })
  })
})

describe('the branch that the workflow runs on', () => {
  test.each<[string, Payload | undefined, string]>([
    ['push', realPayloads('push').find(({ ref }) => ref === 'refs/heads/master'), 'master'],
    ['push', { ref: 'refs/heads/feature/pay' }, 'feature/pay'],
    ['merge_group', first('merge_group'), 'gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64'],
    ['workflow_dispatch', first('workflow_dispatch'), 'main'],
    ['schedule', { schedule: '0 4 * * *' }, 'main'],
  ])('is that of %s', (name, payload, branch) => {
    expect(branchOf({ name, payload })).toEqual({ branch })
  })

  test.each(['repository_dispatch', 'issue_comment', 'issues', 'create', 'check_suite'])('is that of %s', (name) => {
    const payload = realPayloads(name)[0]
    const { default_branch: branch } = payload?.repository as { default_branch: string }
    expect(branchOf({ name, payload })).toEqual({ branch })
  })
})

test('a runner that names no branch is refused', () => {
  const github = { ref: '', ref_name: '', ref_type: '' }
  expect(branchOf({ name: 'push', github })).toEqual({ problems: [noBranchMessage('push')] })
})

const comment = changed(first('issue_comment'), ['issue.pull_request', {}])
const tag = realPayloads('push').find(({ ref }) => ref === 'refs/tags/simple-tag')
const EVENTS: [string, Payload | undefined, string, GithubContext?][] = [
  ['issue_comment', comment, noBranchMessage('issue_comment')],
  ['deployment', first('deployment'), noBranchMessage('deployment')],
  ['deployment_status', first('deployment_status'), noBranchMessage('deployment_status')],
  ['release', first('release'), noBranchMessage('release')],
  ['push', tag, tagMessage('simple-tag')],
  ['workflow_dispatch', { ref: 'refs/tags/v1.2.3' }, tagMessage('v1.2.3')],
  ['create', {}, tagMessage('v1'), { ref_name: 'v1', ref_type: 'tag' }],
]

test.each(
  EVENTS,
)('%s, an event without a branch to test, is refused, unless the user gives a branch, a test suite or a run id', (name, payload, message, github = {}) => {
  const withInputs = (inputs: Step['inputs']) => branchOf({ name, payload, github, inputs })
  expect(withInputs({})).toEqual({ problems: [message] })
  expect(withInputs({ branch: 'feature/cart' })).toEqual({ branch: 'feature/cart' })
  const suite = { project: '', 'test-suite': 'smoke' }
  expect(withInputs(suite)).toEqual({ branch: undefined })
  expect(withInputs({ ...suite, 'api-key': '' })).toEqual({ problems: [expect.stringMatching(/^Input api-key/)] })
  expect(withInputs({ 'run-id': 'r-1' })).toEqual({ branch: undefined })
})

describe('an event whose file cannot be read', () => {
  const EVENTS = ['pull_request', 'pull_request_target', 'workflow_run', 'issue_comment', 'repository_dispatch']
  test.each(EVENTS)('%s is refused, because the branch may be a fork’s', (name) => {
    const message =
      /^Input branch: the file of the event \(GITHUB_EVENT_PATH is ".+"\) cannot be read\. Set the input branch to the branch that you want to test\.$/
    const github = { head_ref: 'main', ref_name: 'main' }
    expect(branchOf({ name, isUnreadable: true, github })).toEqual({ problems: [expect.stringMatching(message)] })
    expect(branchOf({ name, isUnreadable: true, inputs: { branch: 'main' } })).toEqual({ branch: 'main' })
  })

  test.each(['push', 'merge_group', 'schedule'])('%s has the branch that the workflow runs on', (name) => {
    expect(branchOf({ name, isUnreadable: true, github: { ref_name: 'main' } })).toEqual({ branch: 'main' })
  })
})

describe('a branch that the user names', () => {
  const fork = changed(first('pull_request'), ['pull_request.head.repo', FORK])

  test.each([
    ['pull_request', 'changes', fork],
    ['pull_request', 'refs/heads/changes', fork],
    ['workflow_run', 'main', changed(first('workflow_run'), ['workflow_run.head_repository', FORK])],
  ])('is refused if it is the head of a fork: %s, %s', (name, branch, payload) => {
    expect(branchOf({ name, payload, inputs: { branch } })).toEqual({
      problems: [forkMessage(branch.replace('refs/heads/', ''))],
    })
  })

  test('is sent as it is, also on a fork if it is another branch', () => {
    for (const branch of ['main', '42/merge']) {
      expect(branchOf({ name: 'pull_request', payload: fork, inputs: { branch } })).toEqual({ branch })
    }
  })
})

test('a test suite of a fork is refused too', () => {
  const payload = changed(first('pull_request'), ['pull_request.head.repo', FORK])
  const inputs = { project: '', 'test-suite': 'smoke' }
  expect(branchOf({ name: 'pull_request', payload, inputs })).toEqual({ problems: [forkMessage('changes')] })
})

function forkMessage(branch: string): string {
  return `Input branch: this workflow run is about the branch "${branch}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. A skipped job counts as passed, so a required check then passes although nothing was tested.`
}

function noBranchMessage(event: string): string {
  return `Input branch: the event ${event} names no branch of this repository. Set the input branch to the branch that you want to test.`
}

function tagMessage(tag: string): string {
  return `Input branch: this workflow run is about "${tag}", and a tag is no branch. Set the input branch to the branch that you want to test.`
}
