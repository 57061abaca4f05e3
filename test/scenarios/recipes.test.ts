import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { githubContext, type WorkflowEvent } from '../../tools/runner-emulator/contexts.ts'
import { renderTemplate } from '../../tools/runner-emulator/expressions.ts'
import { type JobOptions, playJob } from '../../tools/runner-emulator/job.ts'
import { type ScriptedService, startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { ACTIONS_BOT, type GitHubApi, startGitHubApi } from '../support/github-api.ts'
import { type GitHubCommands, HAS_COMMANDS, Pages, startGitHubCommands } from '../support/github-commands.ts'
import { expectConformingRequests } from '../support/openapi.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED } from '../support/scenario.ts'

// The recipes whose jobs do more than name inputs, played job by job: the scripts in bash, the action as it is built.

const FOLDER = 'examples/workflows'
const HEAD = 'c'.repeat(40)
const NEWER_HEAD = 'd'.repeat(40)
const WORKFLOW_RUN = 'https://github.com/octo-org/web-shop/actions/runs/1658821493'
const REPOSITORY = { id: 1, full_name: 'octo-org/web-shop', default_branch: 'main' }
const PULL_REQUEST = {
  number: 7,
  state: 'open',
  changed_files: 2,
  draft: false,
  user: { login: 'octocat' },
  head: { ref: 'faster-checkout', sha: HEAD, repo: REPOSITORY },
  base: { ref: 'main', repo: REPOSITORY },
}

const ON_PULL_REQUEST: WorkflowEvent = {
  name: 'pull_request',
  payload: { action: 'synchronize', number: 7, repository: REPOSITORY, pull_request: PULL_REQUEST },
}
const BRANCHES_WHERE_HEAD = `commits/${HEAD}/branches-where-head`
/** The newest push is the first. */
const pushes = (...commits: readonly string[]) =>
  commits.map((after, index) => ({ id: commits.length - index, after, ref: 'refs/heads/faster-checkout' }))

let service: ScriptedService
let github: GitHubCommands

beforeEach(async () => {
  service = await startScriptedService({ script: { cases: ONE_PASSED } })
  github = await startGitHubCommands({
    'pulls/7': PULL_REQUEST,
    [BRANCHES_WHERE_HEAD]: [{ name: 'faster-checkout' }],
    activity: activity([HEAD]),
  })
})

/** Lists the pushes to the branch, and to no other. */
function activity(before: readonly string[], after = before) {
  return (query: URLSearchParams) =>
    query.get('ref') === 'refs/heads/faster-checkout' ? pushes(...(service.runs.length === 0 ? before : after)) : []
}

afterEach(async () => {
  await service.close()
  await github[Symbol.asyncDispose]()
  expectConformingRequests(service)
})

function recipe(file: string) {
  return parse(readFileSync(join(FOLDER, file), 'utf8'))
}

/** Plays a job of a recipe. Its scripts and the action talk to the stand-ins. */
function play(file: string, job: string, event: WorkflowEvent, options: JobOptions = {}) {
  return playJob(`${FOLDER}/${file}`, job, {
    event,
    github: { api_url: github.url },
    commands: github.folder,
    ...options,
    contexts: {
      vars: { TEST_SERVICE_URL: service.url },
      secrets: { TEST_SERVICE_API_KEY: service.key },
      ...options.contexts,
    },
  })
}

describe.skipIf(!HAS_COMMANDS)('on-comment.yml', () => {
  const comment = (body: string, issue: Record<string, unknown> = { pull_request: {} }): WorkflowEvent => ({
    name: 'issue_comment',
    payload: {
      action: 'created',
      repository: REPOSITORY,
      issue: { number: 7, ...issue },
      comment: { body, user: { login: 'hubot' } },
    },
  })
  const status = (state: string) => ({
    sha: HEAD,
    state,
    context: 'Tests on a comment',
    target_url: WORKFLOW_RUN,
  })

  test.each([
    ['a comment with other words', comment('Please /test this')],
    ['a comment on an issue', comment('/test', {})],
  ])('does not look at %s', async (_, event) => {
    expect(await play('on-comment.yml', 'asked', event)).toMatchObject({ result: 'skipped' })
  })

  /** What the first job finds out about the person. */
  async function asked(permission: string) {
    github.routes = { ...github.routes, 'collaborators/hubot/permission': { permission } }
    const { result, outputs, log } = await play('on-comment.yml', 'asked', comment('/test'))
    expect(result, log).toBe('success')
    return { needs: { asked: { result: 'success', outputs } } } as const
  }

  test('tests nothing for a person who may only read', async () => {
    expect(await play('on-comment.yml', 'tests', comment('/test'), await asked('read'))).toMatchObject({
      result: 'skipped',
    })
  })

  test('tests the branch of the pull request, and shows the result on its head', async () => {
    const { result, log } = await play('on-comment.yml', 'tests', comment('/test'), await asked('write'))
    expect(result, log).toBe('success')
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout' } }])
    expect(github.statuses).toEqual([status('pending'), status('success')])
  })

  test('shows no success if the branch had already moved', async () => {
    github.routes = { ...github.routes, activity: activity([NEWER_HEAD, HEAD]) }
    const needs = { asked: { result: 'success', outputs: { access: 'admin' } } } as const
    await play('on-comment.yml', 'tests', comment('/test'), { needs })
    expect(github.statuses).toEqual([status('pending'), status('error')])
  })
})

describe.skipIf(!HAS_COMMANDS)('vercel-preview.yml', () => {
  const deployed = (state: string, environment: string): WorkflowEvent => ({
    name: 'deployment_status',
    payload: {
      repository: REPOSITORY,
      deployment: { sha: HEAD, ref: HEAD, environment },
      deployment_status: { state, environment_url: 'https://web-shop-git-x.vercel.app/?a="1"' },
    },
  })

  test.each([
    ['pending', 'Preview'],
    ['failure', 'Preview'],
    ['success', 'Production'],
  ])('skips a deployment that is %s in %s', async (state, environment) => {
    expect(await play('vercel-preview.yml', 'preview', deployed(state, environment))).toMatchObject({
      result: 'skipped',
    })
  })

  test('tests the address of the preview on the branch of its commit', async () => {
    const site = 'Preview – web-shop'
    const { result, log } = await play('vercel-preview.yml', 'preview', deployed('success', site))
    expect(result, log).toBe('success')
    const envOverrides = { SHOP_URL: 'https://web-shop-git-x.vercel.app/?a="1"' }
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout', envOverrides } }])
    const status = { sha: HEAD, context: `Tests of ${site}`, target_url: WORKFLOW_RUN }
    expect(github.statuses).toEqual([
      { ...status, state: 'pending' },
      { ...status, state: 'success' },
    ])
  })
})

describe.skipIf(!HAS_COMMANDS)('netlify-preview.yml', () => {
  const SITE = 'netlify/web-shop/deploy-preview'
  const reported = (context: string, state = 'success'): WorkflowEvent => ({
    name: 'status',
    payload: {
      repository: REPOSITORY,
      sha: HEAD,
      state,
      context,
      target_url: 'https://deploy-preview-7--web-shop.netlify.app',
    },
  })
  const states = () => github.statuses.map(({ state }) => state)

  test.each([
    [SITE, 'pending'],
    ['netlify/web-shop/deploy', 'success'],
    [`Tests of ${SITE}`, 'success'],
  ])('skips the status "%s" that is %s', async (context, state) => {
    expect(await play('netlify-preview.yml', 'preview', reported(context, state))).toMatchObject({ result: 'skipped' })
  })

  test('tests the address of the preview on the branch of its commit', async () => {
    const { result, log } = await play('netlify-preview.yml', 'preview', reported(SITE))
    expect(result, log).toBe('success')
    const envOverrides = { SHOP_URL: 'https://deploy-preview-7--web-shop.netlify.app' }
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout', envOverrides } }])
    expect(states()).toEqual(['pending', 'success'])
    expect(github.statuses).toContainEqual(expect.objectContaining({ sha: HEAD, context: `Tests of ${SITE}` }))
  })

  test('shows a failure', async () => {
    service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
    expect(await play('netlify-preview.yml', 'preview', reported(SITE))).toMatchObject({ result: 'failure' })
    expect(states()).toEqual(['pending', 'failure'])
  })

  test.each([
    ['has moved meanwhile', [HEAD], [NEWER_HEAD, HEAD]],
    ['has moved meanwhile, and back', [HEAD], [HEAD, NEWER_HEAD, HEAD]],
  ])('shows no success if the branch %s', async (_, before, after) => {
    github.routes = { ...github.routes, activity: activity(before, after) }
    await play('netlify-preview.yml', 'preview', reported(SITE))
    expect(states()).toEqual(['pending', 'error'])
  })

  test.each([
    ['no branch has that head', []],
    ['two branches have that head', [{ name: 'a' }, { name: 'b' }]],
  ])('tests nothing, and shows an error, if %s', async (_, branches) => {
    github.routes = { ...github.routes, [BRANCHES_WHERE_HEAD]: branches }
    const { result } = await play('netlify-preview.yml', 'preview', reported(SITE))
    expect(result).toBe('failure')
    expect(service.runs).toEqual([])
    expect(states()).toEqual(['pending', 'error'])
  })
})

test('on-comment.yml and vercel-preview.yml have the scripts of netlify-preview.yml, which is played to every end', () => {
  const [vercel, netlify] = ['vercel', 'netlify'].map((host) => recipe(`${host}-preview.yml`).jobs.preview.steps)
  expect([vercel[0].run, vercel.at(-1)]).toEqual([netlify[0].run, netlify.at(-1)])
  const comparisons = [recipe('on-comment.yml').jobs.tests.steps, netlify].map(
    (steps) => steps.at(-1).run.split('\n')[1],
  )
  expect(comparisons[0]).toContain('STATE=error')
  expect(comparisons[0]).toBe(comparisons[1])
})

describe.skipIf(!HAS_COMMANDS)('relevant-changes.yml', () => {
  const changed = (overrides: Record<string, unknown> = {}): WorkflowEvent => ({
    name: 'pull_request',
    payload: { number: 7, repository: REPOSITORY, pull_request: { ...PULL_REQUEST, ...overrides } },
  })
  const file = (filename: string, previous_filename?: string) => ({ filename, previous_filename })
  const README = file('README.md')

  test.each([
    ['a file that matters', 'true', [[README, file('src/cart.ts')]]],
    ['one on a later page', 'true', [[README], [file('package.json')]]],
    ['one that was moved away', 'true', [[file('old/cart.ts', 'src/cart.ts')]]],
    ['others alone', 'false', [[README, file('docs/src/cart.md')]]],
    ['none', 'false', [[]]],
  ])('of %s says that it is relevant: %s', async (_, relevant, pages) => {
    github.routes = { 'pulls/7/files': new Pages(...pages) }
    const { result, outputs, log } = await play('relevant-changes.yml', 'changes', changed())
    expect({ result, outputs }, log).toEqual({ result: 'success', outputs: { relevant } })
  })

  test('takes more files than GitHub lists for relevant', async () => {
    github.routes = { 'pulls/7/files': [README] }
    const { outputs } = await play('relevant-changes.yml', 'changes', changed({ changed_files: 3_001 }))
    expect(outputs).toEqual({ relevant: 'true' })
  })

  test('says nothing if the files cannot be listed', async () => {
    github.routes = {}
    const { result, outputs } = await play('relevant-changes.yml', 'changes', changed())
    expect({ result, outputs }).toEqual({ result: 'failure', outputs: { relevant: '' } })
  })

  test.each([
    ['a draft', 'true', true],
    ['other changes', 'false', false],
  ] as const)('skips the tests of %s', async (_, relevant, draft) => {
    const needs = { changes: { result: 'success', outputs: { relevant } } } as const
    const played = await play('relevant-changes.yml', 'tests', changed({ draft }), { needs })
    expect(played.result).toBe('skipped')
  })

  test.each([
    ['the tests have passed', 'success', 'true', 'success', 'success'],
    ['nothing relevant was found', 'success', 'false', 'skipped', 'success'],
    ['a draft was not tested', 'success', 'true', 'skipped', 'failure'],
    ['the changes are not known', 'failure', '', 'skipped', 'failure'],
    ['the changes were known, and the job failed after that', 'failure', 'false', 'skipped', 'failure'],
    ['the workflow was cancelled', 'cancelled', '', 'cancelled', 'failure'],
  ] as const)('if %s, the job to require is right', async (_, changes, relevant, tests, result) => {
    const needs = { changes: { result: changes, outputs: { relevant } }, tests: { result: tests } }
    expect(await play('relevant-changes.yml', 'test-run', changed(), { needs })).toMatchObject({ result })
  })
})

describe.skipIf(!HAS_COMMANDS)('chat-message.yml', () => {
  const PUSH: WorkflowEvent = { name: 'push', payload: { ref: 'refs/heads/main' } }

  test('sends ten names as text, whatever is in them, and how many more there are', async () => {
    await using chat = await startChat()
    const titles = ['pays by "card" & <!channel> `id` $(id) \\', ...Array.from({ length: 11 }, (_, n) => `test ${n}`)]
    const cases = titles.map((title) => ({ title, status: 'FAILED', durationMs: 1 }))
    service.setScript({ end: 'FAILED', cases: [...ONE_PASSED, ...cases] })
    const { result, log } = await play('chat-message.yml', 'main', PUSH, chat.options)
    expect(result).toBe('failure')
    expect(chat.messages, log).toHaveLength(1)
    const [headline, ...names] = chat.messages[0]?.text.split('\n') ?? []
    expect(headline).toMatch(/^The tests of main: failed\. <.*\|Job>$/)
    expect(names).toHaveLength(11)
    expect(names[0]).toBe('• pays by "card" &amp; &lt;!channel&gt; `id` $(id) \\')
    expect(names.slice(9)).toEqual(['• test 8', '… and 2 more'])
  })

  test('sends a message if there are no results', async () => {
    await using chat = await startChat()
    const contexts = { ...chat.options.contexts, vars: { TEST_SERVICE_URL: 'ftp://tests.example.com' } }
    await play('chat-message.yml', 'main', PUSH, { contexts })
    expect(chat.messages[0]?.text).toMatch(/^The tests of main: error\. <.*\|Job>$/)
  })

  /** A web hook that keeps what it is sent. */
  async function startChat() {
    const messages: { readonly text: string }[] = []
    const server = createServer(async (request, response) => {
      messages.push(JSON.parse(await text(request)))
      response.end('ok')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const secrets = { TEST_SERVICE_API_KEY: service.key, CHAT_WEBHOOK_URL: url }
    return {
      messages,
      options: { contexts: { secrets } },
      async [Symbol.asyncDispose]() {
        await new Promise((resolve) => server.close(resolve))
      },
    }
  }
})

describe('gate.yml', () => {
  test('tests the branch of the pull request', async () => {
    const { result, log } = await play('gate.yml', 'test-run', ON_PULL_REQUEST)
    expect(result, log).toBe('success')
    expect(service.runs).toMatchObject([{ projectId: 'web-shop', body: { branch: 'faster-checkout' } }])
  })

  test('lets a newer push to a pull request replace the older run, and tests every push to main', () => {
    const { group } = recipe('gate.yml').concurrency
    const groups = (event: WorkflowEvent) =>
      ['1', '2', '3'].map((run_id) => renderTemplate(group, { github: githubContext(event, { run_id }) }))
    expect(new Set(groups(ON_PULL_REQUEST)).size).toBe(1)
    expect(new Set(groups({ name: 'push' })).size).toBe(3)
  })
})

test("forks.yml skips a fork's pull request, and tests the queue's own branch", async () => {
  const head = { ...PULL_REQUEST.head, repo: { id: 2, full_name: 'stranger/web-shop' } }
  const pull_request = { ...PULL_REQUEST, head }
  const fork = { name: 'pull_request', payload: { ...ON_PULL_REQUEST.payload, pull_request } }
  expect(await play('forks.yml', 'test-run', fork)).toMatchObject({ result: 'skipped' })
  const branch = 'gh-readonly-queue/main/pr-7-ffac537e6cbbf934b08745a378932722df287a53'
  const queue = { name: 'merge_group', payload: { merge_group: { head_ref: `refs/heads/${branch}` } } }
  expect(await play('forks.yml', 'test-run', queue)).toMatchObject({ result: 'success' })
  expect(service.runs).toMatchObject([{ body: { branch } }])
})

test('preview.yml hands every character of its values on, and logs none of them', async () => {
  const url = 'https://pr-7.preview.example.com/#/shop?a=1'
  const password = 'a "quoted" #1 \\ secret'
  const { log } = await play('preview.yml', 'tests', ON_PULL_REQUEST, {
    needs: { deploy: { result: 'success', outputs: { url } } },
    contexts: { secrets: { TEST_SERVICE_API_KEY: service.key, PREVIEW_SHOP_PASSWORD: password } },
  })
  expect(service.runs).toMatchObject([{ body: { envOverrides: { SHOP_URL: url, SHOP_PASSWORD: password } } }])
  expect(log).not.toMatch(/preview\.example|quoted/)
})

describe('start-early.yml', () => {
  const RECIPE = 'start-early.yml'
  const built = (result: 'success' | 'failure' | 'cancelled') => ({ build: { result } })

  async function start() {
    const { result, outputs, log } = await play(RECIPE, 'start', ON_PULL_REQUEST)
    expect(result, log).toBe('success')
    return { start: { result, outputs } } as const
  }

  test('starts one run and awaits it in another job, after a failed build too', async () => {
    const needs = { ...(await start()), ...built('failure') }
    const { result, log } = await play(RECIPE, 'tests', ON_PULL_REQUEST, { needs })
    expect(result, log).toBe('success')
    expect(await play(RECIPE, 'cancel', ON_PULL_REQUEST, { needs })).toMatchObject({ result: 'skipped' })
    expect(service.runs).toHaveLength(1)
  })

  test('starts a new run if the failed jobs are run again', async () => {
    const outputs = { 'run-id': 'run-of-the-first-attempt', attempt: '1' }
    const needs = { start: { result: 'success', outputs }, ...built('success') } as const
    const again = { needs, github: { run_attempt: '2' } }
    const { result, log } = await play(RECIPE, 'tests', ON_PULL_REQUEST, again)
    expect(result, log).toBe('success')
    expect(service.runs).toMatchObject([{ status: 'PASSED' }])
    const cancelled = { ...again, needs: { ...needs, ...built('cancelled') } }
    expect(await play(RECIPE, 'cancel', ON_PULL_REQUEST, cancelled)).toMatchObject({ result: 'skipped' })
  })

  test('cancels the run at once if the workflow was cancelled before any job waited for it', async () => {
    service.setScript({ runningMs: Number.POSITIVE_INFINITY })
    const needs = { ...(await start()), ...built('cancelled') }
    expect(await play(RECIPE, 'tests', ON_PULL_REQUEST, { needs })).toMatchObject({ result: 'skipped' })
    await play(RECIPE, 'cancel', ON_PULL_REQUEST, { needs })
    expect(service.runs).toMatchObject([{ status: 'CANCELLED', cancelAccepted: true }])
  })
})

describe('background.yml', () => {
  const RECIPE = 'background.yml'

  /** A folder with a `make` of our own. */
  function makeThat(script: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'make-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'make'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return folder
  }

  test('builds while the run goes on, then waits for it and has its outputs', async () => {
    service.setScript({ runningMs: Number.POSITIVE_INFINITY })
    const commands = makeThat('touch "$0.done"')
    const watcher = watch(commands)
    onTestFinished(() => watcher.close())
    const built = once(watcher, 'change')
    const played = play(RECIPE, 'test-run', ON_PULL_REQUEST, { commands })
    await Promise.all([built, service.waitForRequest('start')])
    service.finishRun(service.runs[0]?.runId ?? '', 'PASSED', ONE_PASSED)
    const { result, log } = await played
    expect(result, log).toBe('success')
    expect(log).toContain('1 test cases have passed')
  })

  test('cancels the run if the workflow is cancelled', async () => {
    service.setScript({ runningMs: Number.POSITIVE_INFINITY })
    const cancel = { during: 'tests', on: /RUNNING/ }
    // The emulator ends the script alone: what it started must not hold the log open.
    const options = { cancel, commands: makeThat('exec sleep 60 > /dev/null 2>&1') }
    expect(await play(RECIPE, 'test-run', ON_PULL_REQUEST, options)).toMatchObject({ result: 'cancelled' })
    expect(service.runs).toMatchObject([{ status: 'CANCELLED', cancelAccepted: true }])
  })
})

describe('organisation.yml', () => {
  const RECIPE = 'organisation.yml'
  let api: GitHubApi

  beforeEach(async () => {
    api = await startGitHubApi()
    api.grant('ghs_0123456789', ACTIONS_BOT, 'write')
  })
  afterEach(() => api.close())

  test('writes a comment for the ruleset, which runs the repository’s own project, and one for each call', async () => {
    service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
    for (const inputs of [{}, { project: 'back-office' }]) {
      await play(RECIPE, 'test-run', ON_PULL_REQUEST, {
        github: { api_url: api.url, token: 'ghs_0123456789', repository: api.repository },
        contexts: { inputs, vars: { TEST_SERVICE_URL: service.url, TEST_PROJECT: 'web-shop' } },
      })
    }
    expect(service.runs).toMatchObject([{ projectId: 'web-shop' }, { projectId: 'back-office' }])
    expect(api.comments.map(({ body }) => /web-shop|back-office/.exec(body)?.[0])).toEqual(['web-shop', 'back-office'])
  })

  test('cancels no other run, which GitHub forbids in the workflow of a ruleset', () => {
    expect(recipe(RECIPE)).not.toHaveProperty('concurrency')
  })

  test('gets its one secret by name from a workflow that calls it', () => {
    expect(Object.keys(recipe(RECIPE).on.workflow_call.secrets)).toEqual(['TEST_SERVICE_API_KEY'])
    const text = readFileSync(join(FOLDER, RECIPE), 'utf8')
    expect(text).toContain(`#         TEST_SERVICE_API_KEY: \${{ secrets.TEST_SERVICE_API_KEY }}`)
    expect(text).not.toContain('inherit')
  })
})

describe('the job to require of a recipe whose tests are in other jobs', () => {
  const ENDS = ['success', 'cancelled', 'skipped'] as const
  // That of relevant-changes.yml is played above.
  const CASES = globSync('*.yml', { cwd: FOLDER, exclude: ['relevant-changes.yml'] }).flatMap((file) => {
    const jobs: readonly string[] = recipe(file).jobs['test-run']?.needs ?? []
    return jobs.flatMap((name) => ENDS.map((end) => [file, name, end, jobs] as const))
  })

  test('is in three of them', () => {
    expect(new Set(CASES.map(([file]) => file))).toEqual(new Set(['matrix.yml', 'preview.yml', 'start-early.yml']))
  })

  test.each(
    CASES,
  )('%s: if %s ends in %s, it is never skipped, and succeeds after a success alone', async (file, name, end, jobs) => {
    const needs = Object.fromEntries(jobs.map((job) => [job, { result: job === name ? end : ('success' as const) }]))
    const { result } = await playJob(`${FOLDER}/${file}`, 'test-run', { needs })
    expect(result).toBe(end === 'success' ? 'success' : 'failure')
  })
})
