import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { type JobOptions, playJob } from '../../tools/runner-emulator/job-player/job.ts'
import { githubContext, type WorkflowEvent } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { renderTemplate } from '../../tools/runner-emulator/step-runner/expressions.ts'
import { type ScriptedService, startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { aRepository } from '../support/git-repository.ts'
import { onPullRequest, REPOSITORY, startGitHubApi } from '../support/github-api.ts'
import { expectConformingRequests } from '../support/openapi.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED } from '../support/scenario.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Plays the recipes. Their scripts run in bash, and the built action runs. Those with the local service have tests of their own.

const FOLDER = 'examples/workflows'
const HEAD = 'c'.repeat(40)
const [OLDER, NEWER] = ['b'.repeat(40), 'd'.repeat(40)]
/** GitHub's runners have jq. */
const HAS_JQ = spawnSync('jq', ['--version']).status === 0
const ON_PULL_REQUEST = onPullRequest()
const FORK = { ...REPOSITORY, id: 2, full_name: 'stranger/web-shop' }
const QUEUE_BRANCH = 'gh-readonly-queue/main/pr-7-ffac537e6cbbf934b08745a378932722df287a53'
const IN_THE_QUEUE: WorkflowEvent = {
  name: 'merge_group',
  payload: { merge_group: { head_ref: `refs/heads/${QUEUE_BRANCH}` } },
}

let service: ScriptedService

beforeEach(async () => {
  service = await startScriptedService({ script: { cases: ONE_PASSED } })
})

afterEach(async () => {
  await service.close()
  expectConformingRequests(service)
})

function recipe(file: string) {
  return parse(readFileSync(join(FOLDER, file), 'utf8'))
}

function play(file: string, job: string, event: WorkflowEvent, options: JobOptions = {}) {
  return playJob(`${FOLDER}/${file}`, job, {
    event,
    ...options,
    contexts: {
      vars: { TEST_SERVICE_URL: service.url },
      secrets: { TEST_SERVICE_API_KEY: service.key },
      ...options.contexts,
    },
  })
}

function commandsThat(name: string, script: string): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  return folder
}

describe('a recipe whose result is a commit status', () => {
  const comment = (body: string, issue: object = { pull_request: {} }) => ({
    name: 'issue_comment',
    payload: { repository: REPOSITORY, issue: { number: 7, ...issue }, comment: { body, user: { login: 'hubot' } } },
  })
  const deployed = (state: string, environment: string) => ({
    name: 'deployment_status',
    payload: {
      repository: REPOSITORY,
      deployment: { sha: HEAD, environment },
      deployment_status: { state, environment_url: 'https://pr-7.preview.example.com' },
    },
  })

  test.each([
    ['on-comment.yml', 'asked', 'a comment with other words', comment('Please /test this')],
    ['on-comment.yml', 'asked', 'a comment on an issue', comment('/test', {})],
    ['vercel-preview.yml', 'preview', 'a pending deployment', deployed('pending', 'Preview')],
    ['vercel-preview.yml', 'preview', 'a deployment to production', deployed('success', 'Production')],
  ])('%s: the job "%s" skips %s', async (file, job, _, event) => {
    expect(await play(file, job, event)).toMatchObject({ result: 'skipped' })
  })

  test('on-comment.yml tests nothing for a person who may only read', async () => {
    const needs = { asked: { result: 'success', outputs: { access: 'read' } } } as const
    expect(await play('on-comment.yml', 'tests', comment('/test'), { needs })).toMatchObject({ result: 'skipped' })
  })

  describe.skipIf(!HAS_JQ)('with the responses of GitHub', () => {
    const push = (before: string, after: string) => ({ id: 1, before, after, ref: 'refs/heads/faster-checkout' })
    const ONE_PUSH = [push(OLDER, HEAD)]

    /** Plays the job with a `gh` that has these responses. Returns the state that the commit gets. */
    async function playForStatus(file: string, responses: Readonly<Record<'asked' | 'pushes', unknown>>) {
      const script = `case "$2" in
        */statuses/${HEAD}) printf '%s\n' "$@" > "$0.status" ;;
        */activity*) jq --raw-output "\${@: -1}" "$0.pushes" ;;
        *) jq --raw-output "\${@: -1}" "$0.asked" ;;
      esac`
      const commands = commandsThat('gh', script)
      for (const [name, response] of Object.entries(responses))
        writeFileSync(join(commands, `gh.${name}`), JSON.stringify(response))
      const asked = { result: 'success', outputs: { access: 'write' } } as const
      const { result, log } =
        file === 'on-comment.yml'
          ? await play(file, 'tests', comment('/test'), { needs: { asked }, commands })
          : await play(file, 'preview', deployed('success', 'Preview'), { commands })
      const [, state] = /^state=(.*)$/m.exec(readFileSync(join(commands, 'gh.status'), 'utf8')) ?? []
      return { result, log, state }
    }

    const pullRequest = (repo: object | null) => ({
      head: { ref: 'faster-checkout', sha: HEAD, repo },
      base: { repo: REPOSITORY },
    })
    const [ON_COMMENT, VERCEL] = ['on-comment.yml', 'vercel-preview.yml']

    test.each([
      [ON_COMMENT, pullRequest(REPOSITORY), {}],
      [VERCEL, [{ name: 'faster-checkout' }], { envOverrides: { SHOP_URL: 'https://pr-7.preview.example.com' } }],
    ])('%s tests the branch', async (file, asked, body) => {
      const { result, log, state } = await playForStatus(file, { asked, pushes: ONE_PUSH })
      expect([result, state], log).toEqual(['success', 'success'])
      expect(service.runs).toMatchObject([{ body: { branch: 'faster-checkout', ...body } }])
    })

    test.each([
      [ON_COMMENT, 'the head is in a fork', pullRequest(FORK)],
      [ON_COMMENT, 'the fork was deleted', pullRequest(null)],
      [VERCEL, 'the commit is the head of no branch, as in a fork', []],
      [VERCEL, 'the commit is the head of two branches', [{ name: 'a' }, { name: 'b' }]],
    ])('%s starts nothing if %s', async (file, _, asked) => {
      const { result, log, state } = await playForStatus(file, { asked, pushes: ONE_PUSH })
      expect([result, state], log).toEqual(['failure', 'failure'])
      expect(service.requests).toEqual([])
    })

    test.each([
      [ON_COMMENT, 'has moved on', [push(HEAD, NEWER), push(OLDER, HEAD)]],
      [VERCEL, 'has moved on, and back', [push(NEWER, HEAD), push(HEAD, NEWER), push(OLDER, HEAD)]],
      [VERCEL, 'has pushes that cannot be listed', null],
    ])('%s fails if the branch %s', async (file, _, pushes) => {
      const asked = file === ON_COMMENT ? pullRequest(REPOSITORY) : [{ name: 'faster-checkout' }]
      const { state, log } = await playForStatus(file, { asked, pushes })
      expect(state, log).toBe('failure')
    })
  })
})

const NIGHT = { name: 'schedule', payload: { repository: REPOSITORY } }

test('nightly.yml opens an issue that names the verdict if the tests fail, and comments on it if it is open already', async () => {
  service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
  const { result, outputs, log } = await play('nightly.yml', 'nightly', NIGHT)
  expect(result, log).toBe('failure')
  for (const [open, call] of [
    ['', 'issue create --title The nightly tests fail --body failed: '],
    ['7', 'issue comment 7 --body failed: '],
  ]) {
    const commands = commandsThat('gh', `if test "$2" = list; then echo ${open}; else echo "$*" > "$0.call"; fi`)
    const needs = { nightly: { result: 'failure', outputs } } as const
    const { log } = await play('nightly.yml', 'notify', NIGHT, { needs, commands })
    expect(readFileSync(join(commands, 'gh.call'), 'utf8'), log).toContain(call)
  }
})

test.skipIf(!HAS_JQ)('nightly.yml tells a chat the names of the failed tests, and mentions nobody', async () => {
  const failed = (title: string) => ({ title, status: 'FAILED' })
  const cases = [...ONE_PASSED, failed('cart > pays in €'), failed('<!channel> and @all')]
  service.setScript({ end: 'FAILED', cases })
  const commands = commandsThat('curl', 'printf "%s\\n" "$@" > "$0.arguments"; cat > "$0.input"')
  const contexts = {
    vars: { TEST_SERVICE_URL: service.url },
    secrets: { TEST_SERVICE_API_KEY: service.key, CHAT_WEBHOOK: 'https://chat.example/hook' },
  }
  const { log } = await play('nightly.yml', 'nightly', NIGHT, { commands, contexts })
  expect(JSON.parse(readFileSync(join(commands, 'curl.input'), 'utf8')), log).toEqual({
    text: '2 nightly tests failed: cart > pays in € / !channel> and all',
  })
  expect(readFileSync(join(commands, 'curl.arguments'), 'utf8')).toContain('https://chat.example/hook')
})

test('reports.yml gives the files of a failed run to the artifact and to the reporters, and comments', async () => {
  const api = await startGitHubApi()
  onTestFinished(() => api.close())
  service.setScript({ end: 'FAILED', cases: ONE_OF_TWO_FAILED })
  const workspace = temporaryFolder()
  const given: string[] = []
  const otherAction = (uses: string, inputs: Readonly<Record<string, string>>) => {
    const path = inputs.path ?? inputs['report-path']
    if (path !== undefined && existsSync(join(workspace, path))) given.push(`${uses.split('@')[0]}: ${path}`)
  }
  const { result, log } = await play('reports.yml', 'test-run', ON_PULL_REQUEST, {
    workspace,
    otherAction,
    github: { api_url: api.url },
  })
  expect(result, log).toBe('failure')
  expect(given, log).toEqual([
    'actions/upload-artifact: test-reports/',
    'dorny/test-reporter: test-reports/junit.xml',
    'ctrf-io/github-test-reporter: test-reports/ctrf.json',
  ])
  expect(api.comments).toMatchObject([{ body: expect.stringContaining('Tests failed: 1 of 2') }])
})

describe('relevant-changes.yml', () => {
  /** A merge of a pull request that changes this file, as a checkout has it. */
  async function checkoutOfChange(file: string): Promise<string> {
    const { folder, git, commit } = await aRepository({ 'src/cart.ts': '' })
    await git('switch', '--quiet', '--create', 'change')
    await commit({ [file]: 'changed' })
    await git('switch', '--quiet', 'main')
    await commit({ 'src/somebody-elses.ts': '' })
    await git('merge', '--quiet', '--no-ff', 'change')
    return folder
  }

  test.each([
    ['src/money.ts', 'true'],
    ['package.json', 'true'],
    ['docs/src/cart.md', 'false'],
  ])('of a pull request that changes %s says that it is relevant: %s', async (file, relevant) => {
    const workspace = await checkoutOfChange(file)
    const { outputs, log } = await play('relevant-changes.yml', 'changes', ON_PULL_REQUEST, { workspace })
    expect(outputs, log).toEqual({ relevant })
  })

  test('of changes that git cannot compare says that they are relevant', async () => {
    const queue = { name: 'merge_group', payload: { merge_group: { head_ref: 'refs/heads/q', base_sha: NEWER } } }
    const workspace = await checkoutOfChange('README.md')
    const { outputs } = await play('relevant-changes.yml', 'changes', queue, { workspace })
    expect(outputs).toEqual({ relevant: 'true' })
  })

  test.each([
    ['a draft', 'true', true],
    ['other changes', 'false', false],
  ] as const)('skips the tests of %s', async (_, relevant, draft) => {
    const needs = { changes: { result: 'success', outputs: { relevant } } } as const
    expect(await play('relevant-changes.yml', 'tests', onPullRequest({ draft }), { needs })).toMatchObject({
      result: 'skipped',
    })
  })

  test.each([
    ['the tests have passed', 'success', 'true', 'success', 'success'],
    ['nothing relevant was found', 'success', 'false', 'skipped', 'success'],
    ['a draft was not tested', 'success', 'true', 'skipped', 'failure'],
    ['the changes are not known', 'failure', '', 'skipped', 'failure'],
    ['the changes were known, and the job failed after that', 'failure', 'false', 'skipped', 'failure'],
    ['the workflow was cancelled', 'cancelled', '', 'cancelled', 'failure'],
  ] as const)('if %s, the job to require has the right result', async (_, changes, relevant, tests, result) => {
    const needs = { changes: { result: changes, outputs: { relevant } }, tests: { result: tests } }
    expect(await play('relevant-changes.yml', 'test-run', ON_PULL_REQUEST, { needs })).toMatchObject({ result })
  })
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
  const ofAFork = onPullRequest({ head: FORK })
  expect(await play('forks.yml', 'test-run', ofAFork)).toMatchObject({ result: 'skipped' })
  expect(await play('forks.yml', 'test-run', IN_THE_QUEUE)).toMatchObject({ result: 'success' })
  expect(service.runs).toMatchObject([{ body: { branch: QUEUE_BRANCH } }])
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
    expect(service.runs).toMatchObject([{ status: 'CANCELLED' }])
  })
})

describe('a recipe whose tests run in other jobs than the job to require', () => {
  const ENDS = ['success', 'cancelled', 'skipped'] as const
  // The tests above play the job to require of relevant-changes.yml. In the recipes that merge reports, this job is a gate with the
  // local service: local-service/test/job/recipes.test.ts plays it.
  const PLAYED = ['relevant-changes.yml', 'sharded-*.yml', 'several-systems.yml']
  const CASES = globSync('*.yml', { cwd: FOLDER, exclude: PLAYED }).flatMap((file) => {
    const jobs: readonly string[] = recipe(file).jobs['test-run']?.needs ?? []
    return jobs.flatMap((name) => ENDS.map((end) => [file, name, end, jobs] as const))
  })

  test('is one of these three', () => {
    expect(new Set(CASES.map(([file]) => file))).toEqual(new Set(['matrix.yml', 'preview.yml', 'start-early.yml']))
  })

  test.each(
    CASES,
  )('%s: if %s ends in %s, the job to require is never skipped, and succeeds only after a success', async (file, name, end, jobs) => {
    const needs = Object.fromEntries(jobs.map((job) => [job, { result: job === name ? end : ('success' as const) }]))
    const { result } = await playJob(`${FOLDER}/${file}`, 'test-run', { needs })
    expect(result).toBe(end === 'success' ? 'success' : 'failure')
  })
})
