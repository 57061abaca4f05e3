import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputsError } from '../../src/inputs/input-reader.ts'
import { type Inputs, readInputs } from '../../src/inputs/inputs.ts'
import { render } from '../../src/text/safe-text.ts'
import { contextsOf, githubContext } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { renderTemplate } from '../../tools/runner-emulator/step-runner/expressions.ts'
import { inputVariables, linesWrittenBy } from '../support/process-effects.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Payload, workflowEvent } from '../support/workflow-event.ts'

const TARGET = { kind: 'project', id: 'web-shop' }
const ENOUGH = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }

interface Step {
  readonly name?: string
  readonly payload?: Payload
  readonly actor?: string
}

const ON_DEFAULT_BRANCH = { ref: 'refs/heads/main', repository: { full_name: 'shop/shop', default_branch: 'main' } }
const WORKSPACE = resolve('/home/runner/work/shop/shop')
const TEMP = resolve('/home/runner/work/_temp')

/** Reads the inputs of a step. Returns them and what the step wrote. */
function reading(given: Readonly<Record<string, string>>, step: Step = {}) {
  const { name = 'push', payload = ON_DEFAULT_BRANCH, actor = 'ann' } = step
  const { env, event } = workflowEvent(name, payload, { repository: 'shop/shop', actor })
  let inputs: Inputs | undefined
  let problems: string[] = []
  const lines = linesWrittenBy(() => {
    try {
      inputs = readInputs({ ...env, ...inputVariables(given), GITHUB_WORKSPACE: WORKSPACE, RUNNER_TEMP: TEMP }, event)
    } catch (error) {
      if (!(error instanceof InvalidInputsError)) throw error
      expect(error.message).toBe(error.messages.map(render).join(' '))
      problems = error.messages.map(render)
    }
  })
  return { inputs, problems, lines }
}

/** The inputs of a step that has the required inputs and these. */
function inputsOf(given: Readonly<Record<string, string>> = {}, step: Step = {}): Inputs {
  const { inputs, problems } = reading({ ...ENOUGH, ...given }, step)
  expect(problems).toEqual([])
  return inputs as Inputs
}

/** The messages about invalid inputs of a step that has the required inputs and these. */
function problemsOf(given: Readonly<Record<string, string>>, step: Step = {}): string[] {
  return reading({ ...ENOUGH, ...given }, step).problems
}

describe('a step', () => {
  it('with only the required inputs has the defaults', () => {
    expect(inputsOf()).toEqual({
      address: expect.objectContaining({
        baseUrl: new URL('https://tests.example.com/'),
        apiKey: 'key-1',
        target: TARGET,
      }),
      githubToken: '',
      subject: { target: TARGET, ownsRun: true, parameters: { branch: 'main' }, labels: [] },
      settings: {
        wait: true,
        waitLimitMs: 3_600_000,
        cancelOnAbort: true,
        passWithNoTests: false,
        strict: false,
        showOutput: true,
        reports: { summary: 'always', annotations: true },
      },
      comment: { when: 'never', key: '', matrix: '' },
      warnings: [],
    })
  })

  it('masks its token for GitHub, which may be no secret of the workflow', () => {
    expect(reading({ ...ENOUGH, 'github-token': ' ghs_token\n' }).lines).toEqual(['::add-mask::ghs_token'])
    expect(reading(ENOUGH).lines).toEqual([])
  })

  it.each(['always', 'true', 'on-failure'])('needs a token for GitHub if comment is %s', (comment) => {
    expect(problemsOf({ comment })).toEqual([
      `Input github-token is empty, but comment ("${comment}") needs a token. Add \`github-token: \${{ github.token }}\` to the inputs of this step, and \`pull-requests: write\` to the permissions of the job. If you want no comment, remove the input comment.`,
    ])
    expect(problemsOf({ comment, 'github-token': 'ghs_token' })).toEqual([])
  })

  it('treats an input of only white space as empty', () => {
    const names = ['branch', 'environment', 'autofix', 'run-id', 'report-dir']
    expect(inputsOf(Object.fromEntries(names.map((name) => [name, ' \n'])))).toEqual(inputsOf())
  })

  it('with all inputs has the value of each', () => {
    const inputs = inputsOf({
      'base-url': 'https://tests.example.com/api/',
      branch: 'feature/pay',
      environment: 'staging',
      'framework-project': 'unit, e2e',
      'env-overrides': 'A=1\nB=two',
      autofix: 'false',
      wait: 'false',
      'timeout-minutes': '1.5',
      'poll-interval-seconds': '0.05',
      'cancel-on-abort': 'false',
      'pass-with-no-tests': 'true',
      strict: 'true',
      'show-output': 'false',
      summary: 'on-failure',
      annotations: 'false',
      'report-dir': 'reports/run',
      baseline: 'baseline/results.json',
      comment: 'always',
      'comment-key': 'unit',
      'run-url': 'https://app.example.com/{project}/{run-id}',
      matrix: '{"os":"linux","node":[20,{"arch":"arm"}],"extra":null}',
      'github-token': 'ghs_token',
    })
    expect(inputs).toEqual({
      address: expect.objectContaining({ baseUrl: new URL('https://tests.example.com/api/'), proxies: {} }),
      githubToken: 'ghs_token',
      subject: {
        target: TARGET,
        ownsRun: true,
        parameters: {
          branch: 'feature/pay',
          environment: 'staging',
          frameworkProject: 'unit, e2e',
          envOverrides: { A: '1', B: 'two' },
          autofix: false,
        },
        labels: ['unit', 'linux, 20, arm'],
      },
      settings: {
        wait: false,
        runUrlOf: expect.any(Function),
        waitLimitMs: 90_000,
        pollIntervalMs: 50,
        cancelOnAbort: false,
        passWithNoTests: true,
        strict: true,
        showOutput: false,
        reports: { summary: 'on-failure', annotations: false },
      },
      reportDir: join(WORKSPACE, 'reports/run'),
      baselinePath: join(WORKSPACE, 'baseline/results.json'),
      comment: { when: 'always', key: 'unit', matrix: expect.stringContaining('linux') },
      warnings: [],
    })
  })
})

describe('base-url', () => {
  it.each([
    ['https://tests.example.com:8443/a/prefix/', 'https://tests.example.com:8443/a/prefix/'],
    ['HTTPS://Tests.Example.com/A', 'https://tests.example.com/A'],
    ['  https://tests.example.com\n', 'https://tests.example.com/'],
    ['https://tests.example.com/@team', 'https://tests.example.com/@team'],
    ['http://127.9.8.7', 'http://127.9.8.7/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
  ])('%j is accepted', (given, url) => {
    expect(inputsOf({ 'base-url': given }).address.baseUrl.href).toBe(url)
  })

  const NO_ADDRESS = 'is not an absolute address. Give the address of the service, such as https://tests.example.com.'
  const NOT_SECURE =
    "is not accepted. The address must begin with https://, unless it is an address of the runner's own machine, such as http://127.0.0.1:8080."
  const HAS_CREDENTIALS = 'has credentials in it. Remove them.'
  const HAS_MORE = 'has a query or a fragment. Give the address without it.'

  // The secret stands in place of ***.
  it.each([
    ['', NO_ADDRESS],
    ['tests.example.com', NO_ADDRESS],
    ['//tests.example.com', NO_ADDRESS],
    ['https://tests.example.com/a b', NO_ADDRESS],
    ['http://tests.example.com', NOT_SECURE],
    ['http://127.0.0.1.example.com', NOT_SECURE],
    ['http://10.0.0.1', NOT_SECURE],
    ['http://[::2]', NOT_SECURE],
    ['ftp://localhost', NOT_SECURE],
    ['http://localhost.example', NOT_SECURE],
    ['http://notlocalhost', NOT_SECURE],
    ['http://my127.0.0.1.example', NOT_SECURE],
    ['javascript:alert(1)', NOT_SECURE],
    ['https://***@tests.example.com/x', HAS_CREDENTIALS, 'ann:hunter2'],
    ['https://***@tests.example.com', HAS_CREDENTIALS, 'hunter2'],
    ['https:***@tests.example.com', HAS_CREDENTIALS, 'ann:hunter2'],
    ['https:///***@tests.example.com', HAS_CREDENTIALS, 'ann:hun@ter2'],
    ['https://tests.example.com?***', HAS_MORE, 'key=hunter2'],
    ['https://tests.example.com?***', NO_ADDRESS, 'a=1\nkey=hunter2'],
    ['https://tests.example.com/x?***', HAS_MORE, ''],
    ['https://tests.example.com/#***', HAS_MORE, 'hunter2?'],
    ['https://tests.example.com/x#***', HAS_MORE, ''],
  ])('%s %s', (shown, what, secret = '') => {
    expect(problemsOf({ 'base-url': shown.replace('***', secret) })).toEqual([`Input base-url: "${shown}" ${what}`])
  })

  it('shows no secret, whatever its place is and whatever else is wrong', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'a:/@?# %\\.[]\n'), maxLength: 6 })
    const scheme = fc.constantFrom('', 'https:', 'https:/', 'https://', 'http://', 'ftp://', '//')
    fc.assert(
      fc.property(scheme, noise, noise, fc.constantFrom('@tests.example.com', '@'), (start, before, after, host) => {
        const given = `${start}${before}hunter2${after.replaceAll('\n', '')}${host}`
        for (const message of problemsOf({ 'base-url': given })) expect(message).not.toContain('hunter2')
      }),
      { numRuns: 300 },
    )
  })
})

describe('api-key', () => {
  it('may have 512 characters, and is sent without white space at its ends', () => {
    const key = '\\('.repeat(256)
    expect(inputsOf({ 'api-key': ` ${key}\n` }).address.apiKey).toBe(key)
  })

  it.each(['two words', 'schlüssel', 'bell\u0007', 'k'.repeat(513)])('%j cannot be sent, and is not shown', (key) => {
    const { problems, lines } = reading({ ...ENOUGH, 'api-key': key })
    expect(problems).toEqual([
      'Input api-key contains white space or non-ASCII characters, or has more than 512 characters, so it cannot be sent as a Bearer token (it is not shown). Copy the key again, in one line.',
    ])
    expect(lines).toEqual([])
  })

  it('is required', () => {
    expect(problemsOf({ 'api-key': ' ' })).toEqual([
      `Input api-key is empty. Store an API key of the service as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
    ])
  })

  const SKIPPED = 'A skipped job counts as passed, so a required check then passes although nothing was tested.'
  const FORK_MESSAGE = `Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets and no variables. Have a maintainer push the branch to this repository and open a pull request from there, or skip the job with \`if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository\`. ${SKIPPED}`
  const DEPENDABOT_MESSAGE = `Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip the job with \`if: github.event_name != 'pull_request' || github.event.pull_request.user.login != 'dependabot[bot]'\`. ${SKIPPED}`

  it('is missing on a pull request from a fork, and one message explains it', () => {
    const payload = { pull_request: { head: { ref: 'patch-1', repo: { id: 2 } }, base: { repo: { id: 1 } } } }
    const step = { name: 'pull_request', payload }
    // The address and the project may come from variables. A fork does not get variables either.
    for (const missing of [{}, { 'base-url': '' }, { 'base-url': '', project: '' }]) {
      expect(problemsOf({ ...missing, 'api-key': '' }, step)).toEqual([FORK_MESSAGE])
    }
    expect(problemsOf({ 'base-url': 'x', 'api-key': '', wait: 'x' }, step)).toHaveLength(3)
    const review = { ...step, name: 'pull_request_review' }
    expect(problemsOf({ 'api-key': '' }, review)).toEqual([expect.stringContaining("!= 'pull_request_review' ||")])
  })

  it('is missing on a push by Dependabot, whoever re-runs the workflow', () => {
    const payload = { ...ON_DEFAULT_BRANCH, sender: { login: 'dependabot[bot]' } }
    const problems = problemsOf({ 'api-key': '' }, { name: 'push', payload, actor: 'ann' })
    expect(problems).toEqual([expect.stringContaining("'push' || github.actor != 'dependabot[bot]'`. A skipped")])
  })

  it('is missing on a pull request by Dependabot, and the message explains it, whoever re-runs the workflow', () => {
    const payload = { pull_request: { user: { login: 'dependabot[bot]' }, head: { ref: 'update' } } }
    expect(problemsOf({ 'api-key': '', 'base-url': '' }, { name: 'pull_request', payload, actor: 'ann' })).toEqual([
      DEPENDABOT_MESSAGE,
      'Input base-url: "" is not an absolute address. Give the address of the service, such as https://tests.example.com.',
    ])
  })

  it.each([FORK_MESSAGE, DEPENDABOT_MESSAGE])('is no reason to skip a push: %s', (message) => {
    const condition = /`if: (.*?)`\. /.exec(message)?.[1] ?? ''
    const isRun = (name: string, payload: Payload) => {
      const github = githubContext({ name, payload }, { repository: 'shop/shop' })
      return renderTemplate(`\${{ ${condition} }}`, contextsOf(github, 'success'))
    }
    const own = { pull_request: { user: { login: 'ann' }, head: { repo: { full_name: 'shop/shop' } } } }
    const other = { pull_request: { user: { login: 'dependabot[bot]' }, head: { repo: { full_name: 'ann/shop' } } } }
    expect([isRun('pull_request', own), isRun('pull_request', other)]).toEqual(['true', 'false'])
    expect([isRun('push', {}), isRun('merge_group', {})]).toEqual(['true', 'true'])
  })
})

describe('project and test-suite', () => {
  it('name what to run, as written', () => {
    expect(inputsOf({ project: 'web shop/1' }).subject.target).toEqual({ kind: 'project', id: 'web shop/1' })
    const suite = { project: '', 'test-suite': 'smoke' }
    expect(inputsOf(suite).subject.target).toEqual({ kind: 'test-suite', id: 'smoke' })
  })

  it.each([
    [
      { 'test-suite': 'smoke' },
      'Inputs project ("web-shop") and test-suite ("smoke"): give exactly one of them. The input project takes the id of the project whose tests you want to run.',
    ],
    [
      { project: '' },
      'Inputs project ("") and test-suite (""): give exactly one of them. The input project takes the id of the project whose tests you want to run.',
    ],
  ])('must not be given as %j', (given, problem) => {
    expect(problemsOf(given)).toEqual([problem])
  })

  it.each([
    [{ project: '.' }, 'project: "."'],
    [{ project: '..' }, 'project: ".."'],
    [{ project: '', 'test-suite': '..' }, 'test-suite: ".."'],
  ])('cannot be %j, because URL parsing would remove it from the path', (given, named) => {
    expect(problemsOf(given)).toEqual([
      `Input ${named} cannot be an id, because it would change the address of the request. Give the id as the service shows it.`,
    ])
  })

  it.each(['framework-project', 'autofix'])('test-suite cannot be combined with %s', (name) => {
    expect(problemsOf({ project: '', 'test-suite': 'smoke', [name]: 'true' })).toEqual([
      `Input ${name}: "true" cannot be combined with test-suite, because a test suite has no such setting. Leave the input ${name} empty, or give project instead of test-suite.`,
    ])
  })

  it('test-suite can be combined with the other parameters', () => {
    const parameters = { environment: 'staging', 'env-overrides': 'A=1' }
    expect(inputsOf({ project: '', 'test-suite': 'smoke', ...parameters }).subject.parameters).toEqual({
      branch: 'main',
      environment: 'staging',
      envOverrides: { A: '1' },
    })
  })
})

it('branch may have up to 255 characters', () => {
  const branch = '🌱'.repeat(255)
  expect(inputsOf({ branch }).subject.parameters.branch).toBe(branch)
  expect(problemsOf({ branch: `b${branch}` })).toEqual([
    `Input branch: "b${branch}" has 256 characters. The service takes 1 to 255.`,
  ])
})

describe('run-url', () => {
  const pageOf = (template: string, runId = 'r/1', given: Readonly<Record<string, string>> = {}) =>
    inputsOf({ 'run-url': template, ...given }).settings.runUrlOf?.(runId)

  it.each([
    ['https://app.example.com/p/{project}/runs/{run-id}', 'https://app.example.com/p/web%20shop%2F1/runs/r%2F1'],
    [
      'https://app.example.com:8443/?run={run-id}&p={project}',
      'https://app.example.com:8443/?run=r%2F1&p=web%20shop%2F1',
    ],
    ['https://app.example.com#/runs/{run-id}', 'https://app.example.com/#/runs/r%2F1'],
    ['HTTPS://App.Example.com:443/a/../{run-id}?q="é"', 'https://app.example.com/r%2F1?q=%22%C3%A9%22'],
    ["https://app.example.com/!/('*)/{run-id}?'#!", 'https://app.example.com/%21/%28%27%2A%29/r%2F1?%27#%21'],
    ['http://127.0.0.1:8080/{run-id}', 'http://127.0.0.1:8080/r%2F1'],
  ])('%s is filled in, percent-encoded', (template, url) => {
    expect(pageOf(template, 'r/1', { project: 'web shop/1' })).toBe(url)
  })

  it('may name the test suite', () => {
    const suite = { project: '', 'test-suite': 'smoke tests' }
    expect(pageOf('https://app.example.com/{test-suite}/{run-id}', 'r-1', suite)).toBe(
      'https://app.example.com/smoke%20tests/r-1',
    )
  })

  it('leads to the place that the template says, whatever the ids are', () => {
    const id = fc.string({ minLength: 1, unit: fc.constantFrom(...'a1._~:=+/@-?#%{}\\ é🌱\'()!*"`$;&|<>') })
    const usable = id.filter((text) => text.trim() === text && text !== '.' && text !== '..')
    fc.assert(
      fc.property(usable, fc.stringMatching(/^[A-Za-z0-9._~:=+/@-]{3,20}$/), (project, runId) => {
        const url = new URL(pageOf('https://app.example.com/p/{project}/runs/{run-id}', runId, { project }) ?? '')
        expect(url.href).toMatch(/^https:\/\/app\.example\.com[A-Za-z0-9._~:=+/@%-]*$/)
        expect(url.origin + url.search + url.hash).toBe('https://app.example.com')
        expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'p', project, 'runs', runId])
      }),
    )
  })

  it('is no second problem if project and test-suite are missing', () => {
    expect(problemsOf({ project: '', 'run-url': 'https://app.example.com/{project}/{run-id}' })).toHaveLength(1)
  })

  const EXAMPLE = 'Give an address such as https://app.example.com/{project}/runs/{run-id}.'
  const UNKNOWN =
    'for which this step has no value. The accepted placeholders are {run-id}, and {project} or {test-suite} if this input is given.'
  const NO_ADDRESS =
    'is not accepted. Give an absolute address, with placeholders only after the host and the port. Use { and } only for placeholders.'
  const NOT_SECURE =
    "is not accepted. The address must begin with https://, unless it is an address of the runner's own machine, such as http://127.0.0.1:8080."

  it.each([
    ['https://app.example.com/{run}', `has the placeholder {run}, ${UNKNOWN}`],
    ['https://app.example.com/{test-suite}', `has the placeholder {test-suite}, ${UNKNOWN}`],
    ['https://{project}.example.com/{run-id}', NO_ADDRESS],
    ['{run-id}', NO_ADDRESS],
    ['https://app.example.com/{{run-id}}', NO_ADDRESS],
    ['https://app.example.com/{run-id', NO_ADDRESS],
    ['https:{project}/{run-id}', NO_ADDRESS],
    ['https:///{project}/{run-id}', NO_ADDRESS],
    ['https://app.example.com{run-id}', NO_ADDRESS],
    ['https://app.example.com:{run-id}/', NO_ADDRESS],
    ['https://***@app.example.com/{run-id}', 'has credentials in it. Remove them.', 'ann:hunter2'],
    ['http://app.example.com/{run-id}', NOT_SECURE],
  ])('%s %s', (shown, what, credentials = '') => {
    expect(problemsOf({ 'run-url': shown.replace('***', credentials) })).toEqual([
      `Input run-url: "${shown}" ${what} ${EXAMPLE}`,
    ])
  })

  it('has an example that fits the step, so that who follows it gets no second problem', () => {
    const suite = { project: '', 'test-suite': 'smoke', 'run-url': 'https://app.example.com/{project}/{run-id}' }
    expect(problemsOf(suite)).toEqual([expect.stringMatching(/such as https:\S+\/\{test-suite\}\/runs\/\{run-id\}\.$/)])
  })
})

it.each([
  [' unit, "e 2 e" ', ' unit, "e 2 e" '],
  ['unit\r\ne2e\r\n', 'unit\r\ne2e'],
  [' \n', undefined],
])('framework-project given as %j is sent as %j', (given, sent) => {
  expect(inputsOf({ 'framework-project': given }).subject.parameters.frameworkProject).toBe(sent)
})

describe('run-id', () => {
  it('is waited for, and not cancelled unless cancel-on-abort is true', () => {
    expect(inputsOf({ 'run-id': 'r-1' }).settings).toMatchObject({ runId: 'r-1', cancelOnAbort: false })
    const asked = { 'run-id': 'r-1', 'cancel-on-abort': 'true' }
    expect(inputsOf(asked).settings).toMatchObject({ runId: 'r-1', cancelOnAbort: true })
  })

  it.each(['..', 'id\nwith=a line'])('%j is refused', (runId) => {
    expect(problemsOf({ 'run-id': runId })).toEqual([
      `Input run-id: "${runId.replace('\n', ' ')}" cannot be a run's id. Give the output run-id of the step that started the run. An id has 1 to 256 of these characters: letters, digits and \`. _ ~ : = + / @ -\`.`,
    ])
  })

  it('cannot be combined with wait: false', () => {
    expect(problemsOf({ 'run-id': 'r-1', wait: 'false' })).toEqual([
      'Inputs wait ("false") and run-id ("r-1") cannot be combined. To wait for this run, remove wait. To start another run, remove run-id.',
    ])
  })

  it('makes the inputs of a start ineffective, and a warning says so', () => {
    const warnings = (given: Readonly<Record<string, string>>) => inputsOf(given).warnings.map(render)
    const parameters = {
      environment: 'staging',
      'framework-project': 'e2e',
      'env-overrides': 'A=1',
      autofix: 'true',
    }
    expect(warnings({ 'run-id': 'r-1', ...parameters })).toEqual(
      Object.keys(parameters).map(
        (name) => `Input ${name} has no effect with run-id, because this step does not start the run.`,
      ),
    )
    expect(warnings({ 'run-id': 'r-1', branch: 'main' })).toHaveLength(1)
    expect(warnings(parameters)).toEqual([])
  })
})

describe('a choice of true and false', () => {
  it('is read in upper and lower case', () => {
    const [yes, no] = [true, false].map((wait) => inputsOf({ wait: `${wait}` }))
    expect(yes).not.toEqual(no)
    for (const text of ['True', 'TRUE']) expect(inputsOf({ wait: text })).toEqual(yes)
    expect(inputsOf({ wait: 'False' })).toEqual(no)
  })

  it.each(['yes', '1', 'truefalse', 'constructor'])('is not %s', (text) => {
    expect(problemsOf({ wait: text })).toEqual([`Input wait: "${text}" is not accepted. Give true or false.`])
  })
})

describe('a number', () => {
  it.each([
    ['60', 3_600_000],
    ['0.5', 30_000],
    ['.25', 15_000],
    ['35000', 2_100_000_000],
    ['0.001', 60],
  ])('of %s minutes is the limit of the wait', (text, ms) => {
    expect(inputsOf({ 'timeout-minutes': text }).settings.waitLimitMs).toBeCloseTo(ms)
  })

  it.each(['0', '35000.1', '1e3', '0x10', '35,000', '１'])('of %s minutes is not accepted', (text) => {
    expect(problemsOf({ 'timeout-minutes': text })).toEqual([
      `Input timeout-minutes: "${text}" is not accepted. Give a number above 0 up to 35,000, such as 1 or 0.5.`,
    ])
  })

  it.each(['0', '0.049', '3600.5', 'adaptive'])('of %s seconds between two polls is not accepted', (text) => {
    expect(problemsOf({ 'poll-interval-seconds': text })).toEqual([
      `Input poll-interval-seconds: "${text}" is not accepted. Give a number from 0.05 up to 3,600, such as 1 or 0.5.`,
    ])
  })

  it('is never too large for a timer, whatever was given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String)), (text) => {
        const given = { ...ENOUGH, 'timeout-minutes': text, 'poll-interval-seconds': text }
        const { inputs } = reading(given)
        if (inputs === undefined) return
        const { waitLimitMs, pollIntervalMs } = inputs.settings
        expect(waitLimitMs).toBeGreaterThan(0)
        expect(waitLimitMs).toBeLessThan(2 ** 31)
        if (pollIntervalMs !== undefined) expect(pollIntervalMs).toBeGreaterThanOrEqual(50)
      }),
    )
  })
})

describe('a choice', () => {
  it.each([
    ['summary', 'always, on-failure, never, true or false'],
    ['comment', 'always, on-failure, never, true or false'],
    ['annotations', 'true, false, always or never'],
  ])('%s is one of the words %s', (name, words) => {
    const message = `Input ${name}: "on failure" is not accepted. Give ${words}.`
    expect(problemsOf({ [name]: 'on failure' })).toEqual([message])
  })

  it.each([
    ['always', 'always'],
    ['on-failure', 'on-failure'],
    ['never', 'never'],
    ['true', 'always'],
    ['False', 'never'],
    ['ALWAYS', 'always'],
  ] as const)('%s means %s for the summary and the comment', (word, when) => {
    const inputs = inputsOf({ summary: word, comment: word, 'github-token': 'ghs_token' })
    expect([inputs.settings.reports.summary, inputs.comment.when]).toEqual([when, when])
  })

  it.each([
    ['always', true],
    ['never', false],
  ])('%s means %s for the annotations', (word, isWanted) => {
    expect(inputsOf({ annotations: word }).settings.reports.annotations).toBe(isWanted)
  })
})

describe('report-dir', () => {
  it.each([
    ['reports', join(WORKSPACE, 'reports')],
    ['./a/../b', join(WORKSPACE, 'b')],
    ['..reports', join(WORKSPACE, '..reports')],
    [join(TEMP, 'x'), join(TEMP, 'x')],
  ])('%s is a folder of the step', (given, folder) => {
    expect(inputsOf({ 'report-dir': given }).reportDir).toBe(folder)
  })

  it.each(['..', '../reports', resolve('/etc'), 'a/../../b', `${WORKSPACE}-2`])('%s is refused', (given) => {
    expect(problemsOf({ 'report-dir': given })).toEqual([
      `Input report-dir: "${given}" is outside the workspace and the runner's temporary folder. Give a path relative to the workspace, such as test-reports. In a job with a container, the expressions github.workspace and runner.temp are paths of the host.`,
    ])
  })
})

describe('baseline', () => {
  function jobWith(given: (folders: { root: string; workspace: string; temp: string }) => string) {
    const root = temporaryFolder()
    const [workspace, temp] = [join(root, 'work'), join(root, 'temp')]
    for (const folder of [join(workspace, 'last'), temp, join(root, 'outside')]) mkdirSync(folder, { recursive: true })
    const { env, event } = workflowEvent('push', ON_DEFAULT_BRANCH, {})
    const baseline = given({ root, workspace, temp })
    const variables = inputVariables({ ...ENOUGH, baseline })
    try {
      const inputs = readInputs({ ...env, ...variables, GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp }, event)
      return { path: relative(root, inputs.baselinePath ?? '') }
    } catch (error) {
      if (!(error instanceof InvalidInputsError)) throw error
      return { given: baseline, problems: error.messages.map(render) }
    }
  }

  it.each([
    ['a file', () => 'last/results.json', 'work/last/results.json'],
    ['a folder that is there', () => 'last', 'work/last/results.json'],
    ['what is not there yet', () => 'a/b', 'work/a/b'],
    ['an absolute path', ({ temp }: { temp: string }) => join(temp, 'a.json'), 'temp/a.json'],
  ])('may be %s', (_, given, path) => {
    expect(jobWith(given)).toEqual({ path })
  })

  it.each<[string, Parameters<typeof jobWith>[0]]>([
    ['above the workspace', () => '../outside/results.json'],
    ['absolute, and elsewhere', ({ root }) => join(root, 'outside')],
  ])('is refused if it is %s', (_, of) => {
    const { given, problems } = jobWith(of)
    expect(problems).toEqual([
      `Input baseline: "${given}" is outside the workspace and the runner's temporary folder. Give a path relative to the workspace, such as baseline/results.json. In a job with a container, the expressions github.workspace and runner.temp are paths of the host.`,
    ])
  })

  it.skipIf(process.platform === 'win32').each<[string, string, string]>([
    ['is a link out', 'last/link', 'last/link'],
    ['is below a link out', 'link', 'link/results.json'],
    ['is a folder with a link out', 'last/results.json', 'last'],
  ])('is refused if it %s', (_, link, given) => {
    const { problems } = jobWith(({ root, workspace }) => {
      symlinkSync(join(root, 'outside'), join(workspace, link))
      return given
    })
    expect(problems).toEqual([
      `Input baseline: "${given}" leads through a link out of the workspace and the runner's temporary folder. Give a path without this link.`,
    ])
  })

  it('is read from the temporary folder also if the workspace is a link', () => {
    const { path } = jobWith(({ temp, workspace }) => {
      rmSync(workspace, { recursive: true })
      symlinkSync(temp, workspace)
      return 'results.json'
    })
    expect(path).toBe('work/results.json')
  })
})

describe('inputs that are invalid', () => {
  it('are all reported at once', () => {
    const given = {
      'base-url': 'x',
      'api-key': '',
      project: '',
      'run-id': ' a b ',
      'env-overrides': '?',
      autofix: '?',
      wait: '?',
      'timeout-minutes': '?',
      'poll-interval-seconds': '?',
      'cancel-on-abort': '?',
      'pass-with-no-tests': '?',
      'show-output': '?',
      summary: '?',
      annotations: '?',
      comment: '?',
      'run-url': '?',
      'report-dir': '..',
    }
    const named = problemsOf(given).map((message) => /^Inputs? ([a-z-]+)/.exec(message)?.[1])
    expect(named.toSorted()).toEqual(Object.keys(given).toSorted())
  })
})
