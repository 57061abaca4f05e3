import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputsError } from '../../src/inputs/input-reader.ts'
import { readInputs } from '../../src/inputs/inputs.ts'
import { render } from '../../src/text/safe-text.ts'
import { inputVariables, linesWrittenBy } from '../support/process-effects.ts'
import { workflowEvent } from '../support/workflow-event.ts'

type Inputs = ReturnType<typeof readInputs>

const TARGET = { kind: 'project', id: 'web-shop' }
const ENOUGH = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }

const ON_DEFAULT_BRANCH = { ref: 'refs/heads/main', repository: { full_name: 'shop/shop', default_branch: 'main' } }
const WORKSPACE = resolve('/home/runner/work/shop/shop')
const TEMP = resolve('/home/runner/work/_temp')

/** Reads the inputs of a step. Returns them and what the step wrote. `variables` are other variables of the job. */
function reading(given: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = {}) {
  const { env, event } = workflowEvent('push', ON_DEFAULT_BRANCH, { repository: 'shop/shop' })
  const ofRunner = { ...env, ...inputVariables(given), GITHUB_WORKSPACE: WORKSPACE, RUNNER_TEMP: TEMP }
  let inputs: Inputs | undefined
  let problems: string[] = []
  const lines = linesWrittenBy(() => {
    try {
      inputs = readInputs({ ...ofRunner, ...variables }, event)
    } catch (error) {
      if (!(error instanceof InvalidInputsError)) throw error
      expect(error.message).toBe(error.messages.map(render).join(' '))
      problems = error.messages.map(render)
    }
  })
  return { inputs, problems, lines }
}

function inputsOf(given: Readonly<Record<string, string>> = {}): Inputs {
  const { inputs, problems } = reading({ ...ENOUGH, ...given })
  expect(problems).toEqual([])
  return inputs as Inputs
}

function problemsOf(given: Readonly<Record<string, string>>): string[] {
  return reading({ ...ENOUGH, ...given }).problems
}

describe('a step', () => {
  it('with only the required inputs has the defaults', () => {
    expect(inputsOf()).toEqual({
      address: expect.objectContaining({
        baseUrl: new URL('https://tests.example.com/'),
        apiKey: 'key-1',
        target: TARGET,
      }),
      subject: {
        target: TARGET,
        ownsRun: true,
        parameters: { branch: 'main' },
        matrix: '',
        sourceUrl: expect.stringMatching(/^https:\/\/github.com\/shop\/shop\/blob\/[0-9a-f]{40}$/),
      },
      settings: {
        wait: true,
        waitLimitMs: 3_600_000,
        mayCancel: true,
        passWithNoTests: false,
        strict: false,
        showOutput: true,
        reports: { summary: 'always', annotations: true },
      },
      comment: { when: 'never', token: '', belongsTo: ['', 'project', 'web-shop', undefined, undefined] },
    })
  })

  it('masks its token for GitHub, which may be no secret of the workflow', () => {
    expect(reading({ ...ENOUGH, 'github-token': ' ghs_token\n' }).lines).toEqual(['::add-mask::ghs_token'])
    expect(reading(ENOUGH).lines).toEqual([])
  })

  it.each(['always', 'on-failure'])('needs a token for GitHub if comment is %s', (comment) => {
    expect(problemsOf({ comment })).toEqual([
      `Input github-token is empty, but comment ("${comment}") needs a token. Add \`github-token: \${{ github.token }}\` to the inputs of this step, and \`pull-requests: write\` to the permissions of the job. If you want no comment, remove the input comment.`,
    ])
    expect(problemsOf({ comment, 'github-token': 'ghs_token' })).toEqual([])
  })

  it('treats an input of only white space as empty', () => {
    const names = ['branch', 'environment', 'framework-project', 'autofix', 'run-id', 'report-dir']
    expect(inputsOf(Object.fromEntries(names.map((name) => [name, ' \n'])))).toEqual(inputsOf())
  })

  it.each<[name: string, given: string, where: string, value: unknown]>([
    ['branch', 'feature/pay', 'subject.parameters.branch', 'feature/pay'],
    ['environment', 'staging', 'subject.parameters.environment', 'staging'],
    ['framework-project', ' unit, "e 2 e" ', 'subject.parameters.frameworkProject', ' unit, "e 2 e" '],
    ['env-overrides', 'A=1\nB=two', 'subject.parameters.envOverrides', { A: '1', B: 'two' }],
    ['autofix', 'false', 'subject.parameters.autofix', false],
    ['matrix', '{"os":"linux","node":[20,{"arch":"arm"}],"extra":null}', 'subject.matrix', 'linux, 20, arm'],
    ['matrix', '{"os":"linux"}', 'comment.belongsTo.0', expect.stringContaining('linux')],
    ['wait', 'false', 'settings.wait', false],
    ['poll-interval-seconds', '0.05', 'settings.pollIntervalMs', 50],
    ['cancel-on-abort', 'false', 'settings.mayCancel', false],
    ['pass-with-no-tests', 'true', 'settings.passWithNoTests', true],
    ['strict', 'true', 'settings.strict', true],
    ['show-output', 'false', 'settings.showOutput', false],
    ['annotations', 'false', 'settings.reports.annotations', false],
    ['github-token', 'ghs_token', 'comment.token', 'ghs_token'],
  ])('takes %s from its input', (name, given, where, value) => {
    expect(inputsOf({ [name]: given })).toHaveProperty(where, value)
  })
})

const NOT_SECURE =
  "is not accepted. The address must begin with https://, unless it is an address of the runner's own machine, such as http://127.0.0.1:8080."

describe('base-url', () => {
  it.each([
    ['https://tests.example.com:8443/a/prefix/', 'https://tests.example.com:8443/a/prefix/'],
    ['HTTPS://Tests.Example.com/A', 'https://tests.example.com/A'],
    ['  https://tests.example.com\n', 'https://tests.example.com/'],
    ['https://tests.example.com/@team', 'https://tests.example.com/@team'],
    ['https://tests.example.com//api@v2', 'https://tests.example.com//api@v2'],
    ['http://127.9.8.7', 'http://127.9.8.7/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
  ])('%j is accepted', (given, url) => {
    expect(inputsOf({ 'base-url': given }).address.baseUrl.href).toBe(url)
  })

  const NO_ADDRESS = 'is not an absolute address. Give the address of the service, such as https://tests.example.com.'
  const HAS_CREDENTIALS = 'has credentials in it. Remove them.'
  const HAS_MORE = 'has a query or a fragment. Give the address without it.'

  // The secret stands in place of ***.
  it.each([
    ['tests.example.com', NO_ADDRESS],
    ['https://tests.example.com/a b', NO_ADDRESS],
    ['http://tests.example.com', NOT_SECURE],
    ['ftp://localhost', NOT_SECURE],
    ['http://[::2]', NOT_SECURE],
    ['http://localhost.example', NOT_SECURE],
    ['http://notlocalhost', NOT_SECURE],
    ['https://***@tests.example.com/x', HAS_CREDENTIALS, 'ann:hunter2'],
    ['https://***@tests.example.com', HAS_CREDENTIALS, 'hunter2'],
    ['https:///***@tests.example.com', HAS_CREDENTIALS, 'ann:hun@ter2'],
    ['https://tests.example.com?***', HAS_MORE, 'key=hunter2'],
    ['https://tests.example.com?***', NO_ADDRESS, 'a=1\nkey=hunter2'],
    ['https://tests.example.com/x?***', HAS_MORE, ''],
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

  it('is required, and one message says why it may be empty', () => {
    expect(problemsOf({ 'api-key': ' ' })).toEqual([`Input api-key is empty. ${EMPTY_KEY}`])
  })
})

const EMPTY_KEY = `Pass the key from a secret, as in \${{ secrets.NAME }}. Pull requests from forks get no secrets and no variables, and those by Dependabot get only Dependabot's own. Skip the job for them. A skipped job counts as passed, so a required check then passes although nothing was tested.`

describe('a service that an earlier step has announced', () => {
  const ANNOUNCED = {
    TEST_RUN_SERVICE_URL: 'http://127.0.0.1:8080',
    TEST_RUN_SERVICE_KEY: 'key-of-service',
    TEST_RUN_SERVICE_PROJECT: 'shop',
    TEST_RUN_SERVICE_COMMIT: 'a'.repeat(40),
  }
  const used = (given: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = ANNOUNCED) => {
    const { inputs, problems } = reading(given, variables)
    if (inputs === undefined) return problems
    const { address, subject } = inputs
    return [address.baseUrl.href, address.apiKey, subject.target, subject.parameters.branch]
  }
  const URL_OF_IT = 'http://127.0.0.1:8080/'
  const SHOP = { kind: 'project', id: 'shop' }
  const COMMIT = 'a'.repeat(40)

  it('stands for the inputs of a step that has none', () => {
    expect(used({})).toEqual([URL_OF_IT, 'key-of-service', SHOP, COMMIT])
  })

  it('may have announced only some of the variables', () => {
    const some = { ...ANNOUNCED, TEST_RUN_SERVICE_PROJECT: undefined, TEST_RUN_SERVICE_COMMIT: '' }
    expect(used({}, some)).toEqual([expect.stringContaining('give exactly one')])
    expect(used({ project: 'web-shop' }, some)).toEqual([URL_OF_IT, 'key-of-service', TARGET, 'main'])
  })

  it.each([
    ['project', 'web-shop', ['key-of-service', TARGET, COMMIT]],
    ['test-suite', 'smoke', ['key-of-service', { kind: 'test-suite', id: 'smoke' }, COMMIT]],
    ['branch', 'next', ['key-of-service', SHOP, 'next']],
  ])('gives way to the input %s', (name, value, expected) => {
    expect(used({ [name]: value })).toEqual([URL_OF_IT, ...expected])
  })

  it('is not read at all if base-url is given, so that no other service gets what belongs to it', () => {
    expect(used(ENOUGH)).toEqual(['https://tests.example.com/', 'key-1', TARGET, 'main'])
    expect(used({ 'base-url': 'https://tests.example.com' })).toEqual([
      `Input api-key is empty. ${EMPTY_KEY}`,
      expect.stringMatching(/^Inputs project \(""\) and test-suite \(""\): give exactly one/),
    ])
  })

  it.each([
    ['TEST_RUN_SERVICE_URL', 'http://tests.example.com', ': "http://tests.example.com" is not accepted.'],
    ['TEST_RUN_SERVICE_KEY', 'two words', ' contains white space or non-ASCII characters,'],
    ['TEST_RUN_SERVICE_PROJECT', '..', ': ".." cannot be an id,'],
    ['TEST_RUN_SERVICE_COMMIT', 'b'.repeat(256), `: "${'b'.repeat(256)}" has 256 characters.`],
  ])('is refused with the name of the variable: %s', (name, value, what) => {
    const { problems } = reading({}, { ...ANNOUNCED, [name]: value })
    expect(problems).toEqual([expect.stringContaining(`Environment variable ${name}${what}`)])
    expect(problems.join()).not.toContain('two words')
  })

  const BOTH_WAYS =
    'and no earlier step has announced a service. Set the input base-url to the address of the service, such as https://tests.example.com, or add a step with the local service before this step.'

  it('gets no key that the user gives without base-url, because an earlier step chose the address', () => {
    expect(used({ 'api-key': 'key-1' })).toEqual([
      'Input api-key is given without the input base-url, so the key would go to the service at "http://127.0.0.1:8080", which an earlier step or the workflow has announced. Give base-url too, or remove api-key.',
    ])
    const withToken = { ...ANNOUNCED, TEST_RUN_SERVICE_URL: 'http://ann:hunter2@127.0.0.1?t=hunter2' }
    expect(used({ 'api-key': 'key-1' }, withToken).join()).not.toContain('hunter2')
  })

  it.each([
    {},
    { project: 'shop' },
    { 'api-key': '', 'test-suite': 'smoke' },
  ])('is one of two ways to a service, and one message names both and why a fork has none: %j', (given) => {
    expect(used(given, {})).toEqual([
      `Input base-url is empty, ${BOTH_WAYS} A service of your own also needs a key. ${EMPTY_KEY}`,
    ])
  })

  it('is all that is asked for if there is a key, and neither a service nor a project', () => {
    expect(used({ 'api-key': 'key-1' }, {})).toEqual([`Input base-url is empty, ${BOTH_WAYS}`])
  })

  it('is missing, and what is invalid besides is still named', () => {
    expect(used({ 'api-key': 'two words', project: 'a', 'test-suite': 'b' }, {})).toEqual([
      expect.stringMatching(/^Input base-url is empty/),
      expect.stringMatching(/^Input api-key contains/),
      expect.stringMatching(/^Inputs project/),
    ])
  })
})

describe('project and test-suite', () => {
  it('name what to run, as written', () => {
    expect(inputsOf({ project: 'web shop/1' }).subject.target).toEqual({ kind: 'project', id: 'web shop/1' })
    const suite = { project: '', 'test-suite': 'smoke' }
    expect(inputsOf(suite).subject.target).toEqual({ kind: 'test-suite', id: 'smoke' })
  })

  it.each([
    [{ 'test-suite': 'smoke' }, 'project ("web-shop") and test-suite ("smoke")'],
    [{ project: '' }, 'project ("") and test-suite ("")'],
  ])('must not be given as %j', (given, named) => {
    expect(problemsOf(given)).toEqual([
      `Inputs ${named}: give exactly one of them. The input project takes the id of the project whose tests you want to run. The local service lists the ids of its projects in the log of its step.`,
    ])
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
    const problem = `Input ${name}: "true" cannot be combined with test-suite, because a test suite has no such setting. Leave the input ${name} empty, or give project instead of test-suite.`
    const given = { project: '', 'test-suite': 'smoke', [name]: 'true' }
    expect(problemsOf(given)).toEqual([problem])
    const withBadKey = problemsOf({ ...given, 'api-key': 'two words' })
    expect(withBadKey).toEqual([expect.stringMatching(/^Input api-key contains/), problem])
  })
})

it('branch may have up to 255 characters', () => {
  const branch = '🌱'.repeat(255)
  expect(inputsOf({ branch }).subject.parameters.branch).toBe(branch)
  expect(problemsOf({ branch: `b${branch}` })).toEqual([
    `Input branch: "b${branch}" has 256 characters. The service takes 1 to 255.`,
  ])
})

describe('the source of the tested commit', () => {
  const SHA = workflowEvent('push', ON_DEFAULT_BRANCH).event.commit
  const OTHER = '1b'.repeat(20)
  const announced = { TEST_RUN_SERVICE_URL: 'http://127.0.0.1:1', TEST_RUN_SERVICE_KEY: 'a-key-of-the-service' }
  const nothing = { 'base-url': '', 'api-key': '' }
  const sourceOf = (given: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = {}) =>
    reading({ ...ENOUGH, ...given }, variables).inputs?.subject.sourceUrl

  it.each([
    ['the commit that the user gives', { branch: OTHER }, OTHER],
    ['the commit that the user gives for the run of another step', { branch: OTHER, 'run-id': 'run-7' }, OTHER],
    ["the event's commit if the user gives no branch", {}, SHA],
  ])('is that of %s', (_, given, commit) => {
    expect(sourceOf(given)).toBe(`https://github.com/shop/shop/blob/${commit}`)
  })

  it('is unknown if the user gives a branch, if the commit has no full hash, or if the repository is unknown', () => {
    expect(sourceOf({ branch: 'main' })).toBeUndefined()
    expect(sourceOf({ branch: OTHER.slice(1) })).toBeUndefined()
    expect(sourceOf({}, { GITHUB_REPOSITORY: '' })).toBeUndefined()
  })

  it('is unknown if another step or workflow run has started the run, which may be of any commit', () => {
    expect(sourceOf({ 'run-id': 'run-7' })).toBeUndefined()
    expect(sourceOf({ 'run-id': 'run-7', branch: 'main' })).toBeUndefined()
    const withCommit = { ...announced, TEST_RUN_SERVICE_COMMIT: OTHER }
    expect(sourceOf({ ...nothing, 'run-id': 'run-7' }, withCommit)).toBeUndefined()
  })

  it('is unknown if the announced service cannot say it, because the event may be of another commit', () => {
    expect(sourceOf(nothing, announced)).toBe(`https://github.com/shop/shop/blob/${SHA}`)
    expect(sourceOf(nothing, { ...announced, TEST_RUN_SERVICE_COMMIT: '' })).toBeUndefined()
    expect(sourceOf({}, { ...announced, TEST_RUN_SERVICE_COMMIT: '' })).toBe(`https://github.com/shop/shop/blob/${SHA}`)
  })
})

describe('run-url', () => {
  const pageOf = (template: string, runId = 'r/1') => inputsOf({ 'run-url': template }).settings.runUrlOf?.(runId)

  it.each([
    ['https://app.example.com/p/web-shop/runs/{run-id}', 'https://app.example.com/p/web-shop/runs/r%2F1'],
    ['https://app.example.com:8443/?run={run-id}&p=1', 'https://app.example.com:8443/?run=r%2F1&p=1'],
    ['https://app.example.com/?run={run-id}&next=//a@b', 'https://app.example.com/?run=r%2F1&next=//a@b'],
    ['https://app.example.com#/runs/{run-id}', 'https://app.example.com/#/runs/r%2F1'],
    ['HTTPS://App.Example.com:443/a/../{run-id}?q="é"', 'https://app.example.com/r%2F1?q=%22%C3%A9%22'],
    ["https://app.example.com/!/('*)/{run-id}?'#!", 'https://app.example.com/%21/%28%27%2A%29/r%2F1?%27#%21'],
    ['http://127.0.0.1:8080/{run-id}', 'http://127.0.0.1:8080/r%2F1'],
  ])('%s is filled in, percent-encoded', (template, url) => {
    expect(pageOf(template)).toBe(url)
  })

  const EXAMPLE = 'Give an address such as https://app.example.com/p/web-shop/runs/{run-id}.'
  const NO_ADDRESS =
    'is not accepted. It must be an absolute address that has {run-id} once, after the host, and no other braces.'

  it.each([
    ['https://app.example.com/{run}/{run-id}', NO_ADDRESS],
    ['https://app.example.com/', NO_ADDRESS],
    ['https://app.example.com/{run-id}/{run-id}', NO_ADDRESS],
    ['https://{run-id}.example.com/', NO_ADDRESS],
    ['{run-id}', NO_ADDRESS],
    ['https://app.example.com/{{run-id}}', NO_ADDRESS],
    ['https://app.example.com{run-id}', NO_ADDRESS],
    ['https://***@app.example.com/{run-id}', 'has credentials in it. Remove them.', 'ann:hunter2'],
    ['http://app.example.com/{run-id}', NOT_SECURE],
  ])('%s %s', (shown, what, credentials = '') => {
    expect(problemsOf({ 'run-url': shown.replace('***', credentials) })).toEqual([
      `Input run-url: "${shown}" ${what} ${EXAMPLE}`,
    ])
  })
})

describe('run-id', () => {
  it('is waited for, and not cancelled unless cancel-on-abort is true', () => {
    expect(inputsOf({ 'run-id': 'r-1' }).settings).toMatchObject({ runId: 'r-1', mayCancel: false })
    const asked = { 'run-id': 'r-1', 'cancel-on-abort': 'true' }
    expect(inputsOf(asked).settings).toMatchObject({ runId: 'r-1', mayCancel: true })
  })

  it('keeps comments of several environments apart, although the step starts no run', () => {
    const { subject, comment } = inputsOf({ 'run-id': 'r-1', environment: 'staging', 'framework-project': 'e2e' })
    expect(subject.parameters).toEqual({})
    expect(comment.belongsTo).toEqual(['', 'project', 'web-shop', 'staging', 'e2e'])
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
})

describe('a choice', () => {
  it.each(['summary', 'comment'])('%s has one word for each meaning', (name) => {
    for (const word of ['true', 'false', 'on failure']) {
      const message = `Input ${name}: "${word}" is not accepted. Give always, on-failure or never.`
      expect(problemsOf({ [name]: word })).toEqual([message])
    }
    expect(problemsOf({ annotations: 'never' })).toEqual([
      'Input annotations: "never" is not accepted. Give true or false.',
    ])
  })

  it.each(['always', 'on-failure', 'never'])('%s is such a word, for the summary and the comment', (word) => {
    const inputs = inputsOf({ summary: word, comment: word.toUpperCase(), 'github-token': 'ghs_token' })
    expect([inputs.settings.reports.summary, inputs.comment.when]).toEqual([word, word])
  })
})

it.each([
  ['reports', join(WORKSPACE, 'reports')],
  ['../reports', join(WORKSPACE, '../reports')],
  [resolve('/anywhere/else'), resolve('/anywhere/else')],
])('the path %s is relative to the workspace, or absolute', (given, path) => {
  const { reportDir, baselinePath } = inputsOf({ 'report-dir': given, baseline: given })
  expect([reportDir, baselinePath]).toEqual([path, path])
})

it('an input that has the key in it is refused, and no message shows the key', () => {
  const key = 'tops3cret'
  const given = { 'api-key': key, 'env-overrides': `KEY=${key}`, 'github-token': key }
  expect(problemsOf(given)).toEqual([])
  const inputs = ['project', 'run-url'].map((name) => `Input ${name}`)
  const others = {
    project: key,
    'test-suite': 'a',
    'run-url': `https://a.example/${key}/{run-id}`,
    'timeout-minutes': '-1',
    // A message has only the beginning of a long value, and so could have a part of the key.
    summary: `${'x'.repeat(495)}${key}`,
  }
  expect(problemsOf({ ...given, ...others })).toEqual([
    ...inputs.map((name) =>
      expect.stringMatching(`^${name} has the API key in it, which the log and the reports would`),
    ),
    // Of the project and the test suite, only one may be given.
    'A problem with an input is not shown, because it has the API key in it.',
    expect.stringMatching(/^Input timeout-minutes: "-1" is not accepted/),
    expect.stringMatching(/^Input summary has the API key in it/),
  ])
  // A shorter key may occur in other words.
  expect(problemsOf({ 'api-key': 'short', 'timeout-minutes': 'short' })).toEqual([expect.stringContaining('"short"')])
})

it('inputs that are invalid are all reported at once', () => {
  const numbers = ['timeout-minutes', 'poll-interval-seconds']
  const choices = ['wait', 'cancel-on-abort', 'pass-with-no-tests', 'show-output', 'summary', 'annotations', 'comment']
  const names = ['base-url', 'run-id', 'env-overrides', 'autofix', 'strict', 'run-url', ...numbers, ...choices]
  const given = { 'api-key': '', project: '', ...Object.fromEntries(names.map((name) => [name, '?'])) }
  const named = problemsOf(given).map((message) => /^Inputs? ([a-z-]+)/.exec(message)?.[1])
  expect(named.toSorted()).toEqual(Object.keys(given).toSorted())
})
