import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type ScriptedService, startScriptedService } from '../../local-service/src/scripted.ts'
import type { WorkflowEvent } from '../../tools/runner-emulator/contexts.ts'
import { type JobOptions, playJob } from '../../tools/runner-emulator/job.ts'
import { type GitHubCommands, HAS_COMMANDS, Pages, startGitHubCommands } from '../support/github-commands.ts'
import { expectConformingExchanges } from '../support/openapi.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED } from '../support/scenario.ts'

// The recipes whose jobs have scripts of their own, played job by job: the scripts in bash, the action as it is built.

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

let service: ScriptedService
let github: GitHubCommands

beforeEach(async () => {
  service = await startScriptedService({ script: { cases: ONE_PASSED } })
  github = await startGitHubCommands({ 'pulls/7': PULL_REQUEST })
})

afterEach(async () => {
  await service.close()
  await github[Symbol.asyncDispose]()
  expectConformingExchanges(service)
})

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
  const allowed = { needs: { asked: { result: 'success', outputs: { access: 'write' } } } } as const
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

  test.each([
    ['admin', true],
    ['write', true],
    ['read', false],
    ['none', false],
  ])('finds out that the person has the access "%s", and tests: %s', async (permission, tests) => {
    github.routes = { 'collaborators/hubot/permission': { permission } }
    const { result, outputs, log } = await play('on-comment.yml', 'asked', comment('/test'))
    expect({ result, outputs }, log).toEqual({ result: 'success', outputs: { access: permission } })
    const needs = { asked: { result: 'success', outputs } } as const
    const { result: played } = await play('on-comment.yml', 'tests', comment('/test'), { needs })
    expect(played === 'skipped').toBe(!tests)
  })

  test('tests the branch of the pull request, and shows the result on its head', async () => {
    const { result, log } = await play('on-comment.yml', 'tests', comment('/test'), allowed)
    expect(result, log).toBe('success')
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout' } }])
    expect(github.statuses).toEqual([status('pending'), status('success')])
  })

  test('shows a failure', async () => {
    service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
    const { result } = await play('on-comment.yml', 'tests', comment('/test'), allowed)
    expect(result).toBe('failure')
    expect(github.statuses).toEqual([status('pending'), status('failure')])
  })

  test('shows no success if the branch has moved meanwhile', async () => {
    github.routes = {
      'pulls/7': () => ({
        ...PULL_REQUEST,
        head: { ...PULL_REQUEST.head, sha: github.statuses.length === 0 ? HEAD : NEWER_HEAD },
      }),
    }
    await play('on-comment.yml', 'tests', comment('/test'), allowed)
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
  const status = (state: string) => ({
    sha: HEAD,
    state,
    context: 'Tests of the preview',
    target_url: WORKFLOW_RUN,
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
    github.routes = { [`commits/${HEAD}/branches-where-head`]: [{ name: 'faster-checkout', commit: { sha: HEAD } }] }
    const event = deployed('success', 'Preview – web-shop')
    const { result, log } = await play('vercel-preview.yml', 'preview', event)
    expect(result, log).toBe('success')
    const envOverrides = { SHOP_URL: 'https://web-shop-git-x.vercel.app/?a="1"' }
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout', envOverrides } }])
    expect(github.statuses).toEqual([status('pending'), status('success')])
  })

  test('shows a failure', async () => {
    service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
    const { result } = await play('vercel-preview.yml', 'preview', deployed('success', 'Preview'))
    expect(result).toBe('failure')
    expect(github.statuses).toEqual([status('pending'), status('failure')])
  })
})

describe.skipIf(!HAS_COMMANDS)('netlify-preview.yml', () => {
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
  const states = () => github.statuses.map(({ sha, state, context }) => [sha, state, context])

  test.each([
    ['netlify/web-shop/deploy-preview', 'pending'],
    ['netlify/web-shop/deploy', 'success'],
    ['Tests of the preview', 'success'],
  ])('skips the status "%s" that is %s', async (context, state) => {
    expect(await play('netlify-preview.yml', 'preview', reported(context, state))).toMatchObject({ result: 'skipped' })
  })

  test('tests the address of the preview on the branch of its commit', async () => {
    github.routes = { [`commits/${HEAD}/branches-where-head`]: [{ name: 'faster-checkout' }] }
    const { result, log } = await play('netlify-preview.yml', 'preview', reported('netlify/web-shop/deploy-preview'))
    expect(result, log).toBe('success')
    const envOverrides = { SHOP_URL: 'https://deploy-preview-7--web-shop.netlify.app' }
    expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout', envOverrides } }])
    expect(states()).toEqual([
      [HEAD, 'pending', 'Tests of the preview'],
      [HEAD, 'success', 'Tests of the preview'],
    ])
  })

  test.each([
    ['no branch has that head', []],
    ['two branches have that head', [{ name: 'a' }, { name: 'b' }]],
  ])('tests nothing, and shows a failure, if %s', async (_, branches) => {
    github.routes = { [`commits/${HEAD}/branches-where-head`]: branches }
    const { result } = await play('netlify-preview.yml', 'preview', reported('netlify/web-shop/deploy-preview'))
    expect(result).toBe('failure')
    expect(service.runs).toEqual([])
    expect(states().map(([, state]) => state)).toEqual(['pending', 'failure'])
  })
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
    ['relevant changes', 'success', 'true', false],
    ['a draft', 'skipped', 'true', true],
    ['other changes', 'skipped', 'false', false],
  ] as const)('of %s the tests are a %s', async (_, result, relevant, draft) => {
    const needs = { changes: { result: 'success', outputs: { relevant } } } as const
    const played = await play('relevant-changes.yml', 'tests', changed({ draft }), { needs })
    expect(played.result, played.log).toBe(result)
  })

  test.each([
    ['the tests have passed', 'success', 'true', 'success', 'success'],
    ['nothing relevant was found', 'success', 'false', 'skipped', 'success'],
    ['the tests have failed', 'success', 'true', 'failure', 'failure'],
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

  test('sends nothing after a success', async () => {
    await using chat = await startChat()
    expect(await play('chat-message.yml', 'main', PUSH, chat.options)).toMatchObject({ result: 'success' })
    expect(chat.messages).toEqual([])
  })

  test('sends the names of the failing tests as text, whatever is in them', async () => {
    await using chat = await startChat()
    const title = 'pays by "card" & <!channel> `id` $(id) \\'
    service.setScript({ end: 'FAILED', cases: [...ONE_PASSED, { title, status: 'FAILED', durationMs: 1 }] })
    const { result, log } = await play('chat-message.yml', 'main', PUSH, chat.options)
    expect(result).toBe('failure')
    expect(chat.messages, log).toHaveLength(1)
    const [headline, ...names] = chat.messages[0]?.text.split('\n') ?? []
    expect(headline).toMatch(/^The tests of main: failed\. <.*\|Job>$/)
    expect(names).toEqual(['• pays by "card" &amp; &lt;!channel&gt; `id` $(id) \\'])
  })

  test('sends ten names, and how many more there are', async () => {
    await using chat = await startChat()
    const cases = Array.from({ length: 12 }, (_, index) => ({
      title: `test ${index}`,
      status: 'FAILED',
      durationMs: 1,
    }))
    service.setScript({ end: 'FAILED', cases })
    await play('chat-message.yml', 'main', PUSH, chat.options)
    expect(chat.messages[0]?.text.split('\n').slice(9)).toEqual(['• test 8', '• test 9', '… and 2 more'])
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

describe('the job to require of a recipe whose tests are in other jobs', () => {
  const NEEDS: Readonly<Record<string, readonly string[]>> = {
    'matrix.yml': ['tests'],
    'preview.yml': ['tests'],
    'start-early.yml': ['build', 'tests'],
  }

  test('is known to these tests', () => {
    const needing = globSync('*.yml', { cwd: FOLDER }).flatMap((file) => {
      const { needs } = parse(readFileSync(join(FOLDER, file), 'utf8')).jobs['test-run'] ?? {}
      return needs === undefined ? [] : [[file, needs]]
    })
    expect(Object.fromEntries(needing)).toEqual({ ...NEEDS, 'relevant-changes.yml': ['changes', 'tests'] }) // see above
  })

  const ENDS = ['success', 'failure', 'cancelled', 'skipped'] as const
  const CASES = Object.entries(NEEDS).flatMap(([file, names]) =>
    names.flatMap((name) => ENDS.map((end) => [file, name, end] as const)),
  )

  test.each(
    CASES,
  )('%s: if %s ends in %s, it is never skipped, and succeeds after a success alone', async (file, name, end) => {
    const jobs = NEEDS[file] ?? []
    const needs = Object.fromEntries(jobs.map((job) => [job, { result: job === name ? end : ('success' as const) }]))
    const { result } = await playJob(`${FOLDER}/${file}`, 'test-run', { needs })
    expect(result).toBe(end === 'success' ? 'success' : 'failure')
  })
})
