import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { PAGES, withTables } from '../scripts/readme-tables.ts'
import { readEvent } from '../src/github/event.ts'
import { readJob } from '../src/github/job.ts'
import { readInputs } from '../src/inputs/inputs.ts'
import { inputVariables, linesWrittenBy } from './support/process-effects.ts'

// Repeats by hand what the action promises its users. Names and defaults are fixed, and a change here needs a new major
// version.

const root = join(import.meta.dirname, '..')
const actionYml = readFileSync(join(root, 'action.yml'), 'utf8')
const action = parse(actionYml)

/** Every input with its default, in the order of action.yml. `undefined` if the input has no default. */
const INPUTS = {
  'base-url': undefined,
  'api-key': undefined,
  project: undefined,
  'test-suite': undefined,
  // The branch of the event. test/inputs/branch.test.ts has the branch of every event.
  branch: undefined,
  environment: undefined,
  'framework-project': undefined,
  'env-overrides': undefined,
  autofix: undefined,
  'run-id': undefined,
  wait: 'true',
  'timeout-minutes': '60',
  'poll-interval-seconds': undefined,
  'cancel-on-abort': undefined,
  'pass-with-no-tests': 'false',
  strict: 'false',
  summary: 'always',
  annotations: 'true',
  'show-output': 'true',
  baseline: undefined,
  comment: 'never',
  'run-url': undefined,
  'report-dir': undefined,
  'github-token': undefined,
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
  'new-failures',
  ...['added', 'removed', 'newly-skipped'],
  'duration-ms',
  'report-dir',
  'comment-url',
]

function expression(text: string): string {
  return `\${{ ${text} }}`
}

function declared(key: string): Record<string, unknown> {
  const entries = Object.entries<Record<string, unknown>>(action.inputs).map(
    ([name, input]) => [name, input[key]] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

describe('action.yml', () => {
  it('runs main on Node 24, and always runs post', () => {
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

  it('has the defaults of the contract, as texts', () => {
    expect(declared('default')).toEqual(JSON.parse(JSON.stringify(INPUTS)))
  })

  it('requires no input, because an earlier step may have announced a service', () => {
    expect(declared('required')).toEqual({})
  })

  it('declares the outputs of the contract, in their order', () => {
    expect(Object.keys(action.outputs)).toEqual(OUTPUTS)
  })
})

describe('the code', () => {
  it('treats an empty input as the default in action.yml', () => {
    const constants = Object.entries(declared('default')).filter(([, text]) => !String(text).includes('${{'))
    const enough = { 'base-url': 'https://tests.example.com', 'api-key': 'key', project: 'p' }
    const event = readEvent({ GITHUB_EVENT_NAME: 'push', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' })
    const read = (given: object) => {
      let inputs: unknown
      linesWrittenBy(() => {
        inputs = readInputs(inputVariables({ ...enough, ...given }), event)
      })
      return inputs
    }
    expect(constants.length).toBeGreaterThan(5)
    expect(read({})).toEqual(read(Object.fromEntries(constants)))
  })

  it('reads exactly the declared inputs', () => {
    expect(inputsRead()).toEqual(new Set(Object.keys(action.inputs)))
  })

  it('sets exactly the declared outputs', () => {
    const source = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
    const literal = source.flatMap((text) => [...text.matchAll(/\bsetOutput\('([\w-]+)'/g)].map(([, name]) => name))
    // A loop over their names sets the counts.
    expect(new Set([...literal, 'total', 'passed', 'failed', 'flaky', 'skipped', 'other'])).toEqual(new Set(OUTPUTS))
  })
})

it.each(PAGES)('$page has the tables that "npm run readme" writes from $manifest', ({ page, manifest, lists }) => {
  const [text, yml] = [page, manifest].map((file) => readFileSync(join(root, file), 'utf8')) as [string, string]
  expect(withTables(text, yml, lists)).toBe(text)
})

function inputsRead(): Set<string> {
  const enough = { 'base-url': 'https://tests.example.com', 'api-key': 'key', project: 'p' }
  const page = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'shop/shop', GITHUB_RUN_ID: '7' }
  const event = { GITHUB_EVENT_NAME: 'push', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' }
  const read = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    { ...page, ...event, ...inputVariables(enough) },
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
