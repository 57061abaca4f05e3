import { type Files, projectsOf } from './project.ts'

const test = (code: string, file = 'a.test.js'): Files => ({ [file]: `${code}\n` })
const config = (settings: string): Files => ({ 'jest.config.js': `module.exports = ${settings}\n` })

const PASSES = test("it('passes', () => {})")
const PASSES_TOO = test("it('passes', () => {})", 'b.test.js')
const FAILS = test("it('fails', () => { throw new Error('red') })")

const withFile = (name: string, code: string, settings: string, tests = PASSES) => ({
  files: { ...config(settings), [name]: code, ...tests },
})
const withReporter = (methods: string, tests = PASSES) =>
  withFile(
    'reporter.js',
    `module.exports = class { ${methods} }`,
    "{ reporters: ['default', '<rootDir>/reporter.js'] }",
    tests,
  )

export const JEST_PROJECTS = projectsOf('jest', {
  shop: {
    arguments: [
      // Filters and names
      [],
      ['nothing-like-this'],
      ['nothing-like-this', '--passWithNoTests'],
      ['--', 'cart'],
      ['-t=no such test'],
      ['--rootDir=packages'],
      // Configuration, shards and projects
      ['-c', 'red.config.js'],
      ['--config=broken.config.js'],
      ['--config={"testMatch":["**/cart*"]}'],
      ['--projects', 'packages', '.'],
      ['--shard=1/2'],
      ['--shard=3/2'],
      // How tests run
      ['--bail'],
      ['--env=nowhere'],
      ['--testFailureExitCode=0'],
      ['--testFailureExitCode=3'],
      ['--forceExit'],
      // Output
      ['--reporters=jest-nowhere'],
      ['--reporters=summary'],
      ['--coverage', '--coverageThreshold={"global":{"lines":100}}'],
      // Commands and modes
      ['--watch=false', '--watchAll=false'],
      ['--watchAll'],
      ['--help'],
      ['--json'],
      ['--clearCache'],
      // Misspelled or split wrongly
      ['--retires=3'],
      ['--runInBand', '--maxWorkers=2'],
    ],
    files: {
      ...config('{}'),
      'red.config.js': 'module.exports = { testMatch: ["**/*.red.js"] }',
      'broken.config.js': 'module.exports = {',
      'sum.js': 'exports.sum = (a, b) => { if (a === 100) return 0; return a + b }',
      'cart.test.js': `const { sum } = require('./sum')
        describe('cart', () => { it('adds', () => expect(sum(1, 2)).toBe(3)); it('is in the smoke test', () => {}) })`,
      'cart.red.js': "it('is red', () => { throw new Error('red') })",
      'money.test.js': `describe('money', () => {
        it('adds', () => new Promise((resolve) => setTimeout(resolve, 20)))
        it('fails', () => expect(1).toBe(2)) })`,
      'packages/stock.test.js': "it('counts', () => {})",
    },
  },
  'several projects': {
    arguments: [[], ['--selectProjects', 'unit'], ['--ignoreProjects=unit']],
    files: {
      ...config(`{ projects: [{ displayName: 'unit', testMatch: ['**/a.test.js'] },
        { displayName: { name: 'all', color: 'blue' }, testMatch: ['**/*.test.js'] }] }`),
      ...PASSES,
      ...test("it('fails', () => { throw new Error('red') })", 'b.test.js'),
    },
  },
  'TypeScript with ts-jest': {
    files: {
      ...config("{ preset: 'ts-jest' }"),
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "target": "es2022", "module": "commonjs", "types": ["jest"], "skipLibCheck": true } }',
      'a.test.ts':
        "import { expect, it } from '@jest/globals'\nit('passes', () => { const n: number = 1; expect(n).toBe(1) })",
      'b.test.ts': "import { it } from '@jest/globals'\nit('passes', () => { const n: number = 'x' })",
    },
  },
  'TypeScript with Babel': {
    files: {
      'babel.config.js':
        "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'] }",
      'a.test.ts':
        "it('passes', () => { const n: number = 1; expect(n).toBe(1) })\nit('fails', () => { throw new Error('red' as string) })",
    },
  },
  'ES modules': {
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
    files: {
      'package.json': '{ "type": "module", "devDependencies": { "jest": "*" } }',
      'jest.config.js': 'export default { transform: {} }',
      'sum.js': 'export const sum = (a, b) => a + b',
      'a.test.js':
        "import { sum } from './sum.js'\nit('adds', () => expect(sum(1, 2)).toBe(3))\nit('fails', () => expect(sum(1, 2)).toBe(4))",
      'b.test.js': "import './none.js'\nit('passes', () => {})",
    },
  },
  jsdom: {
    files: {
      ...config("{ testEnvironment: 'jsdom' }"),
      ...test(
        "it('has a page', () => { document.body.innerHTML = '<p>a</p>'; expect(document.querySelector('p').textContent).toBe('a') })",
      ),
    },
  },
  'obsolete snapshots only': {
    arguments: [[], ['-u']],
    files: {
      ...test("it('is there', () => expect(1).toMatchSnapshot())"),
      '__snapshots__/a.test.js.snap':
        '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`is gone 1`] = `5`;\n\nexports[`is there 1`] = `1`;\n',
      '__snapshots__/gone.test.js.snap':
        '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`is gone 1`] = `5`;\n',
    },
  },
  'bail in the configuration': { files: { ...config('{ bail: 1, maxWorkers: 1 }'), ...FAILS, ...PASSES_TOO } },
  'process.exit in a test': {
    arguments: [['-i'], ['-w=2']],
    files: { ...test("it('ends everything', () => process.exit(0))"), ...PASSES_TOO },
  },
  'process.exit in a hook, with 1': { files: test("afterAll(() => process.exit(1))\nit('passes', () => {})") },
  'exit code for failures': { files: { ...config('{ testFailureExitCode: 0 }'), ...FAILS } },
  'no tests, and that is fine': { files: { ...config('{ passWithNoTests: true }') } },
  'no tests': { files: { 'sum.js': '' } },
  'no configuration': { files: { ...PASSES, ...FAILS } },
  'two configurations': { files: { ...config('{}'), 'jest.config.json': '{}', ...PASSES } },
  'broken configuration': { files: { 'jest.config.js': 'module.exports = {', ...PASSES } },
  'configuration that Jest does not know': { files: { ...config("{ testMach: ['**/a.test.js'] }"), ...PASSES } },
  'reporter with options': {
    files: {
      ...config("{ reporters: [['<rootDir>/reporter.js', { fails: true }]] }"),
      'reporter.js':
        "module.exports = class { constructor(config, options) { this.options = options }\n getLastError() { return this.options.fails ? new Error('too slow') : undefined } }",
      ...PASSES,
    },
  },
  'reporter that throws at the end': withReporter("onRunComplete() { throw new Error('no disk') }"),
  'reporter that throws at a result': withReporter("onTestResult() { throw new Error('no disk') }"),
  'processor of results': withFile(
    'processor.js',
    'module.exports = (results) => ({ ...results, success: false })',
    "{ testResultsProcessor: './processor.js' }",
  ),
  'jasmine as the runner, or none': withFile('runner.js', '', "{ testRunner: 'jest-jasmine2' }"),
  'unhandled rejection': {
    files: test(
      "it('passes', () => { Promise.reject(new Error('nobody waits')) })\nit('passes later', () => new Promise((resolve) => setTimeout(resolve, 50)))",
    ),
  },
  changed: {
    arguments: [['--onlyChanged'], ['--changedSince=main'], ['--lastCommit']],
    git: { commits: 1, change: { 'a.test.js': "it('changed', () => { throw new Error('red') })" } },
    files: { ...PASSES, ...PASSES_TOO },
  },
})
