import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InvalidInputsError } from '../../src/inputs/input-reader.ts'
import { readInputs } from '../../src/inputs/inputs.ts'
import { render } from '../../src/text/safe-text.ts'
import type { GithubContext } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { inputVariables, linesWrittenBy } from '../support/process-effects.ts'
import { type Payload, realPayloads, workflowEvent } from '../support/workflow-event.ts'

// The branch of every event, with payloads that GitHub really sent.

interface Step {
  readonly name: string
  readonly payload?: Payload | undefined
  readonly inputs?: Readonly<Record<string, string>>
  readonly github?: GithubContext
  /** Whether the file of the event cannot be read. */
  readonly isUnreadable?: boolean
}

/** The branch that the step sends, its warnings and its log, or why the step refuses to start. */
function branchOf({ name, payload, inputs = {}, github = {}, isUnreadable = false }: Step) {
  const { env, event } = workflowEvent(name, isUnreadable ? '{"pull_request":{"head":' : payload, github)
  const required = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }
  const variables = inputVariables({ ...required, ...inputs })
  try {
    let read: ReturnType<typeof readInputs> | undefined
    linesWrittenBy(() => {
      read = readInputs({ ...env, ...variables }, event)
    })
    const { subject, branchInfo, warnings } = read ?? expect.fail()
    return {
      branch: subject.parameters.branch,
      info: branchInfo && render(branchInfo),
      warnings: warnings.length === 0 ? undefined : warnings.map(render),
    }
  } catch (error) {
    if (error instanceof InvalidInputsError) return { problems: error.messages.map(render) }
    throw error
  }
}

/** A payload with other values at some of its keys. */
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
  test.each([
    'pull_request',
    'pull_request_target',
    'pull_request_review',
    'pull_request_review_comment',
  ])('%s has its head branch', (name) => {
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
    // A repository is known by its id, and without an id by its name.
    ['pull_request', { ...FORK, full_name: OWN.full_name }, OWN],
    ['pull_request', { full_name: 'mallory/web-shop' }, undefined],
    ['pull_request', {}, undefined],
  ])('%s is refused if its head is in %j, and not in %j', (name, head, base) => {
    const payload = withRepositories(head, base)
    expect(branchOf({ name, payload })).toEqual({ problems: [forkMessage('changes')] })
  })

  test.each([
    ['the renamed repository', { ...OWN, full_name: 'octo-org/former-name' }, OWN],
    ['the same name in upper case', { full_name: 'Octo-Org/WEB-SHOP' }, undefined],
    ['a repository that the event leaves out', undefined, undefined],
  ])('is not from a fork if its head is in %s', (_, head, base) => {
    expect(branchOf({ name: 'pull_request', payload: withRepositories(head, base) })).toEqual({ branch: 'changes' })
  })

  test('is refused if it contains no pull request', () => {
    expect(branchOf({ name: 'pull_request', payload: {} })).toEqual({ problems: [noBranchMessage('pull_request')] })
  })

  test('carries no pull request if the pull request is null', () => {
    const payload = { pull_request: null, workflow_run: null, issue: null, deployment: null, repository: OWN }
    expect(branchOf({ name: 'deployment_review', payload })).toMatchObject({ branch: 'main' })
  })
})

describe('an event about a workflow run or a check', () => {
  test('workflow_run has its head branch in this repository', () => {
    const found = realPayloads('workflow_run').map((payload) => branchOf({ name: 'workflow_run', payload }))
    expect(found).toContainEqual({ branch: 'master' })
    // This pull request is of a fork whose repository has the same name and another id.
    expect(found.filter((one) => 'problems' in one)).toEqual([{ problems: [forkMessage('main')] }])
  })

  const ofRun = (event: string, branch: string) => {
    const payload = changed(
      realPayloads('workflow_run').find(
        ({ workflow_run: run }) => (run as { head_branch: string }).head_branch === 'master',
      ),
      ['workflow_run.event', event],
      ['workflow_run.head_branch', branch],
    )
    return branchOf({ name: 'workflow_run', payload })
  }

  test('workflow_run after a release has no branch, because the release is about a tag, and the log says so', () => {
    expect(ofRun('release', 'v1.2.3')).toEqual({
      info: 'This workflow run is about "v1.2.3", which is not a branch, so the project\'s default branch is tested. To test another branch, set the input "branch".',
    })
  })

  test.each([
    'push',
    'workflow_dispatch',
    'create',
  ])('workflow_run after %s may be about a tag, and the log names it', (event) => {
    expect(ofRun(event, 'v1.2.3')).toEqual({
      branch: 'v1.2.3',
      info: 'Testing the branch "v1.2.3", because the event names it. GitHub writes the name of a tag in the same place. If "v1.2.3" is a tag, set the input "branch".',
    })
    // The default branch is no tag.
    expect(ofRun(event, 'master')).toEqual({ branch: 'master' })
  })

  test.each(['pull_request', 'merge_group', 'schedule'])('workflow_run after %s is about a branch', (event) => {
    expect(ofRun(event, 'changes')).toEqual({ branch: 'changes' })
  })

  test.each([null, FORK])('workflow_run is refused if its head repository is %j', (repository) => {
    const payload = changed(first('workflow_run'), ['workflow_run.head_repository', repository])
    expect(branchOf({ name: 'workflow_run', payload })).toEqual({ problems: [forkMessage('main')] })
  })

  test('check_suite and check_run have the head branch of the suite', () => {
    for (const payload of realPayloads('check_suite')) {
      const { head_branch: branch } = payload.check_suite as { head_branch: string }
      expect(branchOf({ name: 'check_suite', payload })).toEqual({ branch })
    }
    const runs = realPayloads('check_run').map((payload) => branchOf({ name: 'check_run', payload }))
    expect(new Set(runs.map((run) => ('branch' in run ? run.branch : run)))).toEqual(
      new Set(['changes', 'master', 'miniak/event-process-id']),
    )
  })

  test.each([
    ['check_suite', 'check_suite.head_branch'],
    ['check_run', 'check_run.check_suite.head_branch'],
    ['workflow_run', 'workflow_run.head_branch'],
  ])('%s is refused if GitHub names no branch, for example for a commit of a fork', (name, path) => {
    const payload = changed(first(name), [path, null])
    expect(branchOf({ name, payload })).toEqual({ problems: [noBranchMessage(name)] })
  })
})

describe('an event of a branch', () => {
  test.each<[string, Payload | undefined, string]>([
    ['push', realPayloads('push').find(({ ref }) => ref === 'refs/heads/master'), 'master'],
    ['push', { ref: 'refs/heads/feature/pay' }, 'feature/pay'],
    ['merge_group', first('merge_group'), 'gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64'],
    ['workflow_dispatch', first('workflow_dispatch'), 'main'],
    ['schedule', { schedule: '0 4 * * *' }, 'main'],
  ])('%s has the branch that the workflow runs on', (name, payload, branch) => {
    expect(branchOf({ name, payload })).toEqual({ branch })
  })

  test.each<[string, Payload | undefined, string, GithubContext?]>([
    ['push', realPayloads('push').find(({ ref }) => ref === 'refs/tags/simple-tag'), 'simple-tag'],
    ['workflow_dispatch', { ref: 'refs/tags/v1.2.3' }, 'v1.2.3'],
    ['release', first('release'), '0.0.1'],
    ['create', {}, 'v1', { ref_name: 'v1', ref_type: 'tag' }],
  ])('%s of a tag has no branch, and the log says so', (name, payload, tag, github = {}) => {
    expect(branchOf({ name, payload, github })).toEqual({
      info: `This workflow run is about "${tag}", which is not a branch, so the project's default branch is tested. To test another branch, set the input "branch".`,
    })
  })

  test.each([
    'repository_dispatch',
    'issue_comment',
    'issues',
    'create',
  ])('%s has the branch that the workflow runs on, and the log names this branch', (name) => {
    const payload = realPayloads(name)[0]
    const { default_branch: branch } = payload?.repository as { default_branch: string }
    expect(branchOf({ name, payload })).toEqual({
      branch,
      info: `Testing the branch "${branch}", because the workflow runs on it. The event ${name} names no other branch. To test another branch, set the input "branch".`,
    })
  })
})

describe('an event that does not name the branch to test', () => {
  const comment = changed(first('issue_comment'), ['issue.pull_request', {}])
  const EVENTS = ['deployment', 'deployment_status'].flatMap((name) =>
    realPayloads(name).map((payload) => [name, payload] as const),
  )

  test('issue_comment on a pull request is refused, and the message names a recipe', () => {
    expect(branchOf({ name: 'issue_comment', payload: comment })).toEqual({
      problems: [
        'Input branch: the event issue_comment does not name the branch of the pull request. Set the input "branch" to the branch that you want to test. The recipe examples/workflows/on-comment.yml of this action shows how.',
      ],
    })
  })

  test.each(EVENTS)('%s is refused, and the message names a recipe', (name, payload) => {
    const { ref } = payload.deployment as { ref: string }
    expect(branchOf({ name, payload })).toEqual({
      problems: [
        `Input branch: the event ${name} does not say whether "${ref}" is a branch. If it is a branch, set the input "branch" to \${{ github.event.deployment.ref }}. If it is a commit, the recipe examples/workflows/vercel-preview.yml of this action shows how to find its branch.`,
      ],
    })
  })

  test.each([
    ['issue_comment', comment] as const,
    ...EVENTS,
  ])('%s is about the branch that the user names', (name, payload) => {
    expect(branchOf({ name, payload, inputs: { branch: 'feature/cart' } })).toEqual({ branch: 'feature/cart' })
    expect(branchOf({ name, payload, inputs: { 'run-id': 'r-1' } })).toEqual({})
  })

  test('is refused with the name of a recipe that exists', () => {
    for (const [name, payload] of [['issue_comment', comment] as const, ...EVENTS]) {
      const [recipe = ''] = /examples\/\S+\.yml/.exec(`${branchOf({ name, payload }).problems}`) ?? []
      expect(existsSync(join(import.meta.dirname, '../..', recipe)), recipe).toBe(true)
    }
  })
})

describe('an event whose file cannot be read', () => {
  test.each([
    'pull_request',
    'pull_request_target',
    'workflow_run',
    'issue_comment',
    'repository_dispatch',
  ])('%s is refused, because the branch may be a fork’s, and the message says so', (name) => {
    const message =
      /^Input branch: the file of the event \(GITHUB_EVENT_PATH is ".+"\) cannot be read, so the step does not know which branch to test\. Set the input "branch" to the branch that you want to test\.$/
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

  test('is neither looked up nor refused with run-id', () => {
    const inputs = { branch: 'changes', 'run-id': 'r-1' }
    const warnings = [expect.stringContaining('Input branch has no effect with run-id')]
    expect(branchOf({ name: 'pull_request', payload: fork, inputs })).toEqual({ warnings })
  })
})

test.each(['', ' \n'])('the branch %j, as an unset variable is, is the branch of the event', (branch) => {
  const fork = changed(first('pull_request'), ['pull_request.head.repo', FORK])
  expect(branchOf({ name: 'push', payload: { ref: 'refs/heads/next' }, inputs: { branch } })).toEqual({
    branch: 'next',
  })
  expect(branchOf({ name: 'pull_request', payload: fork, inputs: { branch } })).toEqual({
    problems: [forkMessage('changes')],
  })
})

function forkMessage(branch: string): string {
  return `Input branch: this workflow run is about the branch "${branch}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. A skipped job counts as passed, so a required check then passes although nothing was tested.`
}

function noBranchMessage(event: string): string {
  return `Input branch: the event ${event} names no branch of this repository. One possible cause is a commit of a fork. Set the input "branch" to the branch that you want to test.`
}
