import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { withTables } from '../scripts/readme-tables.ts'
import { readEvent } from '../src/github/event.ts'
import { readInputs } from '../src/github/inputs.ts'
import { readJob } from '../src/github/job.ts'
import { inputVariables, linesWrittenBy } from './support/process-effects.ts'

// What the action promises its users, written down a second time by hand: names and defaults are fixed, and a change
// here is a new major version.

const root = join(import.meta.dirname, '..')
const actionYml = readFileSync(join(root, 'action.yml'), 'utf8')
const action = parse(actionYml)

/** Every input, in its order, with its default; `undefined` if it has none. */
const INPUTS = {
  'base-url': undefined,
  'api-key': undefined,
  project: undefined,
  'test-suite': undefined,
  // The branch of the event, which test/github/branch.test.ts tells for each.
  branch: '@{event}',
  environment: undefined,
  'framework-project': undefined,
  'env-overrides': undefined,
  autofix: undefined,
  'run-id': undefined,
  wait: 'true',
  'timeout-minutes': '60',
  'queue-timeout-minutes': undefined,
  'poll-interval-seconds': undefined,
  'cancel-on-abort': undefined,
  'pass-with-no-tests': 'false',
  summary: 'always',
  annotations: 'true',
  comment: 'never',
  'comment-key': undefined,
  'run-url': undefined,
  'report-dir': undefined,
  'github-token': expression('github.token'),
  'run-group': undefined,
  matrix: expression('toJSON(matrix)'),
  'check-run-id': expression('job.check_run_id'),
}

const OUTPUTS = [
  'run-id',
  'run-url',
  'job-url',
  'status',
  'conclusion',
  ...['total', 'passed', 'failed', 'flaky', 'skipped', 'other'],
  'duration-ms',
  'report-dir',
  'comment-url',
]

function expression(text: string): string {
  return `\${{ ${text} }}`
}

/** What action.yml says under one key of each input, by the input's name, if it says anything. */
function declared(key: string): Record<string, unknown> {
  const entries = Object.entries<Record<string, unknown>>(action.inputs).map(
    ([name, input]) => [name, input[key]] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

describe('action.yml', () => {
  it('runs main, and post always, on Node 24', () => {
    expect(action.runs).toEqual({
      using: 'node24',
      main: 'dist/main/index.js',
      post: 'dist/post/index.js',
      'post-if': 'always()',
    })
  })

  it('declares the inputs of the contract, in their order', () => {
    expect(Object.keys(action.inputs)).toEqual(Object.keys(INPUTS))
  })

  it('gives them the defaults of the contract, as texts', () => {
    expect(declared('default')).toEqual(JSON.parse(JSON.stringify(INPUTS)))
  })

  it('requires the address and the key', () => {
    expect(declared('required')).toEqual({ 'base-url': true, 'api-key': true })
  })

  it('has GitHub warn of what is deprecated', () => {
    expect(declared('deprecationMessage')).toEqual({
      'run-group': expect.stringMatching(/deprecated.*framework-project/s),
    })
  })

  it('declares the outputs of the contract, in their order', () => {
    expect(Object.keys(action.outputs)).toEqual(OUTPUTS)
  })
})

describe('the code', () => {
  it('does for an empty input what it does for the default that action.yml has, but for the branch', () => {
    const constants = Object.entries(declared('default')).filter(
      ([name, text]) => name !== 'branch' && !String(text).includes('${{'),
    )
    const enough = { 'base-url': 'https://tests.example.com', 'api-key': 'key', project: 'p' }
    const read = (given: object) => {
      let inputs: unknown
      linesWrittenBy(() => {
        inputs = readInputs(inputVariables({ ...enough, ...given }), readEvent({}))
      })
      return inputs
    }
    expect(constants.length).toBeGreaterThan(5)
    expect(read({})).toEqual(read(Object.fromEntries(constants)))
  })

  it('reads every input that is declared, and no other', () => {
    expect(inputsRead()).toEqual(new Set(Object.keys(action.inputs)))
  })

  it('sets every output that is declared, and no other', () => {
    const source = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
    const literal = source.flatMap((text) => [...text.matchAll(/\bsetOutput\('([\w-]+)'/g)].map(([, name]) => name))
    // The counts are set by a loop over their names.
    expect(new Set([...literal, 'total', 'passed', 'failed', 'flaky', 'skipped', 'other'])).toEqual(new Set(OUTPUTS))
  })
})

describe('the README', () => {
  it('has the tables of action.yml: "npm run readme" writes them', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    expect(withTables(readme, actionYml)).toBe(readme)
  })
})

/** The names of the inputs whose variables main looks at, wherever in the code that is. */
function inputsRead(): Set<string> {
  const enough = { 'base-url': 'https://tests.example.com', 'api-key': 'key', project: 'p', 'run-id': 'r-1' }
  const github = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'shop/shop', GITHUB_RUN_ID: '7' }
  const read = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    { ...github, ...inputVariables(enough) },
    {
      get(target, name: string) {
        if (name.startsWith('INPUT_')) read.add(name.slice('INPUT_'.length).toLowerCase())
        return target[name]
      },
    },
  )
  linesWrittenBy(() => {
    readJob(env)
    readInputs(env, readEvent(env))
  })
  return read
}
