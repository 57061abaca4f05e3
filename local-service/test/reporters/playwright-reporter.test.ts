import type { FullConfig, FullResult, Suite, TestCase, TestError, TestResult } from '@playwright/test/reporter'
import { describe, expect, it } from 'vitest'
import EventReporter from '../../src/reporters/playwright-reporter.ts'
import { SHARD_ROOTS } from '../../src/reporters/report-writer.ts'
import { prepareReport } from '../support/a-report.ts'

const project = (name: string, fields: object = {}) => ({ name, dependencies: [], ...fields })
const SETUP = project('setup', { teardown: 'end' })

interface Ended {
  readonly title: string
  readonly of?: object
  readonly outcome?: 'skipped' | 'expected' | 'flaky' | 'unexpected'
  readonly status?: 'passed' | 'failed' | 'timedOut' | 'interrupted'
  readonly errors?: readonly TestError[]
}

/** A run that has begun with these tests, or a merge of shards with these roots. */
function beginRun(tests: readonly Ended[], roots: readonly string[] = [], settings: Partial<FullConfig> = {}) {
  const report = prepareReport('/shop', roots.length === 0 ? {} : { [SHARD_ROOTS]: JSON.stringify(roots) })
  const reporter = new EventReporter()
  const file = '/shop/e2e/a.spec.ts'
  const all = tests.map(({ title, of = project(''), outcome = 'expected', status = 'passed', errors = [] }, index) => ({
    ...{ id: `${index}`, repeatEachIndex: 0, annotations: [], location: { file, line: 3 }, outcome: () => outcome },
    titlePath: () => ['', (of as typeof SETUP).name, 'a.spec.ts', title],
    parent: { type: 'file', location: { file }, project: () => of },
    results: [{ status, errors, duration: 1, attachments: [], steps: [], retry: 0 }],
    retries: 1,
  })) as unknown as readonly TestCase[]
  const config = { rootDir: '/shop/e2e', forbidOnly: true, ...settings } as FullConfig
  reporter.onBegin(config, { allTests: () => all } as unknown as Suite)
  return { ...report, reporter, all }
}

/** What the service reads of a run with these tests and these errors outside them. */
function reportOf(tests: readonly Ended[], errors: readonly TestError[] = [], roots: readonly string[] = []) {
  const { reporter, read } = beginRun(tests, roots)
  for (const error of errors) reporter.onError(error)
  reporter.onEnd({ status: 'failed' } as FullResult)
  return read()
}

/** What a merge of shards with these roots says about a test that failed so. */
function mergedFailure(roots: readonly string[], message: string, frames: readonly string[]) {
  const stack = [`Error: ${message}`, ...frames.map((frame) => `    at pays (${frame}:4:5)`)].join('\n')
  const failed = { title: 'pays', outcome: 'unexpected', status: 'failed', errors: [{ message, stack }] } as const
  return reportOf([failed], [], roots)?.testCases[0]
}

describe('shards of Playwright that ran in a folder with another path', () => {
  it.each<[string, readonly string[], string, string]>([
    ['the same repository', ['/__w/shop/e2e'], '/__w/shop/lib/page.ts', '/__w/shop/e2e/a.spec.ts'],
    ['several folders', ['/shop/e2e', '/__w/a+b/e2e'], '/__w/a+b/lib/page.ts', 'file:///__w/a+b/e2e/a.spec.ts'],
    ['a folder below another one', ['/w/e2e', '/w/s/e2e'], '/w/s/lib/page.ts', '/w/s/e2e/a.spec.ts'],
    ['the folder of the tests alone', ['/tests'], '/shop/lib/page.ts', '/tests/a.spec.ts'],
    ['the root of the machine', ['/e2e'], '/shop/lib/page.ts', '/e2e/a.spec.ts'],
  ])('have the places of this job, if they had %s', (_what, roots, helper, testFile) => {
    expect(mergedFailure(roots, `\u001b[31m${helper} is broken`, [helper, testFile])).toMatchObject({
      filePath: 'e2e/a.spec.ts',
      line: 4,
      message: '/shop/lib/page.ts is broken\nat pays (lib/page.ts:4:5)\nat pays (e2e/a.spec.ts:4:5)',
    })
  })

  it('keep a path that contains their own', () => {
    const message = '/data/__w/e2e/a.json and /data/(shop)/__w/e2e/a.json are missing'
    expect(mergedFailure(['/__w/e2e'], message, ['/__w/e2e/a.spec.ts'])).toMatchObject({ message, line: 4 })
  })
})

describe('a merge of Playwright', () => {
  it('counts a test of a project on which others depend once, with its worst result, because each shard runs it', () => {
    const [end, shop] = [project('end'), project('shop', { dependencies: ['setup'] })]
    const failed = { outcome: 'unexpected', status: 'failed' } as const
    const cutOff = { outcome: 'skipped', status: 'interrupted' } as const
    const twice = (title: string, of: object, one: Partial<Ended>, other: Partial<Ended>) => [
      { title, of, ...one },
      { title, of, ...other },
    ]
    const report = reportOf([
      ...twice('logs in', SETUP, failed, {}),
      ...twice('logs on', SETUP, { outcome: 'flaky' }, failed),
      ...twice('waits', SETUP, {}, cutOff),
      ...twice('skips', SETUP, { outcome: 'skipped' }, {}),
      ...twice('logs out', end, {}, {}),
      ...twice('adds', shop, {}, {}),
    ])
    expect(report?.testCases.map(({ title, status }) => `${status} ${title}`)).toEqual([
      'FAILED [setup] > logs in',
      'FAILED [setup] > logs on',
      'INTERRUPTED [setup] > waits',
      'PASSED [setup] > skips',
      'PASSED [end] > logs out',
      'PASSED [shop] > adds',
      'PASSED [shop] > adds',
    ])
  })

  it('counts an error that all shards have once', () => {
    const error = { message: 'Error: rain', location: { file: '/shop/e2e/b.spec.ts', line: 1, column: 7 } }
    expect(reportOf([], [error, error])).toMatchObject({
      testCases: [{ title: 'e2e/b.spec.ts', status: 'FAILED', message: 'Error: rain', line: 1 }],
      errors: [],
    })
  })
})

it('an error outside the tests has no test case, and that there are no tests is no error', () => {
  const errors = [{ message: 'Error: No tests found.' }, { message: "Error: Cannot find module './none'" }]
  expect(reportOf([], errors)).toMatchObject({ testCases: [], errors: ["Error: Cannot find module './none'"] })
})

it('a run without the arguments of the service has a problem, because they select the tests', () => {
  const { reporter, read } = beginRun([{ title: 'pays' }], [], { forbidOnly: false })
  reporter.onEnd({ status: 'passed' } as FullResult)
  expect(read()?.problem).toContain('write "$@" behind the call of Playwright')
  const merge = beginRun([{ title: 'pays' }], ['/shop/e2e'], { forbidOnly: false })
  merge.reporter.onEnd({ status: 'passed' } as FullResult)
  expect(merge.read()?.problem).toBeUndefined()
})

it('a test that is tried again has no result meanwhile, and is flaky when it has passed', () => {
  const { reporter, all, read, progress } = beginRun([
    { title: 'pays', outcome: 'unexpected', status: 'failed' },
    { title: 'ships', outcome: 'flaky' },
  ])
  for (const test of all) for (const result of test.results) reporter.onTestEnd(test, result)
  expect(progress()).toEqual({ total: 2, passed: 1, failed: 0, flaky: 1, skipped: 0 })
  expect(read()?.testCases).toMatchObject([{ status: 'INTERRUPTED' }, { title: 'ships', status: 'FLAKY' }])
})

it('a failed test whose next attempt is skipped, as in the mode `serial`, has the reason of its failed attempt', () => {
  const { reporter, all, read } = beginRun([
    { title: 'pays', outcome: 'unexpected', status: 'failed', errors: [{ message: 'no money' }] },
    {
      title: 'hangs',
      outcome: 'unexpected',
      status: 'timedOut',
      errors: [{ message: 'Test timeout of 400ms exceeded.' }],
    },
  ])
  const skipped = { status: 'skipped', errors: [], duration: 0, attachments: [], steps: [], retry: 1 } as unknown
  for (const { results } of all) results.push(skipped as TestResult)
  reporter.onEnd({ status: 'failed' } as FullResult)
  expect(read()?.testCases).toMatchObject([
    { status: 'FAILED', message: 'no money' },
    { status: 'TIMEDOUT', message: 'Test timeout of 400ms exceeded.' },
  ])
})
