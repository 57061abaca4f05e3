import { type Files, projectsOf } from './project.ts'

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

export const VITEST_PROJECTS = projectsOf('vitest', {
  shop: {
    arguments: [
      // Filters and names
      [],
      ['nothing-like-this'],
      ['nothing-like-this', '--pass-with-no-tests'],
      ['--', 'cart'],
      ['-t', 'no such test'],
      // Files, folders and shards
      ['--exclude', 'tests/**', '--exclude', '**/cart*'],
      ['-r', 'packages/b'],
      ['--config=other.config.mjs', '--config=red.config.mjs'],
      ['--config=broken.config.mjs'],
      ['--shard=1/2'],
      ['--browser'],
      ['--reporter=nowhere.js'],
      ['--outputFile=report.json'],
      // Commands and modes
      ['--watch=false'],
      ['related', 'cart.test.js'],
      ['--help'],
      // Misspelled, quoted or split wrongly
      ['--retires=3'],
      ['--testNamePattern="smoke"'],
      ['--shard="1/2"'],
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
  'process.exit in a test': {
    arguments: [[], ['--pool=threads']],
    files: { ...test("it('exits', () => process.exit(0))\nit('comes after', () => {})"), ...PASSES_TOO },
  },
  'reporter that throws at the end': withReporter("{ onTestRunEnd() { throw new Error('no room for the report') } }"),
  'reporter that throws at its start': withReporter("{ onInit() { throw new Error('no token') } }"),
  'reporter that sets the exit code': withReporter('{ onTestRunEnd() { process.exitCode = 3 } }'),
  'reporter that exits with 0 although a test failed': withReporter('{ onTestRunEnd() { process.exit(0) } }', FAILS),
  'reporter that exits with 0 after the last test': withReporter('{ onTestModuleEnd() { process.exit(0) } }'),
  'no reporters': { files: { ...config('{ reporters: [] }'), ...PASSES } },
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
  'error after the tests': {
    files: test(`
      it('passes', () => { setTimeout(() => { throw new Error('too late') }, 20) })
      afterAll(() => new Promise((resolve) => setTimeout(resolve, 200)))`),
  },
  'block without tests': { files: test("describe('empty', () => {})") },
  'only skipped tests': { files: test("it.skip('is skipped', () => {})\nit.todo('is to do')") },
  'watch in the configuration': { files: { ...config('{ watch: true }'), ...PASSES } },
})
