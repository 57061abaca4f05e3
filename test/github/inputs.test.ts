import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventPayload } from '../../src/github/event.ts'
import {
  DEFAULTS,
  type Inputs,
  InvalidInputsError,
  isInside,
  readInputs,
  readServiceInputs,
  type ServiceInputs,
} from '../../src/github/inputs.ts'
import { render } from '../../src/report/safe-text.ts'
import { inputVariables, linesWrittenBy, withEnvironment } from '../support/process-effects.ts'

const ENOUGH = { 'base-url': 'https://tests.example.com', 'api-key': 'key-1', project: 'web-shop' }

interface Step {
  readonly env?: Readonly<Record<string, string>>
  readonly event?: EventPayload
}

const WORKSPACE = resolve('/home/runner/work/shop/shop')
const TEMP = resolve('/home/runner/work/_temp')

/** Reads inputs as a step has them, and gives back what the step wrote meanwhile. */
function reading<T>(
  read: (env: Readonly<Record<string, string>>, event: EventPayload) => T,
  given: Readonly<Record<string, string>>,
  { env = {}, event = {} }: Step,
): { readonly inputs?: T; readonly wrong: string[]; readonly lines: string[] } {
  let inputs: T | undefined
  let wrong: string[] = []
  const lines = linesWrittenBy(() =>
    withEnvironment(inputVariables(given), () => {
      try {
        inputs = read({ GITHUB_WORKSPACE: WORKSPACE, RUNNER_TEMP: TEMP, GITHUB_REPOSITORY: 'shop/shop', ...env }, event)
      } catch (error) {
        if (!(error instanceof InvalidInputsError)) throw error
        expect(error.message).toBe(error.sentences.map(render).join(' '))
        wrong = error.sentences.map(render)
      }
    }),
  )
  return { ...(inputs === undefined ? {} : { inputs }), wrong, lines }
}

/** The inputs, given those that every step needs and these. */
function inputsOf(given: Readonly<Record<string, string>> = {}, step: Step = {}): Inputs {
  const { inputs, wrong } = reading(readInputs, { ...ENOUGH, ...given }, step)
  expect(wrong).toEqual([])
  return inputs as Inputs
}

/** The sentences about what is wrong, given those inputs that every step needs and these. */
function wrongOf(given: Readonly<Record<string, string>>, step: Step = {}): string[] {
  return reading(readInputs, { ...ENOUGH, ...given }, step).wrong
}

describe('a step with what it needs and nothing else', () => {
  it('has the defaults for all that is empty', () => {
    expect(inputsOf()).toEqual({
      baseUrl: new URL('https://tests.example.com/'),
      request: {
        target: { kind: 'project', projectId: 'web-shop' },
        parameters: {},
        wait: true,
        waitLimitMs: 3_600_000,
        cancelOnAbort: true,
        passWithNoTests: false,
        reports: { apiKey: 'key-1', summary: 'always', annotations: true },
      },
      comment: { when: 'never', key: '', matrix: '', token: '' },
      ignored: [],
    })
  })

  it('has the same as with the defaults written out', () => {
    expect(inputsOf(DEFAULTS)).toEqual(inputsOf())
  })

  it('has no input that is only blanks', () => {
    const blank = Object.fromEntries(
      ['branch', 'environment', 'autofix', 'run-id', 'report-dir'].map((name) => [name, ' \n']),
    )
    expect(inputsOf(blank)).toEqual(inputsOf())
  })
})

describe('all that a step may be told', () => {
  it('is read into one value', () => {
    const inputs = inputsOf({
      'base-url': 'https://tests.example.com/api/',
      branch: 'feature/pay',
      environment: 'staging',
      'framework-project': 'unit, e2e',
      'run-group': 'nightly',
      'env-overrides': 'A=1\nB=two',
      autofix: 'false',
      wait: 'false',
      'timeout-minutes': '1.5',
      'poll-interval-seconds': '0.05',
      'cancel-on-abort': 'false',
      'pass-with-no-tests': 'true',
      summary: 'on-failure',
      annotations: 'false',
      'report-dir': 'reports/run',
      comment: 'always',
      'comment-key': 'unit',
      matrix: '{"os":"linux"}',
      'github-token': 'ghs_token',
    })
    expect(inputs).toEqual({
      baseUrl: new URL('https://tests.example.com/api/'),
      request: {
        target: { kind: 'project', projectId: 'web-shop' },
        parameters: {
          branch: 'feature/pay',
          environment: 'staging',
          frameworkProject: 'unit, e2e',
          runGroup: 'nightly',
          envOverrides: { A: '1', B: 'two' },
          autofix: false,
        },
        wait: false,
        waitLimitMs: 90_000,
        pollIntervalMs: 50,
        cancelOnAbort: false,
        passWithNoTests: true,
        reports: { apiKey: 'key-1', summary: 'on-failure', annotations: false },
      },
      reportDir: join(WORKSPACE, 'reports/run'),
      comment: { when: 'always', key: 'unit', matrix: '{"os":"linux"}', token: 'ghs_token' },
      ignored: [],
    })
  })
})

describe('base-url', () => {
  it.each([
    ['https://tests.example.com', 'https://tests.example.com/'],
    ['https://tests.example.com:8443/a/prefix/', 'https://tests.example.com:8443/a/prefix/'],
    ['HTTPS://Tests.Example.com/A', 'https://tests.example.com/A'],
    ['  https://tests.example.com\n', 'https://tests.example.com/'],
    ['https://tests.example.com/@team', 'https://tests.example.com/@team'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['http://127.9.8.7', 'http://127.9.8.7/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
  ])('%j is accepted', (given, url) => {
    expect(inputsOf({ 'base-url': given }).baseUrl.href).toBe(url)
  })

  it('is required', () => {
    expect(wrongOf({ 'base-url': '' })).toEqual([
      'Input base-url is empty. Give the address of the service, such as https://tests.example.com.',
    ])
  })

  it.each([
    'tests.example.com',
    '//tests.example.com',
    '/v1',
    'https://',
    'https://tests.example.com/a b',
    'https://a\\b',
  ])('%j is no address', (given) => {
    expect(wrongOf({ 'base-url': given })).toEqual([
      `Input base-url: "${given}" is not an absolute address. Give the address of the service, such as https://tests.example.com.`,
    ])
  })

  it.each([
    'http://tests.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.1',
    'http://[::2]',
    'ftp://tests.example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('%j is refused, since the key may travel over https alone', (given) => {
    expect(wrongOf({ 'base-url': given })).toEqual([
      `Input base-url: "${given}" is not accepted. The key may travel over https: only (http: only to this machine, such as http://127.0.0.1:8080).`,
    ])
  })

  it.each([
    ['https://ann:hunter2@tests.example.com/x', 'https://***@tests.example.com/x'],
    ['https://hunter2@tests.example.com', 'https://***@tests.example.com'],
    ['https://@tests.example.com', 'https://***@tests.example.com'],
    ['http://localhost:hunter2@tests.example.com', 'http://***@tests.example.com'],
    ['https:ann:hunter2@tests.example.com', 'https:***@tests.example.com'],
    ['https:/ann:hunter2@tests.example.com', 'https:/***@tests.example.com'],
    ['https:///ann:hunter2@tests.example.com', 'https:///***@tests.example.com'],
    ['https://ann:hun@ter2@tests.example.com', 'https://***@tests.example.com'],
  ])('%j has credentials, which are refused and not shown', (given, shown) => {
    expect(wrongOf({ 'base-url': given })).toEqual([
      `Input base-url: "${shown}" has credentials in it. Remove them; the key goes into api-key.`,
    ])
  })

  it.each([
    ['https://tests.example.com?key=hunter2', 'https://tests.example.com?***'],
    ['https://tests.example.com/x?', 'https://tests.example.com/x?***'],
    ['https://tests.example.com/#hunter2?', 'https://tests.example.com/#***'],
  ])('%j has a query or a fragment, which is refused and not shown', (given, shown) => {
    expect(wrongOf({ 'base-url': given })).toEqual([
      `Input base-url: "${shown}" has a query or a fragment. Give the address without it.`,
    ])
  })

  it('shows no secret wherever in it one stands, and whatever else is wrong', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'a:/@?# %\\.[]\n'), maxLength: 6 })
    const scheme = fc.constantFrom('', 'https:', 'https:/', 'https://', 'http://', 'ftp://', '//')
    fc.assert(
      fc.property(scheme, noise, noise, fc.constantFrom('@tests.example.com', '@'), (start, before, after, host) => {
        const given = `${start}${before}hunter2${after.replaceAll('\n', '')}${host}`
        for (const sentence of wrongOf({ 'base-url': given })) expect(sentence).not.toContain('hunter2')
      }),
      { numRuns: 300 },
    )
  })
})

describe('api-key', () => {
  it('is masked before anything else is said', () => {
    const { lines } = reading(readInputs, { ...ENOUGH, 'api-key': ' s3cret\n', 'github-token': 'ghs_1', wait: 'x' }, {})
    expect(lines).toEqual(['::add-mask::s3cret', '::add-mask::ghs_1'])
  })

  it('is sent without the blanks around it', () => {
    expect(inputsOf({ 'api-key': ' s3cret\n' }).request.reports.apiKey).toBe('s3cret')
  })

  it.each([
    'two words',
    'line\nbreak',
    'schlüssel',
    'tab\tbed',
    'bell\u0007',
  ])('%j cannot be sent, is masked and not shown', (key) => {
    const { wrong, lines } = reading(readInputs, { ...ENOUGH, 'api-key': key }, {})
    expect(wrong).toEqual([
      'Input api-key: the value has a blank, a line break or a character outside ASCII in it, so it cannot be sent as a Bearer token. Copy the key again, in one line.',
    ])
    expect(lines).toEqual([`::add-mask::${key.replace('\n', '%0A')}`])
  })

  it('is required', () => {
    expect(wrongOf({ 'api-key': ' ' }, { env: { GITHUB_EVENT_NAME: 'push' } })).toEqual([
      `Input api-key is empty. Create a key in the team API keys setting of your organisation at the service, store it as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
    ])
  })

  it('is missing on a pull request from a fork, as the sentence explains', () => {
    const event = { pull_request: { head: { ref: 'patch-1', repo: { id: 2 } }, base: { repo: { id: 1 } } } }
    expect(wrongOf({ 'api-key': '' }, { env: { GITHUB_EVENT_NAME: 'pull_request' }, event })).toEqual([
      'Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets. Skip this step for forks, for example with if: github.event.pull_request.head.repo.full_name == github.repository, or have a maintainer push the branch to this repository.',
    ])
  })

  it('is missing on a pull request by Dependabot, as the sentence explains', () => {
    const event = { pull_request: { user: { login: 'dependabot[bot]' } } }
    const env = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_ACTOR: 'ann' }
    expect(wrongOf({ 'api-key': '' }, { env, event })).toEqual([
      "Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip this step with if: github.event.pull_request.user.login != 'dependabot[bot]'.",
    ])
  })
})

describe('project and test-suite', () => {
  it('name what is to be run, as written', () => {
    expect(inputsOf({ project: 'web shop/1' }).request.target).toEqual({ kind: 'project', projectId: 'web shop/1' })
    const suite = { project: '', 'test-suite': 'smoke' }
    expect(inputsOf(suite).request.target).toEqual({ kind: 'test-suite', testSuiteId: 'smoke' })
  })

  it('cannot both be given', () => {
    expect(wrongOf({ 'test-suite': 'smoke' })).toEqual([
      'Inputs project ("web-shop") and test-suite ("smoke") are both given. Give exactly one of them.',
    ])
  })

  it('cannot both be empty', () => {
    expect(wrongOf({ project: '' })).toEqual([
      'Inputs project and test-suite are both empty. Give exactly one of them: project is the id of the project whose tests to run.',
    ])
  })

  it.each([
    [{ project: '.' }, 'project: "."'],
    [{ project: '..' }, 'project: ".."'],
    [{ project: '', 'test-suite': '..' }, 'test-suite: ".."'],
  ])('cannot be what a path would swallow: %j', (given, named) => {
    expect(wrongOf(given)).toEqual([
      `Input ${named} cannot be an id, since it would change the address of the request. Give the id as the service shows it.`,
    ])
  })

  it.each(['framework-project', 'run-group', 'autofix'])('test-suite does not go with %s', (name) => {
    expect(wrongOf({ project: '', 'test-suite': 'smoke', [name]: 'true' })).toEqual([
      `Input ${name}: "true" does not go with test-suite, whose workflow has no such setting. Leave it empty, or give project instead of test-suite.`,
    ])
  })

  it('test-suite goes with the rest of an parameters', () => {
    const parameters = { branch: 'main', environment: 'staging', 'env-overrides': 'A=1' }
    expect(inputsOf({ project: '', 'test-suite': 'smoke', ...parameters }).request.parameters).toEqual({
      branch: 'main',
      environment: 'staging',
      envOverrides: { A: '1' },
    })
  })
})

describe('branch', () => {
  it.each(['b'.repeat(255), '🌱'.repeat(255)])('may have 255 characters', (branch) => {
    expect(inputsOf({ branch }).request.parameters.branch).toBe(branch)
  })

  it('may not have 256', () => {
    const branch = 'b'.repeat(256)
    expect(wrongOf({ branch })).toEqual([`Input branch: "${branch}" has 256 characters. The service takes 1 to 255.`])
  })

  const fork = { repository: { id: 1, full_name: 'shop/shop' } }
  const pullRequest = {
    ...fork,
    pull_request: { head: { ref: 'patch-1', repo: { id: 2 } }, base: { repo: { id: 1 } } },
  }
  const workflowRun = { ...fork, workflow_run: { head_branch: 'patch-1', head_repository: { id: 2 } } }

  it.each([
    ['pull_request', pullRequest],
    ['pull_request_target', pullRequest],
    ['workflow_run', workflowRun],
  ])('of a fork is refused in the event %s', (name, event) => {
    const step = { env: { GITHUB_EVENT_NAME: name }, event }
    expect(wrongOf({ branch: 'patch-1' }, step)).toEqual([
      'Input branch: "patch-1" is a branch of a fork. The service would look for a branch of that name in its own repository and test the wrong code. Skip this step for forks, or give another branch.',
    ])
    expect(wrongOf({ branch: 'refs/heads/patch-1' }, step)).toHaveLength(1)
    expect(inputsOf({ branch: 'main' }, step).request.parameters.branch).toBe('main')
    expect(inputsOf({ branch: '' }, step).request.parameters).toEqual({})
    expect(inputsOf({ branch: 'patch-1', 'run-id': 'r-1' }, step).request.runId).toBe('r-1')
  })
})

describe('framework-project', () => {
  it.each([
    ['unit', 'unit'],
    [' unit, "e 2 e" ', ' unit, "e 2 e" '],
    ['unit\n', 'unit'],
    ['unit\r\ne2e\r\n', 'unit\r\ne2e'],
    [' \n', undefined],
  ])('given as %j is sent as %j', (given, sent) => {
    expect(inputsOf({ 'framework-project': given }).request.parameters.frameworkProject).toBe(sent)
  })
})

describe('run-id', () => {
  it('is waited for, and not cancelled unless that is asked for', () => {
    expect(inputsOf({ 'run-id': 'r-1' }).request).toMatchObject({ runId: 'r-1', cancelOnAbort: false })
    const asked = { 'run-id': 'r-1', 'cancel-on-abort': 'true' }
    expect(inputsOf(asked).request).toMatchObject({ runId: 'r-1', cancelOnAbort: true })
  })

  it.each(['a b', '..', 'x'.repeat(257), 'id\nwith=a line'])('%j is none', (runId) => {
    expect(wrongOf({ 'run-id': runId })).toEqual([
      `Input run-id: "${runId.replace('\n', ' ')}" cannot be a run's id. Give 1 to 256 letters, digits and . _ ~ : = + / @ -, as the output run-id of the step that started the run has it.`,
    ])
  })

  it('does not go with wait: false', () => {
    expect(wrongOf({ 'run-id': 'r-1', wait: 'false' })).toEqual([
      'Input wait: "false" does not go with run-id. Leave one of them empty.',
    ])
  })

  it('leaves what belongs to a start without effect, which is told but for the branch that has a default', () => {
    const parameters = { branch: 'main', environment: 'staging', 'run-group': 'g', autofix: 'true' }
    expect(inputsOf({ 'run-id': 'r-1', ...parameters }).ignored).toEqual(['environment', 'run-group', 'autofix'])
    expect(inputsOf(parameters).ignored).toEqual([])
  })
})

describe('a choice of true and false', () => {
  const NAMES = ['autofix', 'wait', 'cancel-on-abort', 'pass-with-no-tests', 'annotations']

  it.each(NAMES)('%s is read in any case of letters', (name) => {
    for (const text of ['true', 'True', 'TRUE'])
      expect(inputsOf({ [name]: text })).toEqual(inputsOf({ [name]: 'true' }))
    for (const text of ['false', 'False']) expect(inputsOf({ [name]: text })).toEqual(inputsOf({ [name]: 'false' }))
    expect(inputsOf({ [name]: 'true' })).not.toEqual(inputsOf({ [name]: 'false' }))
  })

  it.each(
    NAMES.flatMap((name) => ['yes', '1', 'truefalse', 'null'].map((text) => [name, text] as const)),
  )('%s is not %s', (name, text) => {
    expect(wrongOf({ [name]: text })).toEqual([`Input ${name}: "${text}" is neither true nor false.`])
  })

  it('of autofix has a third state, in which nothing is sent', () => {
    const autofix = (text: string) => inputsOf({ autofix: text }).request.parameters
    expect([autofix(''), autofix('true'), autofix('false')]).toEqual([{}, { autofix: true }, { autofix: false }])
  })
})

describe('a number', () => {
  it.each([
    ['60', 3_600_000],
    ['0.5', 30_000],
    ['.25', 15_000],
    ['2.', 120_000],
    ['35000', 2_100_000_000],
    ['0.001', 60],
  ])('of %s minutes is waited', (text, ms) => {
    expect(inputsOf({ 'timeout-minutes': text }).request.waitLimitMs).toBeCloseTo(ms)
  })

  it.each([
    '0',
    '-1',
    '35000.1',
    '1e3',
    'NaN',
    'Infinity',
    '0x10',
    '1,5',
    '35,000',
    '5 m',
    '１',
  ])('of %s minutes is not accepted', (text) => {
    expect(wrongOf({ 'timeout-minutes': text })).toEqual([
      `Input timeout-minutes: "${text}" is not accepted. Give a number above 0 up to 35,000, such as 1 or 0.5.`,
    ])
  })

  it.each([
    ['0.05', 50],
    ['1', 1_000],
    ['3600', 3_600_000],
  ])('of %s seconds is paused between two polls', (text, ms) => {
    expect(inputsOf({ 'poll-interval-seconds': text }).request.pollIntervalMs).toBe(ms)
  })

  it.each(['0', '0.049', '3600.5', '-5', 'adaptive'])('of %s seconds is not accepted', (text) => {
    expect(wrongOf({ 'poll-interval-seconds': text })).toEqual([
      `Input poll-interval-seconds: "${text}" is not accepted. Give a number from 0.05 up to 3,600, such as 1 or 0.5.`,
    ])
  })

  it('is never one that a timer cannot count, whatever was given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String)), (text) => {
        const { inputs } = reading(
          readInputs,
          { ...ENOUGH, 'timeout-minutes': text, 'poll-interval-seconds': text },
          {},
        )
        if (inputs === undefined) return
        const { waitLimitMs, pollIntervalMs } = inputs.request
        expect(waitLimitMs).toBeGreaterThan(0)
        expect(waitLimitMs).toBeLessThan(2 ** 31)
        if (pollIntervalMs !== undefined) expect(pollIntervalMs).toBeGreaterThanOrEqual(50)
      }),
    )
  })
})

describe('a choice', () => {
  it.each([
    ['summary', 'Always', 'always, on-failure, never'],
    ['summary', 'true', 'always, on-failure, never'],
    ['comment', 'on failure', 'never, on-failure, always'],
  ])('%s is not %s', (name, text, accepted) => {
    expect(wrongOf({ [name]: text })).toEqual([`Input ${name}: "${text}" is not accepted. Give one of ${accepted}.`])
  })

  it.each(['always', 'on-failure', 'never'] as const)('is %s for the summary and the comment', (when) => {
    const inputs = inputsOf({ summary: when, comment: when })
    expect(inputs.request.reports.summary).toBe(when)
    expect(inputs.comment.when).toBe(when)
  })
})

describe('env-overrides', () => {
  it('is sent as names and values', () => {
    expect(inputsOf({ 'env-overrides': '{"A":1.0}' }).request.parameters.envOverrides).toEqual({ A: '1.0' })
  })

  it.each([
    'hunter2',
    '{"A":"hunter2"',
    '{"A":["hunter2"]}',
    'A=1\nhunter2',
  ])('is refused without a word of its values: %s', (text) => {
    const [sentence, ...others] = wrongOf({ 'env-overrides': text })
    expect(others).toEqual([])
    expect(sentence).toMatch(/^Input env-overrides/)
    expect(sentence).not.toContain('hunter2')
  })
})

describe('report-dir', () => {
  it.each([
    ['reports', join(WORKSPACE, 'reports')],
    ['./a/../b', join(WORKSPACE, 'b')],
    ['.', WORKSPACE],
    ['..reports', join(WORKSPACE, '..reports')],
    [join(WORKSPACE, 'x'), join(WORKSPACE, 'x')],
    [join(TEMP, 'x'), join(TEMP, 'x')],
  ])('%s is a folder of the step', (given, folder) => {
    expect(inputsOf({ 'report-dir': given }).reportDir).toBe(folder)
  })

  it.each(['..', '../reports', resolve('/etc'), 'a/../../b', `${WORKSPACE}-2`])('%s is none', (given) => {
    expect(wrongOf({ 'report-dir': given })).toEqual([
      `Input report-dir: "${given}" is outside the workspace and the runner's temporary folder. Give a folder inside one of them, such as test-reports.`,
    ])
  })

  it('is inside a folder by its way there, not by its first letters', () => {
    expect(isInside('/a/b', '/a/b')).toBe(true)
    expect(isInside('/a/b', '/a/b/c')).toBe(true)
    expect(isInside('/a/b', '/a/bc')).toBe(false)
    expect(isInside('/a/b', '/a')).toBe(false)
    expect(isInside('/', '/a')).toBe(true)
  })
})

describe('inputs that are wrong', () => {
  it('are all reported at once', () => {
    const sentences = wrongOf({
      'base-url': 'x',
      'api-key': '',
      project: '',
      'run-id': ' a b ',
      branch: 'b'.repeat(300),
      'env-overrides': '?',
      autofix: '?',
      wait: '?',
      'timeout-minutes': '?',
      'poll-interval-seconds': '?',
      'cancel-on-abort': '?',
      'pass-with-no-tests': '?',
      summary: '?',
      annotations: '?',
      comment: '?',
      'report-dir': '..',
    })
    const named = sentences.map((sentence) => /^Inputs? ([a-z-]+)/.exec(sentence)?.[1])
    expect(named.toSorted()).toEqual(
      [
        ...[
          'api-key',
          'base-url',
          'project',
          'run-id',
          'branch',
          'env-overrides',
          'autofix',
          'wait',
          'timeout-minutes',
        ],
        ...['poll-interval-seconds', 'cancel-on-abort', 'pass-with-no-tests', 'summary', 'annotations', 'comment'],
        'report-dir',
      ].toSorted(),
    )
  })

  it('are shown so that they are no command in the log', () => {
    const [sentence] = wrongOf({ wait: 'x\n::error::boo ##[group]' })
    expect(sentence).not.toMatch(/\n|##\[/)
  })

  it('never show the key', () => {
    const wrong = wrongOf({ 'api-key': 'hunter 2', 'base-url': 'x', wait: 'y' })
    expect(wrong).toHaveLength(3)
    expect(wrong.join(' ')).not.toContain('hunter')
  })
})

describe('post', () => {
  const read = (given: Readonly<Record<string, string>>) =>
    reading<ServiceInputs>(readServiceInputs, { ...ENOUGH, ...given }, {})

  it('reads how to reach the service and nothing else, and masks the key again', () => {
    const { inputs, lines } = read({ wait: 'nonsense', 'timeout-minutes': 'x' })
    expect(inputs).toEqual({
      baseUrl: new URL('https://tests.example.com/'),
      apiKey: 'key-1',
      target: { kind: 'project', projectId: 'web-shop' },
    })
    expect(lines).toEqual(['::add-mask::key-1'])
  })

  it('is told what is wrong with that', () => {
    expect(read({ 'base-url': '', 'api-key': '', project: '' }).wrong).toHaveLength(3)
  })
})
