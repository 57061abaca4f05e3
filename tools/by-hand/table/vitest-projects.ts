import type { Project } from './project.ts'

// Each project is a kind: something that a real project has and that changes which tests run, their results or the exit code.

type Kinds = Readonly<Record<string, Omit<Project, 'name' | 'framework'>>>
type Files = Project['files']

const IMPORT = "import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'\n"
const test = (code: string, file = 'a.test.js'): Files => ({ [file]: `${IMPORT}${code}\n` })
const config = (settings: string): Files => ({ 'vitest.config.mjs': `export default { test: ${settings} }\n` })

const PASSES = test("it('passes', () => {})")
const PASSES_TOO = test("it('passes', () => {})", 'b.test.js')
const FAILS = test("it('fails', () => { throw new Error('red') })")

const withReporter = (reporter: string, tests = PASSES) => ({
  files: { ...config(`{ reporters: ['default', ${reporter}] }`), ...tests },
})
const withSetup = (code: string, tests = PASSES, settings = '') => ({
  files: { ...config(`{ globalSetup: './setup.js', ${settings} }`), 'setup.js': code, ...tests },
})

const TSCONFIG: Files = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] } }',
}

const KINDS: Kinds = {
  shop: {
    arguments: [
      // Filters and names
      [],
      ['cart', 'money'],
      ['nothing-like-this'],
      ['nothing-like-this', '--pass-with-no-tests'],
      ['cart.test.js:4', 'tests/money.test.js:3'],
      ['--', 'cart'],
      ['--test-name-pattern', 'adds'],
      ['-t', 'no such test'],
      // Files, folders and shards
      ['--exclude', 'tests/**', '--exclude', '**/cart*'],
      ['-r', 'packages/b'],
      ['--config=other.config.mjs', '--config=red.config.mjs'],
      ['--config=broken.config.mjs'],
      ['--shard=1/2'],
      // How tests run, and output
      ['--no-isolate'],
      ['--browser'],
      ['--includeTaskLocation'],
      ['--reporter=nowhere.js'],
      ['--outputFile=report.json'],
      // Commands and modes
      ['--watch=false'],
      ['-w'],
      ['related', 'cart.test.js'],
      ['--help'],
      ['--mergeReports'],
      // Misspelled, quoted or split wrongly
      ['--retires=3'],
      ['--grep=smoke'],
      ['--testNamePattern="smoke"'],
      ['--shard="1/2"'],
      ['-t smoke'],
      ['"cart"'],
    ],
    files: {
      ...config("{ exclude: ['packages/**', '**/node_modules/**'] }"),
      'other.config.mjs': "export default { test: { include: ['*.spec.js'] } }",
      'red.config.mjs': "export default { test: { include: ['*.red.js'] } }",
      'broken.config.mjs': "throw new Error('there is no database')",
      'cart.test.js': `
        import { describe, it } from 'vitest'
        describe('cart', () => {
          it('adds smoke', () => {})
          it('removes 5', () => {})
          it.skip('is skipped', () => {})
          it.todo('is to do')
        })`,
      ...test("it('is a specification', () => {})", 'cart.spec.js'),
      ...test("it('is red', () => { throw new Error('red') })", 'cart.red.js'),
      'tests/money.test.js': `
        import { it } from 'vitest'
        it('rounds up smoke', () => {})
        it('is in mode ' + import.meta.env.MODE, () => {})`,
      ...test("it('adds tax', () => {})", 'tests/deep/tax.test.js'),
      ...test("it('is in package a', () => {})", 'packages/a/a.test.js'),
      'packages/b/vitest.config.mjs': "export default { test: { name: 'b' } }",
      ...test("it('is in package b', () => { throw new Error('red') })", 'packages/b/b.test.js'),
    },
  },
  'one failing test among others': {
    arguments: [['--bail=1'], ['-t', 'passes'], ['fails.test.js:6'], ['--changed']],
    files: {
      ...config('{ fileParallelism: false }'),
      // The longest file runs first.
      'fails.test.js': `
        import { describe, it } from 'vitest'
        describe('checkout', () => {
          it('passes before', () => {})
          it('fails', () => { throw new Error('no money') })
          ${Array.from({ length: 10 }, (_, index) => `it('passes after ${index}', () => {})`).join('\n')}
        })`,
      ...test("it('passes', () => {})", 'passes.test.js'),
      ...test("it('fails too', () => { throw new Error('no money') })", 'fails-too.test.js'),
    },
  },
  flaky: {
    arguments: [['--retry=2'], ['--retry'], ['--retry=1', '--retry=0']],
    files: test(`
      let tries = 0
      it('passes the second time', () => { if (++tries < 2) throw new Error('try ' + tries) })
      it('passes', () => {})`),
  },
  types: {
    arguments: [['--typecheck'], ['--typecheck.only'], ['--typecheck', '--typecheck.checker=nowhere']],
    files: {
      ...config('{}'),
      ...TSCONFIG,
      'price.test-d.ts': `
        import { expectTypeOf, it } from 'vitest'
        it('is a number', () => { expectTypeOf(1).toBeNumber() })
        it('is a text', () => { expectTypeOf(1).toBeString() })`,
      ...test("it('runs', () => {})", 'price.test.ts'),
    },
  },
  changed: {
    arguments: [['--changed=HEAD~1'], ['--changed=nowhere'], ['--changed', '--exclude=source.test.js']],
    git: { commits: 2, change: { 'source.js': 'export const price = 3' } },
    files: {
      'source.js': 'export const price = 1',
      ...test("import './source.js'\nit('needs the source', () => {})", 'source.test.js'),
      ...test("it('needs nothing', () => { throw new Error('red') })", 'other.test.js'),
    },
  },
  only: {
    arguments: [[], ['--allowOnly'], ['--allowOnly=false']],
    files: test("it.only('is meant', () => {})\nit('is left out', () => {})"),
  },
  'unhandled rejection': {
    arguments: [[], ['--dangerouslyIgnoreUnhandledErrors']],
    files: test(`
      it('leaves a rejection', () => { Promise.reject(new Error('nobody waits')) })
      it('waits', () => new Promise((resolve) => setTimeout(resolve, 50)))`),
  },
  snapshots: {
    arguments: [[], ['-u']],
    files: {
      ...test(`
        it('is as stored', () => expect('stored').toMatchSnapshot())
        it('is other than stored', () => expect('other').toMatchSnapshot())
        it('is not stored yet', () => expect('new').toMatchSnapshot())`),
      '__snapshots__/a.test.js.snap': [
        '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html',
        ...['is as stored', 'is other than stored', 'is gone'].map((name) => `exports[\`${name} 1\`] = \`"stored"\`;`),
      ].join('\n\n'),
    },
  },
  'process.exit in a test': {
    arguments: [[], ['--pool=threads']],
    files: { ...test("it('exits', () => process.exit(0))\nit('comes after', () => {})"), ...PASSES_TOO },
  },
  'every kind of result': {
    files: test(`
      describe('kinds', () => {
        it('passes', () => {})
        it('fails', () => expect(1).toBe(2))
        it('throws a text', () => { throw 'only text' })
        it('checks twice', () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4) })
        it('takes too long', { timeout: 50 }, () => new Promise(() => {}))
        it('wants more assertions', () => expect.assertions(1))
        it.fails('fails as it should', () => expect(1).toBe(2))
        it.fails('passes, but should fail', () => {})
        it.skip('is skipped', () => {})
        it.skipIf(true)('is skipped by a condition', () => {})
        it('skips itself', (context) => context.skip())
        it('skips itself with a reason', ({ skip }) => skip('not today'))
        it.todo('is to do')
        it.each([1, 2])('is number %i', () => {})
        it.concurrent('runs beside others', async () => {})
      })
      describe.skip('skipped', () => { it('is in a skipped block', () => {}) })
      describe.todo('to do')
      describe('outer', () => { describe('inner', () => { it('is deep', () => {}) }) })
      describe.each(['a', 'b'])('block %s', () => { it('has a name', () => {}) })`),
  },
  'hooks that throw': {
    files: {
      ...test(`
        describe('before all', () => { beforeAll(() => { throw new Error('before all') }); it('never runs', () => {}) })
        describe('before each', () => { beforeEach(() => { throw new Error('before each') }); it('fails', () => {}) })
        describe('after all', () => { afterAll(() => { throw new Error('after all') }); it('passes', () => {}) })
        describe('after each', () => { afterEach(() => { throw new Error('after each') }); it('fails', () => {}) })`),
      ...test("beforeAll(() => { throw new Error('before') })\nit('never runs', () => {})", 'file-before.test.js'),
      ...test("afterAll(() => { throw new Error('after') })\nit('passes', () => {})", 'file-after.test.js'),
    },
  },
  'titles that repeat': {
    files: {
      ...test("it('same', () => {})\nit('same', () => { throw new Error('second') })\nit('', () => {})"),
      ...test(
        "it('same', () => {})\nit.skip('same', () => {})\ndescribe('a > b', () => { it('c', () => {}) })\ndescribe('a', () => { it('b > c', () => {}) })",
        'b.test.js',
      ),
    },
  },
  'reporter that waits': {
    files: {
      'vitest.config.mjs': `
        const wait = () => new Promise((resolve) => setTimeout(resolve, 50))
        const events = ['onTestModuleQueued', 'onTestModuleEnd', 'onTestCaseReady', 'onTestCaseResult', 'onTestRunEnd']
        export default { test: { reporters: ['default', Object.fromEntries(events.map((name) => [name, wait]))] } }`,
      ...test("for (let n = 0; n < 10; n++) it('test ' + n, () => new Promise((go) => setTimeout(go, 20)))"),
      ...PASSES_TOO,
    },
  },
  'reporter that throws at the end': withReporter("{ onTestRunEnd() { throw new Error('no room for the report') } }"),
  'reporter that throws at a test': withReporter("{ onTestCaseResult() { throw new Error('cannot write') } }"),
  'reporter that throws at its start': withReporter("{ onInit() { throw new Error('no token') } }"),
  'reporter that cannot be loaded': withReporter("'./no-such-reporter.js'"),
  'reporter that sets the exit code': withReporter('{ onTestRunEnd() { process.exitCode = 3 } }'),
  'reporter that exits with 0 although a test failed': withReporter('{ onTestRunEnd() { process.exit(0) } }', FAILS),
  'reporter that exits with 0 after the last test': withReporter('{ onTestModuleEnd() { process.exit(0) } }'),
  'no reporters': { files: { ...config('{ reporters: [] }'), ...PASSES } },
  'global setup that throws': withSetup("export default () => { throw new Error('no database') }"),
  'global setup that exits with 0': withSetup('export default () => process.exit(0)'),
  'teardown that sets the exit code': withSetup('export const teardown = () => { process.exitCode = 4 }'),
  'teardown that exits with 0 although a test failed': withSetup(
    'export const teardown = () => process.exit(0)',
    FAILS,
  ),
  'teardown that never ends': withSetup(
    'export const teardown = () => new Promise(() => { setInterval(() => {}, 1000) })',
    PASSES,
    'teardownTimeout: 500',
  ),
  'several projects': {
    files: {
      ...config(`{ projects: [
        { test: { name: 'unit', include: ['*.test.js'] } },
        { test: { name: 'checks', include: ['shared.test.js'], env: { RED: '1' } } }, 'packages/*'] }`),
      ...test("it('is shared', () => { if (process.env.RED) throw new Error('red') })", 'shared.test.js'),
      ...PASSES,
      'packages/a/package.json': '{ "name": "a" }',
      'packages/a/vitest.config.mjs': 'export default { test: { bail: 1 } }',
      ...test("it('is shared', () => {})", 'packages/a/a.test.js'),
      'packages/b/package.json': '{ "name": "b" }',
      ...test("it.skip('is in b', () => {})", 'packages/b/b.test.js'),
    },
  },
  'bail in the configuration': {
    files: {
      ...config('{ bail: 1, fileParallelism: false }'),
      ...test("it('fails', () => { throw 1 })\nfor (let n = 0; n < 30; n++) it('comes later ' + n, () => {})"),
      ...PASSES_TOO,
    },
  },
  'retries and soft assertions': {
    files: {
      ...config('{ retry: 1 }'),
      ...test(`
        it('fails softly', () => { expect.soft(1).toBe(2); expect.soft(1).toBe(3); expect.soft(1).toBe(4) })
        let tries = 0
        it('passes the second time', () => { expect.soft(++tries).toBe(2) })
        it.fails('fails as it should', () => { throw new Error('red') })`),
    },
  },
  'worker that is killed': {
    files: {
      ...test(
        "it('kills its worker', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}) })\nit('comes later', () => {})",
      ),
      ...PASSES_TOO,
    },
  },
  'error after the tests': {
    files: test(`
      it('passes', () => { setTimeout(() => { throw new Error('too late') }, 20) })
      afterAll(() => new Promise((resolve) => setTimeout(resolve, 200)))`),
  },
  'handles and a process that stay': {
    files: test(`
      import { spawn } from 'node:child_process'
      import { createServer } from 'node:http'
      it('leaves a server', () => { createServer().listen(0); setInterval(() => {}, 1000) })
      it('leaves a process', () => { spawn('sleep', ['30'], { stdio: 'ignore' }).unref() })`),
  },
  'no test file': { files: { ...config('{}'), 'source.js': '' } },
  'block without tests': { files: test("describe('empty', () => {})") },
  'only skipped tests': { files: test("it.skip('is skipped', () => {})\nit.todo('is to do')") },
  'file that cannot be loaded': {
    files: { ...test("throw new Error('red')"), ...PASSES_TOO, 'c.test.js': "import './no-such-file.js'" },
  },
  'watch in the configuration': { files: { ...config('{ watch: true }'), ...PASSES } },
  'much output that looks like errors': {
    files: test(`
      it('prints', () => { for (let n = 0; n < 20000; n++) console.log('line ' + n + ' Error: not true') })
      it('prints errors', () => { console.error('Error: ENOSPC: no space left on device'); console.log('⎯⎯ Startup Error ⎯⎯') })`),
  },
  'variables of the job': {
    env: { STATE_STORE_URL: 'https://store.example', INPUT_BUCKET: 'bucket', NODE_ENV: 'production' },
    files: test(`
      const { STATE_STORE_URL, INPUT_BUCKET, NODE_ENV, CI } = process.env
      it('sees the variables', () => expect([STATE_STORE_URL, INPUT_BUCKET]).toEqual(['https://store.example', 'bucket']))
      it('has NODE_ENV ' + NODE_ENV + ' and CI ' + CI, () => {})`),
  },
}

export const VITEST_PROJECTS: readonly Project[] = Object.entries(KINDS).map(([name, project]) => ({
  name,
  framework: 'vitest',
  ...project,
}))
