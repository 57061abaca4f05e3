import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type CommentOptions, keepCommentUpToDate } from '../../src/github/pull-request-comment.ts'
import { ACTIONS_BOT, type Account, type GitHubApi, startGitHubApi } from '../support/github-api.ts'

const MALLORY: Account = { login: 'mallory', id: 666, type: 'User' }
const MAINTAINER: Account = { login: 'octocat', id: 583231, type: 'User' }
const RELEASE_APP: Account = { login: 'release-helper[bot]', id: 99_001, type: 'Bot' }

const PULL_REQUEST_7 = { action: 'synchronize', pull_request: { number: 7 } }

const LIST = { method: 'GET', path: /\/issues\/\d+\/comments/ }
const CREATE = { method: 'POST', path: /\/comments$/ }
const UPDATE = { method: 'PATCH' }

let folder: string
let api: GitHubApi
let clock: TestClock

beforeAll(() => {
  // @actions/github decides on proxy, event and API address when it is loaded; the machine's must not leak in.
  for (const name of [
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'https_proxy',
    'http_proxy',
    'GITHUB_API_URL',
    'GITHUB_EVENT_PATH',
  ]) {
    vi.stubEnv(name, undefined)
  }
  return () => vi.unstubAllEnvs()
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'comment-'))
  clock = new TestClock()
  await startApi()
})

afterEach(async () => {
  await api.close()
  await rm(folder, { recursive: true })
})

describe('one comment, kept up to date', () => {
  test('the first run creates a comment that begins with the marker', async () => {
    const outcome = await comment({ body: (marker) => `${marker}\n## ❌ 3 of 40 failed` })

    expect(outcome).toEqual({ kind: 'written', url: expect.stringMatching(/\/pull\/7#issuecomment-\d+$/) })
    expect(texts()).toEqual([expect.stringMatching(/^<!-- test-run-action [0-9a-f]{64} .* -->\n## ❌ 3 of 40 failed$/)])
    expect(requested()).toEqual(['GET', 'POST'])
  })

  test('a later run writes over the comment of the earlier one', async () => {
    const first = await comment({ body: withText('first') })
    const second = await comment({ body: withText('second'), env: { GITHUB_RUN_ID: '1001' } })

    expect(second).toEqual(first)
    expect(visibleTexts()).toEqual(['second'])
  })

  test('a comment on the third page is found', async () => {
    for (let i = 0; i < 230; i++) api.addComment(MALLORY, `chatter ${i}`)
    await comment({ body: withText('old') })
    for (let i = 0; i < 30; i++) api.addComment(MALLORY, `more chatter ${i}`)
    api.requests.length = 0

    await comment({ body: withText('new'), env: { GITHUB_RUN_ID: '1001' } })

    expect(visibleTexts()).toContain('new')
    expect(visibleTexts()).not.toContain('old')
    expect(api.comments).toHaveLength(261)
    expect(api.requests.filter(({ method }) => method === 'GET').map(({ path }) => path)).toEqual([
      expect.stringContaining('per_page=100&page=1'),
      expect.stringContaining('per_page=100&page=2'),
      expect.stringContaining('per_page=100&page=3'),
    ])
  })

  test.each([
    ['a lower run id', { GITHUB_RUN_ID: '999', GITHUB_RUN_ATTEMPT: '1' }],
    ['a re-run of an old run', { GITHUB_RUN_ID: '999', GITHUB_RUN_ATTEMPT: '7' }],
    ['an earlier attempt', { GITHUB_RUN_ID: '10000', GITHUB_RUN_ATTEMPT: '9' }],
    ['no run id at all', { GITHUB_RUN_ID: undefined, GITHUB_RUN_ATTEMPT: undefined }],
  ])('a run with %s leaves the newer text alone', async (_, env) => {
    const newer = await comment({
      body: withText('newer'),
      env: { GITHUB_RUN_ID: '10000', GITHUB_RUN_ATTEMPT: '10' },
    })

    const outcome = await comment({ body: withText('older'), env })

    expect(outcome).toEqual({ ...newer, kind: 'newer-exists' })
    expect(visibleTexts()).toEqual(['newer'])
  })

  test.each([
    ['the next attempt of the same run', { GITHUB_RUN_ID: '9', GITHUB_RUN_ATTEMPT: '10' }],
    ['a run whose id has more digits', { GITHUB_RUN_ID: '10', GITHUB_RUN_ATTEMPT: '1' }],
    ['the same attempt, by a second step', { GITHUB_RUN_ID: '9', GITHUB_RUN_ATTEMPT: '9' }],
  ])('%s writes over the text', async (_, env) => {
    await comment({ body: withText('before'), env: { GITHUB_RUN_ID: '9', GITHUB_RUN_ATTEMPT: '9' } })
    await comment({ body: withText('after'), env })
    expect(visibleTexts()).toEqual(['after'])
  })

  test('a comment that somebody deletes at that moment is made anew', async () => {
    await comment({ body: withText('first') })
    void api.inject(UPDATE, { kind: 'meanwhile', happens: () => api.comments.splice(0) })

    expect(await comment({ body: withText('second') })).toMatchObject({ kind: 'written' })
    expect(visibleTexts()).toEqual(['second'])
  })
})

describe('on-failure', () => {
  test('a green run without a comment writes nothing', async () => {
    expect(await comment({ when: 'on-failure', success: true })).toEqual({ kind: 'not-needed' })
    expect(requested()).toEqual(['GET'])
  })

  test('a failed run writes, and the next green one turns the comment green', async () => {
    await comment({ when: 'on-failure', success: false, body: withText('red') })
    const outcome = await comment({ when: 'on-failure', success: true, body: withText('green') })

    expect(outcome).toMatchObject({ kind: 'written' })
    expect(visibleTexts()).toEqual(['green'])
  })

  test('a comment of somebody else is no reason to turn anything green', async () => {
    await comment({ body: withText('red') })
    const copied = api.comments[0]?.body ?? ''
    api.comments = []
    api.addComment(MALLORY, copied)

    expect(await comment({ when: 'on-failure', success: true })).toEqual({ kind: 'not-needed' })
  })
})

describe('two of ours', () => {
  test('become one: the oldest stays, with the new text', async () => {
    // Both jobs have listed the comments before either has created one.
    void api.inject(CREATE, {
      kind: 'meanwhile',
      happens: () => {
        const [marker = ''] = markers
        api.addComment(ACTIONS_BOT, `${marker}\nfrom the other job`)
      },
    })
    const markers: string[] = []
    await comment({
      body: (marker) => {
        markers.push(marker)
        return `${marker}\nfrom this job`
      },
    })
    expect(visibleTexts()).toEqual(['from the other job', 'from this job'])
    const [oldest] = api.comments

    const outcome = await comment({ body: withText('from the next run'), env: { GITHUB_RUN_ID: '1001' } })

    expect(visibleTexts()).toEqual(['from the next run'])
    expect(api.comments[0]?.id).toBe(oldest?.id)
    expect(outcome).toEqual({ kind: 'written', url: expect.stringContaining(`#issuecomment-${oldest?.id}`) })
  })

  test('a newer text counts in whichever of them it stands', async () => {
    await comment({ body: withText('run 1000') })
    const [first] = api.comments
    api.addComment(ACTIONS_BOT, (first?.body ?? '').replace('run 1000 attempt', 'run 2000 attempt'))

    expect(await comment({ env: { GITHUB_RUN_ID: '1500' } })).toMatchObject({ kind: 'newer-exists' })
    expect(api.comments).toHaveLength(2)
  })

  test('the comment counts as written where the extra one cannot be deleted', async () => {
    await comment()
    api.addComment(ACTIONS_BOT, api.comments[0]?.body ?? '')
    void api.inject({ method: 'DELETE', times: 99 }, { kind: 'status', status: 500 })
    api.requests.length = 0

    expect(await comment({ body: withText('new') })).toMatchObject({ kind: 'written' })
    expect(visibleTexts()[0]).toBe('new')
    expect(requested()).toEqual(['GET', 'POST', 'PATCH', 'DELETE'])
  })
})

describe('whose comment it is', () => {
  test('a copy of the marker by somebody else neither is overwritten nor holds us up', async () => {
    await comment()
    const forged = (api.comments[0]?.body ?? '').replace(/run \d+/, 'run 99999999999')
    api.comments = []
    api.addComment(MALLORY, forged)

    expect(await comment({ body: withText('ours') })).toMatchObject({ kind: 'written' })
    expect(api.comments.map(({ author }) => author?.login)).toEqual(['mallory', 'github-actions[bot]'])
    expect(api.comments[0]?.body).toBe(forged)
  })

  test('a comment whose author is gone is nobody of ours', async () => {
    await comment()
    const orphan = api.addComment(undefined, api.comments[0]?.body ?? '')
    api.comments = [orphan]

    await comment()
    expect(api.comments.map(({ author }) => author?.login)).toEqual([undefined, 'github-actions[bot]'])
  })

  test('a marker further down in a comment of ours, as in a quotation, is no marker', async () => {
    await comment({ body: withText('original') })
    const quoting = api.addComment(ACTIONS_BOT, `> ${api.comments[0]?.body}`)
    api.comments = [quoting]

    await comment({ body: withText('new') })
    expect(api.comments).toHaveLength(2)
  })

  test.each([
    ["a person's token", MAINTAINER],
    ["an app's token", RELEASE_APP],
  ])('%s finds its own comments and leaves those of the workflow token', async (_, account) => {
    api.grant('other-token', account, 'write')
    await comment({ body: withText('by the workflow token') })
    await comment({ body: withText('first'), token: 'other-token' })
    await comment({ body: withText('second'), token: 'other-token' })

    expect(api.comments.map(({ author }) => author?.login)).toEqual(['github-actions[bot]', account.login])
    expect(visibleTexts()).toEqual(['by the workflow token', 'second'])
  })
})

describe('what keeps comments apart', () => {
  const LEG = '{"browser": "firefox", "os": "linux"}'

  test.each<[string, Partial<Overrides>]>([
    ['another matrix leg', { matrix: '{"browser": "webkit", "os": "linux"}' }],
    ['no matrix', { matrix: 'null' }],
    ['another job', { env: { GITHUB_JOB: 'smoke' } }],
    ['another workflow file', { env: { GITHUB_WORKFLOW_REF: workflowRef('nightly.yml') } }],
    ['another comment-key', { key: 'staging' }],
    ['another pull request', { event: { pull_request: { number: 8 } } }],
  ])('%s has a comment of its own', async (_, other) => {
    await comment({ matrix: LEG, body: withText('one') })
    await comment({ matrix: LEG, body: withText('two'), ...other })
    expect(visibleTexts()).toEqual(['one', 'two'])
  })

  test.each<[string, Partial<Overrides>]>([
    ['the matrix keys in another order', { matrix: '{"os":"linux","browser":"firefox"}' }],
    [
      'the workflow run from another ref',
      { env: { GITHUB_WORKFLOW_REF: workflowRef('ci.yml', 'refs/heads/x@refs/y') } },
    ],
    ['another event about the same pull request', { event: { issue: { number: 7, pull_request: {} } } }],
  ])('%s leads to the same comment', async (_, other) => {
    await comment({ matrix: LEG, body: withText('one') })
    await comment({ matrix: LEG, body: withText('two'), ...other })
    expect(visibleTexts()).toEqual(['two'])
  })

  test('where the server is too old to name the workflow file, its name tells workflows apart', async () => {
    const old = { GITHUB_WORKFLOW_REF: undefined }
    await comment({ env: { ...old, GITHUB_WORKFLOW: 'CI' }, body: withText('one') })
    await comment({ env: { ...old, GITHUB_WORKFLOW: 'Nightly' }, body: withText('two') })
    await comment({ env: { ...old, GITHUB_WORKFLOW: 'CI' }, body: withText('three') })
    expect(visibleTexts()).toEqual(['three', 'two'])
  })
})

describe('a token that may not comment', () => {
  test('that can only read, as on a fork, is told from other failures', async () => {
    api.grant('read-only', ACTIONS_BOT, 'read')
    const outcome = await comment({ token: 'read-only' })

    expect(outcome).toEqual({ kind: 'not-allowed', status: 403, message: 'Resource not accessible by integration' })
    expect(requested()).toEqual(['GET', 'POST'])
  })

  test('that does not see the repository gets 404, and the same outcome', async () => {
    api.grant('stranger', MAINTAINER, 'none')
    expect(await comment({ token: 'stranger' })).toEqual({ kind: 'not-allowed', status: 404, message: 'Not Found' })
  })

  test('that is empty is not sent', async () => {
    expect(await comment({ token: ' ' })).toMatchObject({ kind: 'not-allowed' })
    expect(api.requests).toEqual([])
  })

  test('that is wrong is no matter of permissions', async () => {
    expect(await comment({ token: 'expired' })).toEqual({
      kind: 'failed',
      failure: { kind: 'status', status: 401, message: 'Bad credentials' },
    })
  })

  test('for the conversation is locked is no matter of permissions either', async () => {
    const message = 'Unable to create comment because issue is locked.'
    void api.inject(CREATE, { kind: 'status', status: 403, message })
    expect(await comment()).toEqual({ kind: 'failed', failure: { kind: 'status', status: 403, message } })
  })

  test('a text that GitHub refuses is sent once', async () => {
    expect(await comment({ body: (marker) => marker + 'x'.repeat(65_536) })).toMatchObject({
      kind: 'failed',
      failure: { status: 422, message: 'Body is too long (maximum is 65536 characters)' },
    })
    expect(requested()).toEqual(['GET', 'POST'])
  })
})

describe('rate limits', () => {
  test('a secondary limit is waited out for as long as it says, and the comments are then read again', async () => {
    void api.inject(CREATE, { kind: 'secondary-limit', retryAfterSeconds: 12 })

    expect(await comment({ random: () => 0.25 })).toMatchObject({ kind: 'written' })
    expect(clock.pausesMs).toEqual([12_250])
    expect(requested()).toEqual(['GET', 'POST', 'GET', 'POST'])
  })

  test('what another job wrote during the wait is seen', async () => {
    await comment({ body: withText('run 1000') })
    void api.inject(UPDATE, { kind: 'secondary-limit', retryAfterSeconds: 5, status: 429 })
    clock.during = () => {
      const [theirs] = api.comments
      if (theirs) theirs.body = theirs.body.replace(/run \d+/, 'run 3000')
    }

    expect(await comment({ env: { GITHUB_RUN_ID: '2000' } })).toMatchObject({ kind: 'newer-exists' })
  })

  test('a primary limit is waited out until its reset', async () => {
    void api.inject(LIST, { kind: 'primary-limit', resetEpochSeconds: clock.epochMs() / 1000 + 20 })
    expect(await comment()).toMatchObject({ kind: 'written' })
    expect(clock.pausesMs).toEqual([20_000])
  })

  test.each([
    ['asks for more than the budget', { kind: 'secondary-limit', retryAfterSeconds: 60 }, 60_000],
    ['names no time', { kind: 'secondary-limit' }, 60_000],
    ['names no time, with status 429', { kind: 'secondary-limit', status: 429 }, 60_000],
    ['is reset in an hour', { kind: 'primary-limit', resetEpochSeconds: 1_800_003_600 }, 3_600_000],
  ] as const)('a limit that %s ends it at once', async (_, fault, retryAfterMs) => {
    void api.inject(LIST, fault)
    expect(await comment()).toEqual({ kind: 'failed', failure: { kind: 'rate-limited', retryAfterMs } })
    expect(clock.pausesMs).toEqual([])
    expect(api.requests).toHaveLength(1)
  })
})

describe('a GitHub that is unwell', () => {
  test.each([
    ['502', { kind: 'status', status: 502 }],
    ['a broken connection', { kind: 'reset' }],
    ["a proxy's page", { kind: 'not-json' }],
    ['an answer that was cut short', { kind: 'cut-short' }],
  ] as const)('%s is tried again, with growing pauses', async (_, fault) => {
    await comment({ body: withText('first') })
    void api.inject({ ...LIST, times: 2 }, fault)

    expect(await comment({ body: withText('second') })).toMatchObject({ kind: 'written' })
    expect(clock.pausesMs).toEqual([500, 1_000])
    expect(visibleTexts()).toEqual(['second'])
  })

  test.each(['lost-answer', 'cut-short'] as const)('a create with a %s does not make two comments', async (kind) => {
    void api.inject(CREATE, { kind })
    expect(await comment({ body: withText('once') })).toMatchObject({ kind: 'written' })
    expect(visibleTexts()).toEqual(['once'])
  })

  test('it is given up within the budget, with the last word', async () => {
    void api.inject({ method: 'GET', times: 99 }, { kind: 'status', status: 503, message: 'No server is available' })
    expect(await comment()).toEqual({
      kind: 'failed',
      failure: { kind: 'status', status: 503, message: 'No server is available' },
    })
    expect(clock.now()).toBeGreaterThan(10_000)
    expect(clock.now()).toBeLessThan(30_000)
  })

  test('who we are is asked again where it had no answer', async () => {
    await comment()
    void api.inject({ method: 'POST', path: /graphql/ }, { kind: 'status', status: 502 })
    expect(await comment({ body: withText('second') })).toMatchObject({ kind: 'written' })
    expect(visibleTexts()).toEqual(['second'])
  })

  test('where GraphQL is refused, we are taken for the bot that most tokens speak for', async () => {
    await comment({ body: withText('before') })
    api.inject({ method: 'POST', path: /graphql/ }, { kind: 'status', status: 404 })
    await comment({ body: withText('after'), env: { GITHUB_RUN_ID: '1001' } })
    expect(visibleTexts()).toEqual(['after'])
  })

  test('nothing is overwritten as long as it is not known who we are', async () => {
    await comment({ body: withText('first') })
    void api.inject({ method: 'POST', path: /graphql/, times: 99 }, { kind: 'not-json' })
    expect(await comment({ body: withText('second') })).toMatchObject({ kind: 'failed' })
    expect(visibleTexts()).toEqual(['first'])
  })

  test('a request that is never answered is cut off, and tried again', async () => {
    const hanging = api.inject(LIST, { kind: 'hang' })
    const outcome = comment()
    await hanging
    clock.pass(10_000)

    expect(await outcome).toMatchObject({ kind: 'written' })
    expect(clock.now()).toBe(10_500)
  })

  test('three requests that are never answered use up the budget', async () => {
    const outcome = comment()
    for (let i = 0; i < 3; i++) {
      await api.inject(LIST, { kind: 'hang' })
      clock.pass(10_000)
    }
    expect(await outcome).toEqual({ kind: 'failed', failure: { kind: 'no-response', reason: 'no answer in time' } })
  })

  test('a server that is not there is an outcome, not an exception', async () => {
    await api.close()
    expect(await comment()).toMatchObject({ kind: 'failed', failure: { kind: 'no-response' } })
    await startApi()
  })
})

describe('our own abort', () => {
  test('before it begins asks nothing of GitHub', async () => {
    const body = () => {
      throw new Error('a text was made')
    }
    expect(await comment({ signal: AbortSignal.abort(), body })).toEqual({
      kind: 'failed',
      failure: { kind: 'aborted' },
    })
    expect(api.requests).toEqual([])
  })

  test('ends a request in flight', async () => {
    const abort = new AbortController()
    const hanging = api.inject(LIST, { kind: 'hang' })
    const outcome = comment({ signal: abort.signal })
    await hanging
    abort.abort()

    expect(await outcome).toEqual({ kind: 'failed', failure: { kind: 'aborted' } })
  })

  test('ends a pause', async () => {
    const abort = new AbortController()
    void api.inject(LIST, { kind: 'secondary-limit', retryAfterSeconds: 20 })
    clock.during = () => abort.abort()

    expect(await comment({ signal: abort.signal })).toEqual({ kind: 'failed', failure: { kind: 'aborted' } })
    expect(api.requests).toHaveLength(1)
  })
})

describe('where the API is', () => {
  test.each([
    '',
    '/',
  ])('GitHub Enterprise Server has it under /api/v3, and GraphQL beside (%j at the end)', async (end) => {
    await startApi('/api/v3')
    const env = { GITHUB_API_URL: `${api.url}${end}` }
    await comment({ env, body: withText('first') })
    await comment({ env, body: withText('second') })

    expect(visibleTexts()).toEqual(['second'])
    expect(api.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
      'GET /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'POST /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'GET /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'POST /api/graphql',
      'PATCH /api/v3/repos/octo-org/web-shop/issues/comments/1000001',
    ])
  })

  test('the token goes into the authorization header of every request, and nowhere else', async () => {
    await comment()
    await comment()
    for (const { path, headers, body } of api.requests) {
      expect(headers.authorization).toBe('token workflow-token')
      const { authorization: _, ...others } = headers
      expect(JSON.stringify([path, others, body])).not.toContain('workflow-token')
    }
  })
})

describe('what the runner says', () => {
  test('an event without a pull request asks nothing of GitHub', async () => {
    expect(await comment({ event: { ref: 'refs/heads/main', commits: [] } })).toEqual({ kind: 'no-pull-request' })
    expect(api.requests).toEqual([])
  })

  test.each([
    ['malformed', '{"pull_request": {"number": 7'],
    ['empty', ''],
  ])('an event file that is %s is an outcome', async (_, text) => {
    const path = join(folder, 'broken.json')
    await writeFile(path, text)
    expect(await comment({ env: { GITHUB_EVENT_PATH: path } })).toEqual({
      kind: 'failed',
      failure: { kind: 'unexpected', reason: expect.stringContaining(`event file "${path}" cannot be read`) },
    })
  })

  test.each([undefined, '/nowhere/event.json'])('so is one that is not there (%j)', async (path) => {
    expect(await comment({ env: { GITHUB_EVENT_PATH: path } })).toMatchObject({ failure: { kind: 'unexpected' } })
  })

  test.each([undefined, '', 'web-shop'])('so is a repository without an owner (%j)', async (repository) => {
    expect(await comment({ env: { GITHUB_REPOSITORY: repository } })).toMatchObject({ failure: { kind: 'unexpected' } })
  })

  test('and a client library that cannot be loaded, as @actions/github with a malformed event file', async () => {
    const broken = join(folder, 'broken.json')
    await writeFile(broken, 'not json')
    const story = `
      const { keepCommentUpToDate } = await import(${JSON.stringify(import.meta.resolve('../../src/github/pull-request-comment.ts'))})
      const { systemClock } = await import(${JSON.stringify(import.meta.resolve('../../src/clock.ts'))})
      const env = ${JSON.stringify(await environment())}
      console.log(JSON.stringify(await keepCommentUpToDate({
        when: 'always', success: true, body: (marker) => marker, token: 'workflow-token', key: '', matrix: 'null', env,
        signal: new AbortController().signal, clock: systemClock, random: Math.random,
      })))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', story], {
      env: { ...process.env, GITHUB_EVENT_PATH: broken },
    })

    expect(JSON.parse(stdout)).toMatchObject({ kind: 'failed', failure: { kind: 'unexpected' } })
    expect(api.requests).toEqual([])
  })

  test('a text that cannot be made is an outcome too', async () => {
    const body = () => {
      throw new Error('no text')
    }
    expect(await comment({ body })).toEqual({ kind: 'failed', failure: { kind: 'unexpected', reason: 'no text' } })
  })
})

type Overrides = Omit<CommentOptions, 'env'> & { env: Record<string, string | undefined>; event: unknown }

async function comment({ env = {}, event, ...options }: Partial<Overrides> = {}) {
  return keepCommentUpToDate({
    when: 'always',
    success: false,
    body: withText('a text'),
    token: 'workflow-token',
    key: '',
    matrix: 'null',
    signal: new AbortController().signal,
    clock,
    random: () => 0,
    ...options,
    env: { ...(await environment(event)), ...env },
  })
}

/** What a runner gives a step, as far as the comment is concerned. */
async function environment(event: unknown = PULL_REQUEST_7): Promise<Record<string, string>> {
  const path = join(folder, 'event.json')
  await writeFile(path, JSON.stringify(event))
  return {
    GITHUB_API_URL: api.url,
    GITHUB_REPOSITORY: api.repository,
    GITHUB_EVENT_PATH: path,
    GITHUB_WORKFLOW: 'CI',
    GITHUB_WORKFLOW_REF: workflowRef('ci.yml'),
    GITHUB_JOB: 'e2e',
    GITHUB_RUN_ID: '1000',
    GITHUB_RUN_ATTEMPT: '1',
  }
}

function workflowRef(file: string, ref = 'refs/pull/7/merge'): string {
  return `octo-org/web-shop/.github/workflows/${file}@${ref}`
}

async function startApi(pathPrefix = ''): Promise<void> {
  await api?.close()
  api = await startGitHubApi({ pathPrefix })
  api.grant('workflow-token', ACTIONS_BOT, 'write')
}

function withText(text: string): (marker: string) => string {
  return (marker) => `${marker}\n${text}`
}

function texts(): string[] {
  return api.comments.map(({ body }) => body)
}

function visibleTexts(): string[] {
  return texts().map((text) => text.replace(/^<!--.*?-->\n/, ''))
}

function requested(): string[] {
  return api.requests.map(({ method }) => method)
}

/**
 * Sleeps in no time, and lets time pass only where it is told to. Real sockets take turns of the event loop that no
 * clock can count, so that a clock which jumps from one timer to the next would cut off requests that are well.
 */
class TestClock implements Clock {
  readonly pausesMs: number[] = []
  /** Happens in the next pause. */
  during: () => void = () => {}
  #nowMs = 0
  readonly #timeouts: { dueMs: number; controller: AbortController }[] = []

  now(): number {
    return this.#nowMs
  }

  epochMs(): number {
    return 1_800_000_000_000 + this.#nowMs
  }

  async sleep(ms: number): Promise<void> {
    this.pausesMs.push(ms)
    this.during()
    this.pass(ms)
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController()
    this.#timeouts.push({ dueMs: this.#nowMs + ms, controller })
    return controller.signal
  }

  pass(ms: number): void {
    this.#nowMs += ms
    for (const { dueMs, controller } of this.#timeouts) {
      if (dueMs <= this.#nowMs) controller.abort()
    }
  }
}
