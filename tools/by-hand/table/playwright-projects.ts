import { type Files, projectsOf } from './project.ts'

// No test has a page, so no browser is needed.

const test = (code: string, file = 'a.spec.js'): Files => ({
  [file]: `import { expect, test } from '@playwright/test'\n${code}\n`,
})
const config = (settings: string): Files => ({ 'playwright.config.js': `export default ${settings}\n` })

const PASSES = test("test('passes', () => {})")
const FAILS = test("test('fails', () => { throw new Error('red') })")

const withReporter = (methods: string, tests = PASSES) => ({
  files: {
    ...config("{ reporter: [['list'], ['./reporter.js']] }"),
    'reporter.js': `export default class { ${methods} }`,
    ...tests,
  },
})
const withGlobal = (name: 'globalSetup' | 'globalTeardown', code: string, tests = PASSES) => ({
  files: { ...config(`{ ${name}: './global.js' }`), 'global.js': `export default ${code}`, ...tests },
})

const DEPENDENCIES = `{ projects: [
  { name: 'setup', testMatch: 'setup.js', teardown: 'teardown' }, { name: 'teardown', testMatch: 'teardown.js' },
  { name: 'shop', dependencies: ['setup'] }, { name: 'admin', dependencies: ['setup'], grep: /shared/ }] }`
const TESTS_OF_DEPENDENCIES: Files = {
  ...test("test('sets up', () => {})", 'setup.js'),
  ...test("test('tears down', () => {})", 'teardown.js'),
  ...test("test('is shared', () => {})\ntest('is of the shop', () => {})"),
}

export const PLAYWRIGHT_PROJECTS = projectsOf('playwright', {
  shop: {
    arguments: [
      // Filters and names
      [],
      ['nothing-like-this'],
      ['nothing-like-this', '--pass-with-no-tests'],
      ['--', 'cart'],
      ['--grep', 'no such test'],
      // Configuration, shards, and how tests run
      ['-c', 'red.config.js'],
      ['--config=broken.config.js'],
      ['--shard=1/2'],
      ['--reporter=wrong'],
      ['--list'],
      ['--ui'],
      ['test'],
      ['--project=shop'],
      // Misspelled, quoted or split wrongly
      ['--retires=3'],
      ['--grep="smoke"'],
    ],
    files: {
      ...config("{ testDir: 'tests', reporter: 'list', workers: 2 }"),
      'red.config.js': "export default { testDir: 'tests', testMatch: '*.red.js' }",
      'broken.config.js': "throw new Error('there is no database')",
      'tests/cart.spec.js': `
        import { test } from '@playwright/test'
        test.describe('cart', () => {
          test('adds @smoke', () => {})
          test('removes 5', { tag: '@fast' }, () => {})
          test.skip('is skipped', () => {})
          test.fixme('is to be fixed', () => {})
        })`,
      ...test("test('fails', () => { throw new Error('red') })", 'tests/cart.red.js'),
      ...test("test('rounds up @smoke', () => {})\ntest('rounds down', () => {})", 'tests/money.spec.js'),
      ...test("test('adds tax', () => {})", 'tests/deep/tax.spec.js'),
    },
  },
  'several projects': {
    arguments: [[], ['--no-deps'], ['--shard=2/2']],
    files: { ...config(DEPENDENCIES), ...TESTS_OF_DEPENDENCIES },
  },
  changed: {
    arguments: [['--only-changed'], ['--only-changed=nowhere']],
    git: { commits: 2, change: { 'source.js': 'export const price = 3' } },
    files: {
      'source.js': 'export const price = 1',
      ...test("import './source.js'\ntest('needs the source', () => {})", 'source.spec.js'),
      ...test("test('fails', () => { throw new Error('red') })", 'other.spec.js'),
    },
  },
  'hooks that throw': {
    files: test(`
      test.describe('before all', () => { test.beforeAll(() => { throw new Error('before all') }); test('never runs', () => {}); test('never runs either', () => {}) })
      test.describe('before each', () => { test.beforeEach(() => { throw new Error('before each') }); test('fails', () => {}) })
      test.describe('after all', () => { test.afterAll(() => { throw new Error('after all') }); test('passes', () => {}) })
      test.describe('after each', () => { test.afterEach(() => { throw new Error('after each') }); test('fails', () => {}) })`),
  },
  'time limit of all tests': {
    files: {
      ...config('{ globalTimeout: 20_000, workers: 1 }'),
      ...test("test('passes', () => {})\ntest('hangs', () => new Promise(() => {}))\ntest('never runs', () => {})"),
    },
  },
  'most failures while another test runs': {
    files: {
      ...config('{ maxFailures: 1, workers: 2 }'),
      ...test(`
        import { existsSync } from 'node:fs'
        const wait = () => new Promise((resolve) => setTimeout(resolve, 20))
        test('fails', async () => { while (!existsSync('running')) await wait(); throw new Error('red') })`),
      ...test(
        `
        import { writeFileSync } from 'node:fs'
        test('is cut off', () => { writeFileSync('running', ''); return new Promise(() => {}) })
        test('never runs', () => {})`,
        'b.spec.js',
      ),
    },
  },
  'global setup that exits with 0': withGlobal('globalSetup', '() => process.exit(0)'),
  'global teardown that sets the exit code': withGlobal('globalTeardown', '() => { process.exitCode = 4 }'),
  'global teardown that exits with 0': withGlobal('globalTeardown', '() => process.exit(0)'),
  'global teardown that exits with 0 although a test failed': withGlobal(
    'globalTeardown',
    '() => process.exit(0)',
    FAILS,
  ),
  'reporter that throws at the end': withReporter("onEnd() { throw new Error('no room for the report') }"),
  'reporter that changes the status to failed': withReporter("onEnd() { return { status: 'failed' } }"),
  'reporter that changes the status to passed': withReporter("onEnd() { return { status: 'passed' } }", FAILS),
  'reporter that exits with 0 although a test failed': withReporter('onEnd() { process.exit(0) }', FAILS),
  'worker that is killed': {
    files: {
      ...config('{ workers: 1 }'),
      ...test(
        "test('kills its worker', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}) })\ntest('comes later', () => {})",
      ),
    },
  },
  'process.exit in a test': {
    files: { ...config('{ workers: 1 }'), ...test("test('exits', () => process.exit(0))\ntest('later', () => {})") },
  },
  'unhandled rejection': {
    files: test(`
      test('leaves a rejection', async () => { Promise.reject(new Error('nobody waits')); await new Promise((go) => setTimeout(go, 50)) })
      test('passes', () => {})`),
  },
  'project that repeats': {
    files: {
      ...config("{ projects: [{ name: 'twice', repeatEach: 2 }, { name: 'again', retries: 1 }] }"),
      ...test("test('passes', () => {})\ntest('fails', () => { throw new Error('red') })"),
    },
  },
})
