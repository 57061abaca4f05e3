import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type CommentOptions, commentIdentity, keepCommentUpToDate } from '../../src/github/comment.ts'
import type { WorkflowEvent } from '../../src/github/event.ts'
import { type Fragment, html, render } from '../../src/text/safe-text.ts'
import type { GithubContext } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { ACTIONS_BOT, type Fault, type GitHubApi, startGitHubApi } from '../support/github-api.ts'
import { type Payload, workflowEvent } from '../support/workflow-event.ts'

const MALLORY = 'mallory'
const RELEASE_APP = 'release-helper[bot]'

const LIST = { method: 'GET', path: /\/issues\/\d+\/comments/ }
const CREATE = { method: 'POST', path: /\/comments$/ }
const WHO_AM_I = { method: 'POST', path: /graphql/ }

let api: GitHubApi
let clock: FakeClock

beforeAll(() => {
  // @actions/github reads proxy, event and API address when it is loaded. It must not read those of this machine.
  const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']
  for (const name of [...proxies, 'GITHUB_API_URL', 'GITHUB_EVENT_PATH']) vi.stubEnv(name, undefined)
  return () => vi.unstubAllEnvs()
})

beforeEach(async () => {
  clock = new FakeClock()
  await startApi()
})
afterEach(() => api.close())

async function startApi(pathPrefix = ''): Promise<void> {
  await api?.close()
  api = await startGitHubApi({ pathPrefix })
  api.grant('workflow-token', ACTIONS_BOT, 'write')
}

const BELONGS_TO = ['null', 'project', 'web-shop', undefined, undefined]

interface Step {
  readonly text?: string
  readonly when?: 'always' | 'on-failure' | 'never'
  readonly success?: boolean
  readonly token?: string
  readonly belongsTo?: CommentOptions['settings']['belongsTo']
  readonly workflowRunId?: string
  readonly attempt?: string
  readonly github?: GithubContext
  readonly event?: string
  readonly payload?: Payload | string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
}

async function comment(step: Step = {}): Promise<{ url?: string | undefined; log: string[] }> {
  const { event, env } = eventOf(step)
  const log: string[] = []
  const say = (level: string) => (line: Fragment) => void log.push(`${level}: ${render(line)}`)
  const url = await keepCommentUpToDate({
    settings: {
      when: step.when ?? 'always',
      token: step.token ?? 'workflow-token',
      belongsTo: step.belongsTo ?? BELONGS_TO,
    },
    success: step.success ?? false,
    build: () => html`<h3>${step.text ?? 'a text'}</h3>`,
    env: { ...env, GITHUB_API_URL: api.url, ...step.env },
    event,
    log: { info: say('info'), warning: say('warning') },
    clock,
    signal: step.signal ?? new AbortController().signal,
  })
  return { url, log }
}

function eventOf({ github, event = 'pull_request', payload, workflowRunId = '1000', attempt = '1' }: Step): {
  event: WorkflowEvent
  env: Readonly<Record<string, string>>
} {
  const pullRequest = { number: 7, head: { ref: 'feature/cart', repo: { id: 1 } } }
  return workflowEvent(event, payload ?? { repository: { id: 1 }, pull_request: pullRequest }, {
    repository: api.repository,
    workflow_ref: workflowRef('ci.yml'),
    run_id: workflowRunId,
    run_attempt: attempt,
    ...github,
  })
}

function workflowRef(file: string, ref = 'refs/pull/7/merge'): string {
  return `octo-org/web-shop/.github/workflows/${file}@${ref}`
}

function texts(): string[] {
  return api.comments.map(({ body }) => body.replace(/^<!--.*?-->\n<h3><code>(.*)<\/code><\/h3>$/s, '$1'))
}

function authors(): (string | undefined)[] {
  return api.comments.map(({ author }) => author)
}

function requested(): string[] {
  return api.requests.map(({ method }) => method)
}

const ON_COMMENT = { event: 'issue_comment', payload: { issue: { number: 7, pull_request: {} } } }
const WRITTEN = { url: expect.stringMatching(/^https:\/\/github\.com\/.*\/pull\/7#issuecomment-\d+$/), log: [] }
const LEFT_AS_IT_IS = 'info: The comment was left as it is, because a later workflow run has written it.'

describe('one comment, kept up to date', () => {
  test('the first run creates a comment that begins with the marker', async () => {
    expect(await comment({ text: '3 of 40 failed' })).toEqual(WRITTEN)
    expect(api.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(
        /^<!-- test-run-action [0-9a-f]{64} run 1000 attempt 1 -->\n<h3><code>3 of 40 failed<\/code><\/h3>$/,
      ),
    ])
    expect(requested()).toEqual(['GET', 'POST'])
  })

  test('a later run updates the comment of the earlier run', async () => {
    const first = await comment({ text: 'first' })
    expect(await comment({ text: 'second', workflowRunId: '1001' })).toEqual(first)
    expect(texts()).toEqual(['second'])
  })

  test('a comment on the third page is found', async () => {
    for (let i = 0; i < 230; i++) api.addComment(MALLORY, `chatter ${i}`)
    await comment({ text: 'old' })
    api.requests.length = 0
    await comment({ text: 'new', workflowRunId: '1001' })
    expect(texts().slice(230)).toEqual(['new'])
    expect(requested()).toEqual(['GET', 'GET', 'GET', 'POST', 'PATCH'])
  })

  test.each([
    ['a lower run id', { workflowRunId: '999', attempt: '77' }],
    ['an earlier attempt', { workflowRunId: '10000', attempt: '9' }],
    ['no run id at all', { workflowRunId: '', attempt: '' }],
  ])('a run with %s leaves the newer text alone', async (_, run) => {
    const newer = await comment({ text: 'newer', workflowRunId: '10000', attempt: '10' })
    expect(await comment({ text: 'older', ...run })).toEqual({ url: newer.url, log: [LEFT_AS_IT_IS] })
    expect(texts()).toEqual(['newer'])
  })

  test.each([
    ['the next attempt of the same run', { workflowRunId: '9', attempt: '10' }],
    ['a run whose id has more digits', { workflowRunId: '10', attempt: '1' }],
    ['the same attempt, by a second step', { workflowRunId: '9', attempt: '9' }],
  ])('%s updates the text', async (_, run) => {
    await comment({ text: 'before', workflowRunId: '9', attempt: '9' })
    await comment({ text: 'after', ...run })
    expect(texts()).toEqual(['after'])
  })
})

test('never means that nothing is asked of GitHub, also on a pull request', async () => {
  expect(await comment({ when: 'never' })).toEqual({ url: undefined, log: [] })
  expect(requested()).toEqual([])
})

describe('on-failure', () => {
  test('a run that passes without a comment writes nothing', async () => {
    expect(await comment({ when: 'on-failure', success: true })).toEqual({ log: [] })
    expect(requested()).toEqual(['GET'])
  })

  test('a failed run writes a comment, and the next run that passes updates it', async () => {
    await comment({ when: 'on-failure', text: 'red' })
    expect(await comment({ when: 'on-failure', success: true, text: 'green' })).toEqual(WRITTEN)
    expect(texts()).toEqual(['green'])
  })

  test('a run that passes warns of no missing comment if the file of the event cannot be read', async () => {
    expect(await comment({ when: 'on-failure', success: true, payload: '{' })).toEqual({
      log: [
        expect.stringMatching(
          /^info: If a comment of an earlier run exists, it stays as it is, because the file of the event .* cannot be read\.$/,
        ),
      ],
    })
    expect((await comment({ when: 'on-failure', payload: '{' })).log).toEqual([
      expect.stringMatching(/^warning: .* was not written: the file of the event .* cannot be read\.$/),
    ])
  })
})

test('two comments of this step stay two comments: each later run updates the first', async () => {
  // Both jobs list the comments before one of the jobs creates a comment.
  const marker = commentIdentity({ belongsTo: BELONGS_TO }, eventOf({}).env).marker
  const happens = () => void api.addComment(ACTIONS_BOT, `${marker}\n<h3><code>from the other job</code></h3>`)
  void api.inject(CREATE, happens)
  await comment({ text: 'from this job' })
  expect(texts()).toEqual(['from the other job', 'from this job'])
  const [first] = api.comments

  for (const run of ['1001', '1002']) {
    const { url } = await comment({ text: `from run ${run}`, workflowRunId: run })
    expect(texts()).toEqual([`from run ${run}`, 'from this job'])
    expect(url).toContain(`#issuecomment-${first?.id}`)
  }
})

describe('whose comment it is', () => {
  test('a copy of the marker by somebody else is not updated, and changes nothing else', async () => {
    await comment()
    const forged = (api.comments[0]?.body ?? '').replace(/run \d+/, 'run 99999999999')
    api.comments = []
    api.addComment(MALLORY, forged)
    expect(await comment()).toEqual(WRITTEN)
    expect(authors()).toEqual(['mallory', 'github-actions[bot]'])
    expect(api.comments[0]?.body).toBe(forged)
  })

  test('a comment of our own account that quotes the marker is not changed', async () => {
    const { marker } = commentIdentity({ belongsTo: BELONGS_TO }, eventOf({}).env)
    const quoting = `> ${marker}\n<h3>`
    api.addComment(ACTIONS_BOT, quoting)
    for (const text of ['first', 'second']) expect(await comment({ text })).toEqual(WRITTEN)
    expect(texts()).toEqual([quoting, 'second'])
  })

  test('a comment whose author has no account any more is not changed', async () => {
    await comment({ text: 'first' })
    const [first] = api.comments
    if (first) first.author = undefined
    expect(await comment({ text: 'second' })).toEqual(WRITTEN)
    expect(texts()).toEqual(['first', 'second'])
  })

  test("an app's token finds the app's comments, and does not change those of the workflow's token", async () => {
    api.grant('app-token', RELEASE_APP, 'write')
    await comment({ text: 'by the workflow token' })
    await comment({ text: 'first', token: 'app-token' })
    await comment({ text: 'second', token: 'app-token' })
    expect(authors()).toEqual(['github-actions[bot]', 'release-helper[bot]'])
    expect(texts()).toEqual(['by the workflow token', 'second'])
  })
})

test('if GitHub does not name the account of the token, no comment is written, and one warning says so', async () => {
  await comment({ text: 'first' })
  void api.inject(WHO_AM_I, { content: { errors: [{ type: 'FORBIDDEN', message: 'not accessible' }] } })
  void api.inject(WHO_AM_I, { content: { data: {} } })
  for (const text of ['second', 'third']) {
    expect(await comment({ text })).toEqual({ log: [expect.stringContaining('gave no usable response')] })
  }
  expect(texts()).toEqual(['first'])
})

describe('what keeps comments apart', () => {
  const STEP = ['{"browser": "firefox"}', 'project', 'web-shop', 'staging', 'unit']
  const changed = (index: number, value: string | undefined) => ({ belongsTo: STEP.with(index, value as string) })

  test.each<[string, Step]>([
    ['another environment', changed(3, 'production')],
    ['no environment', changed(3, undefined)],
    ['another job', { github: { job: 'smoke' } }],
    ['another workflow file', { github: { workflow_ref: workflowRef('nightly.yml') } }],
    ['another pull request', { payload: { pull_request: { number: 8 } } }],
  ])('%s has its own comment', async (_, other) => {
    await comment({ belongsTo: STEP, text: 'one' })
    await comment({ belongsTo: STEP, text: 'two', ...other })
    expect(texts()).toEqual(['one', 'two'])
  })

  test.each<[string, Step]>([
    ['the workflow run from another ref', { github: { workflow_ref: workflowRef('ci.yml', 'refs/heads/x@refs/y') } }],
    ['another event about the same pull request', ON_COMMENT],
  ])('%s has the same comment', async (_, other) => {
    await comment({ text: 'one' })
    await comment({ text: 'two', ...other })
    expect(texts()).toEqual(['two'])
  })
})

test("the comment's address is on the server that the runner names, whatever the response says", async () => {
  api.serverUrl = 'javascript:alert(1)//'
  const { url } = await comment({ env: { GITHUB_SERVER_URL: 'https://github.example.com' } })
  expect(url).toBe(`https://github.example.com/octo-org/web-shop/pull/7#issuecomment-${api.comments[0]?.id}`)
})

describe('a token that may not comment', () => {
  const ADVICE =
    'Add `permissions: { pull-requests: write }` to the job, and keep its other permissions. Pull requests by Dependabot need this permission too. On a pull request from a fork, GitHub allows the workflow only to read. Set `comment: never` there.'

  test.each([
    ['that can only read, as on a fork', 'read', '403 (Resource not accessible by integration)', ['GET', 'POST']],
    ['that does not see the repository', 'none', '404 (Not Found)', ['GET']],
  ] as const)('%s, is one warning with the permissions to add', async (_, access, status, sent) => {
    api.grant('a-token', RELEASE_APP, access)
    const reason = `GitHub responded with status ${status}`
    expect(await comment({ token: 'a-token' })).toEqual({
      log: [`warning: The token is not allowed to write the pull request comment: ${reason}. ${ADVICE}`],
    })
    expect(requested()).toEqual(sent)
  })

  test('that is invalid is a warning without permissions', async () => {
    expect(await comment({ token: 'expired' })).toEqual({
      log: [
        'warning: The pull request comment was not written: GitHub responded with status 401 (Bad credentials). Check github-token: it is invalid or has expired.',
      ],
    })
  })
})

describe('a failure of GitHub', () => {
  const says = (status: number, message: string): Fault => ({ status, content: { message } })

  test.each<[string, Fault, string]>([
    ['500', says(500, 'No server'), 'GitHub responded with status 500 (No server).'],
    ['a gateway', { status: 502, content: {} }, 'GitHub responded with status 502.'],
    ['status 429', says(429, 'Slow down'), 'GitHub responded with status 429 (Slow down).'],
    [
      'a rate limit',
      says(403, 'A secondary rate limit.'),
      'GitHub responded with status 403 (A secondary rate limit.).',
    ],
    ['a locked conversation', says(403, 'It is locked.'), 'GitHub responded with status 403 (It is locked.).'],
    ['a broken connection', 'reset', "GitHub's API gave no usable response ("],
    ["a proxy's page", { content: '<html>Please log in</html>' }, "GitHub's API gave no usable response ("],
  ])('%s is one warning, and nothing is sent again', async (_, fault, reason) => {
    void api.inject(LIST, fault)
    const { url, log } = await comment()
    expect([url, log]).toEqual([
      undefined,
      [expect.stringContaining(`warning: The pull request comment was not written: ${reason}`)],
    ])
    expect(requested()).toEqual(['GET'])
  })

  test('that cuts off the response to a create is one warning', async () => {
    void api.inject(CREATE, { content: {} })
    expect(await comment()).toEqual({ log: [expect.stringContaining('or it is incomplete')] })
  })

  test('that never responds is one warning after 30 seconds', async () => {
    const hanging = api.inject(LIST, 'hang')
    const written = comment()
    await hanging
    expect(await clock.run(written)).toEqual({
      log: [
        "warning: The pull request comment was not written: GitHub's API gave no usable response (no response within 30 s). The next workflow run tries again.",
      ],
    })
    expect(clock.now()).toBe(30_000)
  })
})

describe('a step that is being cancelled', () => {
  test('sends no request to GitHub', async () => {
    expect(await comment({ signal: AbortSignal.abort() })).toEqual({ log: [] })
    expect(api.requests).toEqual([])
  })

  test('ends a request in flight, without a word', async () => {
    const controller = new AbortController()
    const hanging = api.inject(LIST, 'hang')
    const written = comment({ signal: controller.signal })
    await hanging
    controller.abort()
    expect(await written).toEqual({ log: [] })
  })
})

describe('where the API is', () => {
  test('GitHub Enterprise Server has it under /api/v3, and GraphQL under /api/graphql', async () => {
    await startApi('/api/v3')
    const env = { GITHUB_API_URL: `${api.url}/` }
    await comment({ env, text: 'first' })
    await comment({ env, text: 'second' })
    expect(texts()).toEqual(['second'])
    expect(api.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
      'GET /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'POST /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'GET /api/v3/repos/octo-org/web-shop/issues/7/comments',
      'POST /api/graphql',
      'PATCH /api/v3/repos/octo-org/web-shop/issues/comments/1000001',
    ])
  })

  test('only the header Authorization has the token', async () => {
    await comment()
    await comment()
    for (const { path, headers, body } of api.requests) {
      expect(headers.authorization).toBe('token workflow-token')
      const { authorization: _, ...others } = headers
      expect(JSON.stringify([path, others, body])).not.toContain('workflow-token')
    }
  })
})

test('a text of the server that Octokit would log itself is not in the log', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  const headers = { deprecation: 'true', link: '<::error::hostile>; rel="deprecation"' }
  void api.inject(LIST, { content: [], headers })
  expect(await comment()).toEqual(WRITTEN)
  expect(warn).not.toHaveBeenCalled()
})

test('an event without a pull request causes no request to GitHub', async () => {
  expect(await comment({ event: 'push', payload: { ref: 'refs/heads/main', commits: [] } })).toEqual({
    log: ['info: No comment was written, because this workflow run is not about a pull request.'],
  })
  expect(api.requests).toEqual([])
})
