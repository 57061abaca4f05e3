import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { branchToTest } from '../../src/inputs/branch.ts'
import { InvalidInputsError } from '../../src/inputs/input-reader.ts'
import { readInputs } from '../../src/inputs/inputs.ts'
import { untestedText } from '../../src/report/facts.ts'
import { render } from '../../src/text/safe-text.ts'
import type { GithubContext } from '../../tools/runner-emulator/contexts.ts'
import { readManifest } from '../../tools/runner-emulator/manifest.ts'
import { ACTIONS_BOT, type GitHubApi, startGitHubApi } from '../support/github-api.ts'
import { InstantClock } from '../support/instant-clock.ts'
import { inputVariables, linesWrittenBy } from '../support/process-effects.ts'
import { type Payload, realPayloads, workflowEvent } from '../support/workflow-event.ts'

// The branch of every event, with payloads that GitHub really sent and the default of action.yml.

const TOKEN = 'ghs_0123456789'
const DEFAULT = readManifest(join(import.meta.dirname, '../..')).inputs.find(({ name }) => name === 'branch')?.default
const HASH = 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e'

let api: GitHubApi

beforeEach(async () => {
  api = await startGitHubApi()
  api.grant(TOKEN, ACTIONS_BOT, 'read')
})
afterEach(() => api.close())

interface Step {
  readonly name: string
  readonly payload?: Payload | undefined
  readonly inputs?: Readonly<Record<string, string>>
  readonly github?: GithubContext
  readonly signal?: AbortSignal
  readonly clock?: InstantClock
}

async function decisionOf(step: Step) {
  const { name, payload, github = {}, clock = new InstantClock(), signal = new AbortController().signal } = step
  const { env, event } = workflowEvent(name, payload, github)
  const required = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }
  const variables = inputVariables({ ...required, branch: `${DEFAULT}`, 'github-token': TOKEN, ...step.inputs })
  const allEnv = { ...env, ...variables, GITHUB_API_URL: api.url, GITHUB_REPOSITORY: api.repository }
  let inputs: ReturnType<typeof readInputs> | undefined
  linesWrittenBy(() => {
    inputs = readInputs(allEnv, event)
  })
  const { branch, githubToken: token, warnings } = inputs ?? expect.fail()
  return { branch: await branchToTest(branch, { env: allEnv, event, token, clock, signal }), warnings }
}

/** The branch that the step sends, its warnings and its log, or why the step refuses to start. */
async function branchOf(step: Step) {
  try {
    const { branch, warnings: ofInputs } = await decisionOf(step)
    const warnings = [...ofInputs, ...(branch.warning === undefined ? [] : [branch.warning])].map(render)
    return {
      branch: branch.name,
      info: branch.info && render(branch.info),
      warnings: warnings.length === 0 ? undefined : warnings,
      /** The branch that is not tested, as reports say it. */
      untested: branch.untested && render(untestedText(branch.untested)),
    }
  } catch (error) {
    if (error instanceof InvalidInputsError) return { problems: error.messages.map(render) }
    throw error
  }
}

const requestsToGitHub = () => api.requests.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)

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
  ])('%s has its head branch', async (name) => {
    // Some events are no webhooks of GitHub. They have the payload of another event.
    const payloads = realPayloads(name === 'pull_request_target' ? 'pull_request' : name)
    for (const payload of payloads) expect(await branchOf({ name, payload })).toEqual({ branch: 'changes' })
    expect(api.requests).toEqual([])
  })

  test.each([
    'pull_request',
    'pull_request_target',
    'pull_request_review',
  ])('%s is refused if its head is in a fork or in a deleted repository', async (name) => {
    for (const repo of [FORK, null]) {
      const payload = changed(first('pull_request'), ['pull_request.head.repo', repo])
      expect(await branchOf({ name, payload })).toEqual({ problems: [forkMessage('changes')] })
    }
  })

  test('is refused if the payload has no pull request, because the head may be in a fork', async () => {
    const github = { head_ref: 'feature/cart', ref_name: '7/merge' }
    const problems = [noBranchMessage('pull_request')]
    expect(await branchOf({ name: 'pull_request', payload: {}, github })).toEqual({ problems })
  })

  test('carries no pull request if the pull request is null', async () => {
    const payload = { pull_request: null, workflow_run: null, issue: null, deployment: null, repository: OWN }
    expect(await branchOf({ name: 'deployment_review', payload })).toMatchObject({ branch: 'main' })
  })
})

describe('an event about a workflow run or a check', () => {
  test('workflow_run has its head branch in this repository', async () => {
    const found = await Promise.all(
      realPayloads('workflow_run').map((payload) => branchOf({ name: 'workflow_run', payload })),
    )
    expect(found).toContainEqual({ branch: 'master' })
    // This pull request is of a fork whose repository has the same name and another id.
    expect(found.filter((one) => 'problems' in one)).toEqual([{ problems: [forkMessage('main')] }])
  })

  test.each([null, FORK])('workflow_run is refused if its head repository is %j', async (repository) => {
    const payload = changed(first('workflow_run'), ['workflow_run.head_repository', repository])
    expect(await branchOf({ name: 'workflow_run', payload })).toEqual({ problems: [forkMessage('main')] })
  })

  test('check_suite and check_run have the head branch of the suite', async () => {
    for (const payload of realPayloads('check_suite')) {
      const { head_branch: branch } = payload.check_suite as { head_branch: string }
      expect(await branchOf({ name: 'check_suite', payload })).toEqual({ branch })
    }
    const runs = await Promise.all(realPayloads('check_run').map((payload) => branchOf({ name: 'check_run', payload })))
    expect(new Set(runs.map((run) => ('branch' in run ? run.branch : run)))).toEqual(
      new Set(['changes', 'master', 'miniak/event-process-id']),
    )
  })

  test.each([
    ['check_suite', 'check_suite.head_branch'],
    ['check_run', 'check_run.check_suite.head_branch'],
    ['workflow_run', 'workflow_run.head_branch'],
  ])('%s is refused if GitHub names no branch, for example for a commit of a fork', async (name, path) => {
    const payload = changed(first(name), [path, null])
    expect(await branchOf({ name, payload })).toEqual({ problems: [noBranchMessage(name)] })
  })
})

describe('an event of a branch', () => {
  test.each<[string, Payload | undefined, string]>([
    ['push', realPayloads('push').find(({ ref }) => ref === 'refs/heads/master'), 'master'],
    ['push', { ref: 'refs/heads/feature/pay' }, 'feature/pay'],
    ['merge_group', first('merge_group'), 'gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64'],
    ['workflow_dispatch', first('workflow_dispatch'), 'main'],
    ['schedule', { schedule: '0 4 * * *' }, 'main'],
  ])('%s has the branch that the workflow runs on', async (name, payload, branch) => {
    expect(await branchOf({ name, payload })).toEqual({ branch })
  })

  test.each<[string, Payload | undefined, string]>([
    ['push', realPayloads('push').find(({ ref }) => ref === 'refs/tags/simple-tag'), 'simple-tag'],
    ['workflow_dispatch', { ref: 'refs/tags/v1.2.3' }, 'v1.2.3'],
    ['release', first('release'), '0.0.1'],
  ])('%s of a tag has no branch, and the log says so', async (name, payload, tag) => {
    expect(await branchOf({ name, payload })).toEqual({
      info: `This workflow run is about "${tag}", which is not a branch, so the project's default branch is tested. To test another branch, set the input "branch".`,
    })
  })

  test.each([
    'repository_dispatch',
    'issue_comment',
    'issues',
    'create',
  ])('%s has the branch that the workflow runs on, and the log names this branch', async (name) => {
    const payload = realPayloads(name)[0]
    const { default_branch: branch } = payload?.repository as { default_branch: string }
    expect(await branchOf({ name, payload })).toEqual({
      branch,
      info: `Testing the branch "${branch}", because the workflow runs on it. The event ${name} names no other branch. To test another branch, set the input "branch".`,
    })
    expect(api.requests).toEqual([])
  })
})

describe('a comment on a pull request', () => {
  const HEAD = { ref: 'main', repo: OWN }
  const namesBranch = (ref: string) => ({ kind: 'json', json: { number: 7, head: { ...HEAD, ref } } }) as const
  const payload = changed(first('issue_comment'), ['issue.pull_request', {}], ['issue.number', 7], ['repository', OWN])

  const find = (step: Partial<Step> = {}) => branchOf({ name: 'issue_comment', payload, ...step })

  test("tests the pull request's head, which GitHub's API names", async () => {
    expect(await find()).toEqual({
      branch: 'feature/cart',
      info: 'Testing the branch "feature/cart", the head of pull request 7.',
    })
    expect(requestsToGitHub()).toEqual(['GET /repos/octo-org/web-shop/pulls/7'])
  })

  test('may have a head whose name has 255 characters, and more units in UTF-16', async () => {
    const ref = '🌱'.repeat(255)
    api.pullRequests.set(7, { ref, repo: OWN })
    expect(await find()).toMatchObject({ branch: ref })
  })

  test.each([FORK, null])('is refused if the head is in %j', async (repo) => {
    api.pullRequests.set(7, { ref: 'main', repo })
    expect(await find()).toEqual({ problems: [forkMessage('main')] })
  })

  test('looks nothing up if the user names a branch, or a run', async () => {
    expect(await find({ inputs: { branch: 'main' } })).toEqual({ branch: 'main' })
    expect(await find({ inputs: { 'run-id': 'r-1' } })).toEqual({})
    expect(api.requests).toEqual([])
  })

  test.each([
    [
      'refuses',
      { kind: 'status', status: 403, message: 'Resource not accessible' },
      'status 403 (Resource not accessible)',
    ],
    ['limits the rate', { kind: 'status', status: 429 }, 'limits the rate'],
    ['has no head', { kind: 'json', json: { number: 7, head: { ref: 'main' } } }, 'gave no usable response'],
    [
      'responds about another pull request',
      { kind: 'json', json: { number: 8, head: HEAD } },
      'gave no usable response',
    ],
    ['cuts it off', { kind: 'cut-short' }, 'gave no usable response'],
    [
      'sends another status',
      { kind: 'json', status: 202, json: { number: 7, head: HEAD } },
      'status 202 (a redirect or a status that the action does not expect)',
    ],
    ['names a line break', namesBranch('a\nb'), 'cannot be the name of a branch'],
    ['names nothing', namesBranch(''), 'cannot be the name of a branch'],
    ['names 256 characters', namesBranch('🌱'.repeat(256)), 'cannot be the name of a branch'],
  ] as const)('is refused if GitHub %s', async (_, fault, reason) => {
    void api.inject({ method: 'GET', times: 2 }, fault)
    const found = await find()
    const sentence =
      /^Input branch: the event does not name the branch to test\. The step could not find the head of pull request 7 through GitHub's API: .*pull-requests: read.*Set the input "branch"/
    expect(found).toEqual({ problems: [expect.stringMatching(sentence)] })
    expect(JSON.stringify(found)).toContain(reason)
  })

  test('follows a redirect within GitHub', async () => {
    const headers = { location: `${api.url}/repos/${api.repository}/pulls/7?moved=1` }
    void api.inject({ method: 'GET' }, { kind: 'status', status: 301, headers })
    expect(await find()).toMatchObject({ branch: 'feature/cart' })
    const [, followed] = api.requests
    expect([api.requests.length, followed?.path]).toEqual([2, expect.stringMatching(/pulls\/7\?moved=1$/)])
    expect(followed?.headers.authorization).toBe(`token ${TOKEN}`)
  })

  test('follows no redirect to another host', async () => {
    // This is another name of this machine.
    const location = `${api.url.replace('127.0.0.1', 'localhost')}/repos/${api.repository}/pulls/7`
    void api.inject({ method: 'GET', times: 2 }, { kind: 'status', status: 302, headers: { location } })
    const found = await find()
    expect(found).toEqual({ problems: [expect.stringContaining('GitHub responded with status 302 (a redirect or')] })
    expect(api.requests).toHaveLength(1)
  })

  test('repeats a look-up once after a transient failure', async () => {
    void api.inject({ method: 'GET' }, { kind: 'status', status: 502 })
    expect(await find()).toMatchObject({ branch: 'feature/cart' })
    expect(api.requests).toHaveLength(2)
  })

  test('is refused if the event file cannot be read', async () => {
    expect(await find({ payload: {} })).toEqual({ problems: [noBranchMessage('issue_comment')] })
  })

  test('is refused without a token, and no request is sent', async () => {
    const found = await find({ inputs: { 'github-token': '' } })
    expect(found).toEqual({ problems: [expect.stringContaining('the input github-token is empty')] })
    expect(api.requests).toEqual([])
  })

  test('is refused after ten seconds without a response', async () => {
    const clock = new InstantClock()
    const hanging = api.inject({ method: 'GET', times: 9 }, { kind: 'hang' })
    const found = find({ clock })
    await hanging
    clock.pass(10_000)
    expect(await found).toEqual({ problems: [expect.stringContaining('no response in time')] })
    expect(api.requests).toHaveLength(1)
  })

  test('ends its look-up without a message when the step is cancelled', async () => {
    const controller = new AbortController()
    const hanging = api.inject({ method: 'GET' }, { kind: 'hang' })
    const found = find({ signal: controller.signal })
    await hanging
    controller.abort()
    expect(await found).toEqual({})
  })
})

describe('a deployment', () => {
  const name = 'deployment'
  const deployed = (ref: string) =>
    changed(first(name), ['deployment.ref', ref], ['deployment.sha', HASH], ['repository', OWN])

  const find = (ref: string) => branchOf({ name, payload: deployed(ref) })

  test.each(['deployment', 'deployment_status'])('of a branch tests the branch: %s', async (name) => {
    for (const payload of realPayloads(name)) {
      const { ref, sha } = payload.deployment as { ref: string; sha: string }
      api.refs.set(`heads/${ref}`, sha)
      const info = `Testing the branch "${ref}" of the deployment.`
      expect(await branchOf({ name, payload })).toEqual({ branch: ref, info })
    }
  })

  test('of a branch that has a newer commit tests the branch, with a warning', async () => {
    const head = 'c'.repeat(40)
    api.refs.set('heads/feature/pay', head)
    expect(await find('feature/pay')).toEqual({
      branch: 'feature/pay',
      info: 'Testing the branch "feature/pay" of the deployment.',
      warnings: [
        `The deployed commit is ${HASH}, but the head of the branch "feature/pay" is now ${head}. The service tests the branch as it is now.`,
      ],
    })
  })

  test('without its commit tests the branch, without a warning', async () => {
    api.refs.set('heads/feature/pay', HASH)
    const payload = changed(deployed('feature/pay'), ['deployment.sha', undefined])
    const info = 'Testing the branch "feature/pay" of the deployment.'
    expect(await branchOf({ name, payload })).toEqual({ branch: 'feature/pay', info })
  })

  test('of a name that is a branch and a tag is refused, unless the ref says which', async () => {
    for (const ref of ['heads/v1', 'tags/v1']) api.refs.set(ref, HASH)
    expect(await find('v1')).toEqual({
      problems: [expect.stringContaining('of "v1" through GitHub\'s API: "v1" is both a branch and a tag.')],
    })
    expect(await find('refs/heads/v1')).toMatchObject({ branch: 'v1' })
    expect(requestsToGitHub().at(-1)).toBe('GET /repos/octo-org/web-shop/git/ref/heads/v1')
    expect(await find('refs/tags/v1')).toMatchObject({ branch: undefined })
  })

  const ref = (its: object) =>
    ({ kind: 'json', json: { ref: 'refs/heads/v1', object: { sha: HASH }, ...its } }) as const
  test.each([
    ['another ref', ref({ ref: 'refs/heads/v1.2' })],
    ['no hash', ref({ object: null })],
    ['half of it', { kind: 'cut-short' }],
  ] as const)('is refused if GitHub sends %s in the place of the ref', async (_, fault) => {
    api.refs.set('heads/v1', HASH)
    void api.inject({ method: 'GET', times: 2 }, fault)
    const problems = [expect.stringContaining("GitHub's API gave no usable response")]
    expect(await find('v1')).toEqual({ problems })
  })

  test.each([
    ['another commit', [{ name: 'main', commit: { sha: 'd'.repeat(40) } }], 'gave no usable response'],
    ['no list', { name: 'main', commit: { sha: HASH } }, 'gave no usable response'],
    ['no branch name', [{ name: 'a\u0007b', commit: { sha: HASH } }], 'cannot be the name of a branch'],
  ])('of a commit is refused if GitHub sends %s', async (_, json, reason) => {
    void api.inject({ method: 'GET', times: 2 }, { kind: 'json', json })
    expect(await find(HASH)).toEqual({ problems: [expect.stringContaining(reason)] })
  })

  test.each([HASH, HASH.slice(0, 7)])('of the commit %s tests the one branch whose head it is', async (ref) => {
    api.refs.set('heads/feature/pay', HASH)
    expect(await find(ref)).toEqual({
      branch: 'feature/pay',
      info: 'Testing the branch "feature/pay", whose head is the commit that was deployed.',
    })
    expect(requestsToGitHub().at(-1)).toBe(`GET /repos/octo-org/web-shop/commits/${HASH}/branches-where-head`)
    expect(requestsToGitHub()).toHaveLength(ref === HASH ? 1 : 3)
  })

  test.each([
    ['a commit that is the head of no branch', HASH, [], 'no branch was found'],
    ['a commit of two branches', HASH, ['one', 'two'], 'the commit is the head of several branches (one, two)'],
    ['a branch that does not exist any more', 'feature/pay', [], 'no branch was found'],
    ['nothing', '', ['one'], 'no branch was found'],
    ['too few letters of a hash', HASH.slice(0, 6), ['one'], 'no branch was found'],
  ])('of %s is refused', async (_, ref, branches, reason) => {
    for (const branch of branches) api.refs.set(`heads/${branch}`, HASH)
    const problem = `Input branch: the event does not name the branch to test. The step could not find the branch of the deployment of "${ref}" through GitHub's API: ${reason}. The look-up needs the permission contents: read. Set the input "branch" to the branch that you want to test.`
    expect(await find(ref)).toEqual({ problems: [problem] })
  })

  test.each(['v1.2.3', 'refs/tags/v1.2.3'])('of the tag %s sends no branch, and the log says so', async (ref) => {
    api.refs.set('tags/v1.2.3', HASH)
    if (ref.startsWith('refs/tags/')) api.refs.set('heads/v1.2.3', 'b'.repeat(40))
    expect(await find(ref)).toEqual({
      info: `This workflow run is about a deployment of the tag "v1.2.3", so the project's default branch is tested. To test another branch, set the input "branch".`,
    })
  })
})

describe('a branch that the user names', () => {
  const fork = changed(first('pull_request'), ['pull_request.head.repo', FORK])

  test.each([
    ['pull_request', 'changes', fork],
    ['pull_request', 'refs/heads/changes', fork],
    ['workflow_run', 'main', changed(first('workflow_run'), ['workflow_run.head_repository', FORK])],
  ])('is refused if it is the head of a fork: %s, %s', async (name, branch, payload) => {
    expect(await branchOf({ name, payload, inputs: { branch } })).toEqual({
      problems: [forkMessage(branch.replace('refs/heads/', ''))],
    })
  })

  test('is sent as it is, also on a fork if it is another branch', async () => {
    for (const branch of ['main', '42/merge']) {
      expect(await branchOf({ name: 'pull_request', payload: fork, inputs: { branch } })).toEqual({ branch })
    }
  })

  test('is neither looked up nor refused with run-id', async () => {
    const inputs = { branch: 'changes', 'run-id': 'r-1' }
    const warnings = [expect.stringContaining('Input branch has no effect with run-id')]
    expect(await branchOf({ name: 'pull_request', payload: fork, inputs })).toEqual({ warnings })
  })
})

describe('an empty branch, as an unset variable is', () => {
  const pullRequest = changed(first('pull_request'), ['pull_request.head.ref', 'feature'])
  const onPullRequest = changed(first('issue_comment'), ['issue.pull_request', {}], ['issue.number', 7])
  const deploymentOf = (ref: string) => changed(first('deployment'), ['deployment.ref', ref])
  const defaultBranch = (payload: Payload | undefined) =>
    (payload?.repository as { default_branch: string }).default_branch

  test.each<[string, Payload, string]>([
    ['pull_request', pullRequest, '“feature”'],
    ['pull_request', changed(pullRequest, ['pull_request.head.repo', FORK]), '“feature”'],
    [
      'pull_request',
      changed(pullRequest, ['pull_request.head', { ref: defaultBranch(pullRequest), repo: FORK }]),
      `“${defaultBranch(pullRequest)}”`,
    ],
    ['push', { ref: 'refs/heads/next' }, '“next”'],
    ['issue_comment', onPullRequest, 'the head of pull request 7'],
    ['deployment', deploymentOf('feature'), '“feature”'],
    ['deployment', deploymentOf(HASH), `“${HASH}”`],
    ['check_suite', changed(first('check_suite'), ['check_suite.head_branch', null]), 'a commit of a fork'],
  ])('on %s of %j is a warning and a line in the reports, which name the branch that is not tested', async (name, payload, what) => {
    for (const branch of ['', ' \n']) {
      const untested = `Input branch is empty, so the project's default branch is tested. This workflow run is about ${what}, which is not tested.`
      expect(await branchOf({ name, payload, inputs: { branch } })).toEqual({
        untested,
        warnings: [
          `${untested} If the input comes from a variable, check that the variable is set. Otherwise remove the input, or set it to the branch that you want to test.`,
        ],
      })
    }
    expect(api.requests).toEqual([])
  })

  test.each<[string, Payload | undefined]>([
    ['push', { ref: 'refs/heads/main', repository: { ...OWN, default_branch: 'main' } }],
    ['push', { ref: 'refs/tags/v1', repository: { ...OWN, default_branch: 'main' } }],
    ['deployment', changed(deploymentOf('refs/heads/next'), ['repository', { ...OWN, default_branch: 'next' }])],
    ['deployment', deploymentOf('')],
    ['release', first('release')],
    ['workflow_dispatch', first('workflow_dispatch')],
    ['schedule', { schedule: '0 4 * * *' }],
  ])('on %s of %j needs no warning, because the event is about the default branch or none', async (name, payload) => {
    expect(await branchOf({ name, payload, inputs: { branch: '' } })).toEqual({})
  })
})

function forkMessage(branch: string): string {
  return `Input branch: this workflow run is about the branch "${branch}" of a fork. The service would look for a branch of this name in the project's repository, and test the wrong code. Skip the job for forks, or set the input branch to another branch. A skipped job counts as passed, so a required check then passes although nothing was tested.`
}

function noBranchMessage(event: string): string {
  return `Input branch: the event ${event} names no branch of this repository. One possible cause is a commit of a fork. So the step does not know which branch to test. Set the input "branch" to the branch that you want to test.`
}

test.each<[string, Step]>([
  ['the input run-id names a run', { name: 'push', inputs: { 'run-id': 'r-1' } }],
  ['the input branch is empty', { name: 'push', inputs: { branch: '' } }],
  ['the input branch names it', { name: 'push', inputs: { branch: 'release' } }],
  ["it was looked up through GitHub's API", { name: 'deployment', payload: first('deployment') }],
  ['the event is about no branch', { name: 'release', payload: first('release') }],
  ["it is the event's head_branch", { name: 'workflow_run', payload: { workflow_run: { head_branch: 'b' } } }],
  ['it is the head branch of the pull request', { name: 'pull_request', payload: first('pull_request') }],
  ['the workflow runs on it', { name: 'schedule' }],
  ['the step was cancelled', { name: 'deployment', signal: AbortSignal.abort() }],
])('the debug log says why this branch: %s', async (because, step) => {
  const { ref, sha } = (first('deployment')?.deployment ?? {}) as { ref: string; sha: string }
  api.refs.set(`heads/${ref}`, sha)
  expect((await decisionOf(step)).branch.because).toBe(because)
})
