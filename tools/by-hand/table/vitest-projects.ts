import type { Project } from './project.ts'

// Each project is a kind: something that a real project has and that changes which tests run, their results or the exit code.

/** What a provider of coverage does whose threshold is not met. It needs no further package. */
const COVERAGE_PROVIDER = `
  import { appendFileSync } from 'node:fs'
  const provider = {
    name: 'custom',
    initialize(vitest) { this.vitest = vitest },
    resolveOptions() { return { ...this.vitest.config.coverage, reportsDirectory: './coverage' } },
    clean() {}, onAfterSuiteRun() {}, generateCoverage: () => ({}),
    reportCoverage() {
      if (!(this.vitest.config.coverage.thresholds?.lines > 80)) return
      this.vitest.logger.error('ERROR: Coverage for lines (80%) does not meet global threshold (100%)')
      process.exitCode = 1
    },
  }
  export default { getProvider: () => provider, startCoverage() {}, takeCoverage() {}, stopCoverage() {} }`

const PASSES = "import { it } from 'vitest'\nit('passes', () => {})\n"

const config = (test: string) => ({ 'vitest.config.mjs': `export default { test: ${test} }\n` })

/** The projects that the table of arguments uses. */
const FOR_ARGUMENTS: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>> = {
  shop: {
    files: {
      ...config("{ exclude: ['packages/**', '**/node_modules/**'] }"),
      'other.config.mjs': "export default { test: { include: ['*.spec.js'] } }",
      'red.config.mjs': "export default { test: { include: ['*.red.js'] } }",
      'broken.config.mjs': "throw new Error('there is no database')",
      '.env.staging': 'VITE_SHOP=staging',
      'cart.test.js': `
        import { describe, it } from 'vitest'
        describe('cart', () => {
          it('adds smoke', () => {})
          it('removes 5', () => {})
          it.skip('is skipped', () => {})
          it.todo('is to do')
        })`,
      'cart.spec.js': "import { it } from 'vitest'\nit('is a specification', () => {})",
      'cart.red.js': "import { it } from 'vitest'\nit('is red', () => { throw new Error('red') })",
      '5.test.js': "import { it } from 'vitest'\nit('has a number', () => {})\nit('has no digit', () => {})",
      'tests/money.test.js': `
        import { it } from 'vitest'
        it('rounds up smoke', () => {})
        it('is in mode ' + import.meta.env.MODE, () => {})
        it('has the shop ' + import.meta.env.VITE_SHOP, () => {})`,
      'tests/deep/tax.test.js': "import { it } from 'vitest'\nit('adds tax', () => {})",
      'packages/a/a.test.js': "import { it } from 'vitest'\nit('is in package a', () => {})",
      'packages/b/vitest.config.mjs': "export default { test: { name: 'b' } }",
      'packages/b/b.test.js': "import { it } from 'vitest'\nit('is in package b', () => { throw new Error('red') })",
    },
  },
  'one failing test among others': {
    files: {
      ...config('{ fileParallelism: false }'),
      'fails.test.js': `
        import { describe, it } from 'vitest'
        // The longest file runs first.
        describe('checkout', () => {
          it('passes before', () => {})
          it('fails', () => { throw new Error('no money') })
          ${Array.from({ length: 10 }, (_, index) => `it('passes after ${index}', () => {})`).join('\n')}
        })`,
      'passes.test.js': PASSES,
      'fails-too.test.js': "import { it } from 'vitest'\nit('fails too', () => { throw new Error('no money') })",
    },
  },
  flaky: {
    files: {
      'flaky.test.js': `
        import { it } from 'vitest'
        let tries = 0
        it('passes the second time', () => { if (++tries < 2) throw new Error('try ' + tries) })
        it('passes', () => {})`,
    },
  },
  'passes only once': {
    files: {
      'once.test.js': `
        import { it } from 'vitest'
        let tries = 0
        it('passes the first time', () => { if (++tries > 1) throw new Error('try ' + tries) })`,
    },
  },
  waits: {
    files: {
      'waits.test.js': `
        import { beforeAll, describe, expect, it } from 'vitest'
        const wait = () => new Promise((resolve) => setTimeout(resolve, 300))
        it('waits', wait)
        describe('a hook', () => { beforeAll(wait); it('waits after its hook', wait) })
        it('polls', () => { const from = Date.now(); return expect.poll(() => Date.now() - from).toBeGreaterThan(200) })`,
    },
  },
  'teardown that waits': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export const teardown = () => new Promise((resolve) => setTimeout(resolve, 300))',
      'a.test.js': PASSES,
    },
  },
  order: {
    files: {
      'order.test.js': `
        import { afterEach, describe, expect, it } from 'vitest'
        let begun = 0
        for (const place of [1, 2, 3, 4, 5, 6]) it('is number ' + place, () => expect(++begun).toBe(place))
        describe('hooks', () => {
          const order = []
          afterEach(() => { order.push('first') })
          afterEach(() => { order.push('second') })
          it('gives the hooks something to do', () => {})
          it('sees the last hook first', () => expect(order).toEqual(['second', 'first']))
        })`,
    },
  },
  globals: { files: { 'globals.test.js': "it('needs no import', () => { expect(1).toBe(1) })" } },
  'no assertion': { files: { 'a.test.js': PASSES } },
  types: {
    files: {
      ...config('{}'),
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] } }',
      'tsconfig.lax.json': '{ "compilerOptions": { "strict": false, "skipLibCheck": true, "types": [] } }',
      'price.test-d.ts': `
        import { expectTypeOf, it } from 'vitest'
        it('is a number', () => { expectTypeOf(1).toBeNumber() })
        it('is a text', () => { expectTypeOf(1).toBeString() })`,
      'price.test.ts': "import { it } from 'vitest'\nit('runs', () => {})",
    },
  },
  'types and an error in the source': {
    files: {
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] } }',
      'price.test-d.ts':
        "import { expectTypeOf, it } from 'vitest'\nit('is a number', () => { expectTypeOf(1).toBeNumber() })",
      'source.ts': "export const price: number = 'a text'",
    },
  },
  changed: {
    git: { commits: 2, change: { 'source.js': 'export const price = 3' } },
    files: {
      'source.js': 'export const price = 1',
      'source.test.js': "import { it } from 'vitest'\nimport './source.js'\nit('needs the source', () => {})",
      'other.test.js': "import { it } from 'vitest'\nit('needs nothing', () => { throw new Error('red') })",
    },
  },
  only: {
    files: {
      'only.test.js': "import { it } from 'vitest'\nit.only('is meant', () => {})\nit('is left out', () => {})",
    },
  },
  'own environment': {
    files: {
      'environment.js': `
        export default { name: 'own', transformMode: 'ssr', viteEnvironment: 'ssr',
          setup(global) { global.place = 'here'; return { teardown() {} } } }`,
      'a.test.js': "import { expect, it } from 'vitest'\nit('is here', () => expect(globalThis.place).toBe('here'))",
    },
  },
  coverage: {
    files: {
      ...config("{ coverage: { provider: 'custom', customProviderModule: './provider.mjs' } }"),
      'provider.mjs': COVERAGE_PROVIDER,
      'a.test.js': PASSES,
    },
  },
  tags: {
    files: {
      ...config("{ tags: [{ name: 'fast' }, { name: 'slow', timeout: 60_000 }] }"),
      'a.test.js': `
        import { it } from 'vitest'
        it('is fast', { tags: ['fast'] }, () => {})
        it('is slow', { tags: ['slow'] }, () => { throw new Error('too slow') })
        it('has no tag', () => {})`,
    },
  },
  'unknown tag': {
    files: {
      ...config("{ tags: [{ name: 'fast' }] }"),
      'a.test.js': "import { it } from 'vitest'\nit('has an unknown tag', { tags: ['fats'] }, () => {})",
    },
  },
  'unhandled rejection': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('leaves a rejection', () => { Promise.reject(new Error('nobody waits')) })\nit('waits', () => new Promise((resolve) => setTimeout(resolve, 50)))",
    },
  },
  snapshots: {
    files: {
      'a.test.js': `
        import { expect, it } from 'vitest'
        it('is as stored', () => expect('stored').toMatchSnapshot())
        it('is other than stored', () => expect('other').toMatchSnapshot())
        it('is not stored yet', () => expect('new').toMatchSnapshot())`,
      '__snapshots__/a.test.js.snap': `// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html

exports[\`is as stored 1\`] = \`"stored"\`;

exports[\`is other than stored 1\`] = \`"stored"\`;

exports[\`is gone 1\`] = \`"stored"\`;
`,
    },
  },
  'process.exit in a test': {
    files: {
      'a.test.js': "import { it } from 'vitest'\nit('exits', () => process.exit(0))\nit('comes after', () => {})",
      'b.test.js': PASSES,
    },
  },
  'shared state': {
    files: {
      ...config('{ fileParallelism: false, sequence: { shuffle: false } }'),
      'a.test.js':
        "import { expect, it } from 'vitest'\nit('is alone', () => { expect(globalThis.taken).toBe(undefined); globalThis.taken = true })",
      'b.test.js':
        "import { expect, it } from 'vitest'\nit('is alone', () => { expect(globalThis.taken).toBe(undefined); globalThis.taken = true })",
    },
  },
}

const KINDS: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>> = {
  'every kind of result': {
    files: {
      'a.test.js': `
        import { describe, expect, it } from 'vitest'
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
          it.runIf(false)('does not run by a condition', () => {})
          it('skips itself', (context) => context.skip())
          it('skips itself with a reason', ({ skip }) => skip('not today'))
          it.todo('is to do')
          it.each([1, 2])('is number %i', () => {})
          it.for([[1], [2]])('is row %j', () => {})
          it.concurrent('runs beside others', async () => {})
        })
        describe.skip('skipped', () => { it('is in a skipped block', () => {}) })
        describe.todo('to do')
        describe('outer', () => { describe('inner', () => { it('is deep', () => {}) }) })
        describe.each(['a', 'b'])('block %s', () => { it('has a name', () => {}) })`,
    },
  },
  'errors with causes': {
    files: {
      'a.test.js': `
        import { it } from 'vitest'
        it('has causes', () => { throw new Error('checkout', { cause: new Error('payment', { cause: new Error('card') }) }) })
        it('has a text as the cause', () => { throw new Error('checkout', { cause: 'a text' }) })
        it('has several errors', () => Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]))
        it('throws null', () => { throw null })
        it('throws an object', () => { throw { code: 5 } })
        it('has a cause that is itself', () => { const error = new Error('circle'); error.cause = error; throw error })`,
    },
  },
  'hooks that throw': {
    files: {
      'before.test.js': `
        import { beforeAll, beforeEach, describe, it } from 'vitest'
        describe('before all', () => { beforeAll(() => { throw new Error('before all') }); it('never runs', () => {}) })
        describe('before each', () => { beforeEach(() => { throw new Error('before each') }); it('fails', () => {}) })`,
      'after.test.js': `
        import { afterAll, afterEach, describe, it, onTestFinished } from 'vitest'
        describe('after all', () => { afterAll(() => { throw new Error('after all') }); it('passes', () => {}) })
        describe('after each', () => { afterEach(() => { throw new Error('after each') }); it('fails', () => {}) })
        it('fails when it has finished', () => { onTestFinished(() => { throw new Error('finished') }) })`,
      'file-before.test.js':
        "import { beforeAll, it } from 'vitest'\nbeforeAll(() => { throw new Error('before the file') })\nit('never runs', () => {})",
      'file-after.test.js':
        "import { afterAll, it } from 'vitest'\nafterAll(() => { throw new Error('after the file') })\nit('passes', () => {})",
    },
  },
  'only the hook of a file throws': {
    files: {
      'a.test.js':
        "import { afterAll, it } from 'vitest'\nafterAll(() => { throw new Error('after') })\nit('passes', () => {})",
    },
  },
  'fixture that throws': {
    files: {
      'a.test.js': `
        import { it as base } from 'vitest'
        const it = base.extend({
          database: async ({}, use) => { throw new Error('no database') },
          left: async ({}, use) => { await use(1); throw new Error('not closed') },
        })
        it('needs the database', ({ database }) => {})
        it('leaves something', ({ left }) => {})
        it('needs nothing', () => {})`,
    },
  },
  'titles that repeat': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('same', () => {})\nit('same', () => { throw new Error('second') })\nit('', () => {})",
      'b.test.js':
        "import { describe, it } from 'vitest'\nit('same', () => {})\nit.skip('same', () => {})\ndescribe('a > b', () => { it('c', () => {}) })\ndescribe('a', () => { it('b > c', () => {}) })",
    },
  },
  'titles with unusual characters': {
    files: {
      'a.test.js': `
        import { it } from 'vitest'
        it('has "quotes", \\\\ and 100 %', () => {})
        it('has a line\\nbreak', () => {})
        it('[unit] > looks qualified', () => {})
        it('  has spaces  ', () => {})
        it('has \\u001b[31mcolour\\u001b[39m and 😀', () => {})`,
    },
  },
  'many tests': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nfor (let n = 0; n < 2000; n++) it('test ' + n, () => { if (n === 1500) throw new Error('red') })",
    },
  },
  'reporter that waits': {
    files: {
      'vitest.config.mjs': `
        const wait = () => new Promise((resolve) => setTimeout(resolve, 100))
        export default { test: { reporters: ['default', { onTestCaseReady: wait }] } }`,
      ...Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [
          `${name}.test.js`,
          "import { it } from 'vitest'\nfor (let n = 0; n < 20; n++) it('test ' + n, () => new Promise((resolve) => setTimeout(resolve, 40)))",
        ]),
      ),
    },
  },
  'reporter that waits for everything': {
    files: {
      'vitest.config.mjs': `
        const wait = () => new Promise((resolve) => setTimeout(resolve, 50))
        const events = ['onTestRunStart', 'onTestModuleQueued', 'onTestModuleCollected', 'onTestModuleStart', 'onTestModuleEnd', 'onTestCaseReady', 'onTestCaseResult', 'onTestSuiteResult', 'onHookStart', 'onTestRunEnd']
        export default { test: { reporters: ['default', Object.fromEntries(events.map((name) => [name, wait]))] } }`,
      'a.test.js':
        "import { afterAll, it } from 'vitest'\nafterAll(() => {})\nfor (let n = 0; n < 20; n++) it('test ' + n, () => {})",
    },
  },
  'reporter that throws at the end': {
    files: {
      ...config("{ reporters: ['default', { onTestRunEnd() { throw new Error('no room for the report') } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that rejects at the end': {
    files: {
      ...config("{ reporters: ['default', { async onTestRunEnd() { throw new Error('no room for the report') } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that throws in onFinished': {
    files: {
      ...config("{ reporters: ['default', { onFinished() { throw new Error('no room for the report') } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that throws at a test': {
    files: {
      ...config("{ reporters: ['default', { onTestCaseResult() { throw new Error('cannot write') } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that throws at its start': {
    files: {
      ...config("{ reporters: ['default', { onInit() { throw new Error('no token') } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that cannot be loaded': {
    files: { ...config("{ reporters: ['default', './no-such-reporter.js'] }"), 'a.test.js': PASSES },
  },
  'reporter that sets the exit code': {
    files: {
      ...config("{ reporters: ['default', { onTestRunEnd() { process.exitCode = 3 } }] }"),
      'a.test.js': PASSES,
    },
  },
  'reporter that exits with 0 although a test failed': {
    files: {
      ...config("{ reporters: ['default', { onTestRunEnd() { process.exit(0) } }] }"),
      'a.test.js': "import { it } from 'vitest'\nit('fails', () => { throw new Error('red') })",
    },
  },
  'reporter that exits with 1 although no test failed': {
    files: { ...config("{ reporters: ['default', { onTestRunEnd() { process.exit(1) } }] }"), 'a.test.js': PASSES },
  },
  'reporter of the old kind': {
    files: {
      ...config("{ reporters: ['./reporter.mjs'] }"),
      'reporter.mjs':
        "export default class { onInit() {} onTaskUpdate() {} onCollected() {} async onFinished() { console.log('own report') } }",
      'a.test.js': PASSES,
    },
  },
  'no reporters': { files: { ...config('{ reporters: [] }'), 'a.test.js': PASSES } },
  'reporters that write files': {
    files: {
      ...config(
        "{ reporters: ['dot', 'junit', 'json'], outputFile: { junit: 'out/junit.xml', json: 'out/report.json' } }",
      ),
      'a.test.js': PASSES,
    },
  },
  'global setup that throws': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export default () => { throw new Error('no database') }",
      'a.test.js': PASSES,
    },
  },
  'global setup that changes the folder': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export default () => process.chdir('fixtures')",
      'fixtures/data.txt': 'data',
      'a.test.js': "import { it } from 'vitest'\nit('fails', () => { throw new Error('red') })",
    },
  },
  'global setup that exits with 0': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export default () => process.exit(0)',
      'a.test.js': PASSES,
    },
  },
  'global setup that exits with 7': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export default () => process.exit(7)',
      'a.test.js': PASSES,
    },
  },
  'global setup that kills the process': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export default () => { process.kill(process.pid, 'SIGKILL') }",
      'a.test.js': PASSES,
    },
  },
  'teardown that throws': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export const teardown = () => { throw new Error('not closed') }",
      'a.test.js': PASSES,
    },
  },
  'teardown that sets the exit code': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export const teardown = () => { process.exitCode = 4 }',
      'a.test.js': PASSES,
    },
  },
  'teardown that exits with 0 although a test failed': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export const teardown = () => process.exit(0)',
      'a.test.js': "import { it } from 'vitest'\nit('fails', () => { throw new Error('red') })",
    },
  },
  'teardown that never ends': {
    files: {
      ...config("{ globalSetup: './setup.js', teardownTimeout: 500 }"),
      'setup.js': 'export const teardown = () => new Promise(() => { setInterval(() => {}, 1000) })',
      'a.test.js': PASSES,
    },
  },
  'setup file': {
    files: {
      ...config("{ setupFiles: './setup.js' }"),
      'setup.js':
        "import { beforeEach } from 'vitest'\nglobalThis.ready = true\nbeforeEach(({ task }) => { if (task.name === 'fails') throw new Error('red') })",
      'a.test.js':
        "import { expect, it } from 'vitest'\nit('is ready', () => expect(ready).toBe(true))\nit('fails', () => {})",
    },
  },
  'setup file that throws': {
    files: {
      ...config("{ setupFiles: './setup.js' }"),
      'setup.js': "throw new Error('not ready')",
      'a.test.js': PASSES,
    },
  },
  'several projects': {
    files: {
      ...config(`{ projects: [
        { test: { name: 'unit', include: ['*.test.js'] } },
        { test: { name: 'checks', include: ['shared.test.js'], env: { RED: '1' } } }, 'packages/*'] }`),
      'shared.test.js':
        "import { it } from 'vitest'\nit('is shared', () => { if (process.env.RED) throw new Error('red') })",
      'unit.test.js': PASSES,
      'packages/a/package.json': '{ "name": "a" }',
      'packages/a/vitest.config.mjs': 'export default { test: { bail: 1 } }',
      'packages/a/a.test.js': "import { it } from 'vitest'\nit('is shared', () => {})",
      'packages/b/package.json': '{ "name": "b" }',
      'packages/b/b.test.js': "import { it } from 'vitest'\nit.skip('is in b', () => {})",
    },
  },
  'projects with one that finds no tests': {
    files: {
      ...config(
        "{ projects: [{ test: { name: 'unit', include: ['*.test.js'] } }, { test: { name: 'none', include: ['*.spec.js'] } }] }",
      ),
      'a.test.js': PASSES,
    },
  },
  'projects that have one name': {
    files: {
      ...config("{ projects: [{ test: { name: 'unit' } }, { test: { name: 'unit' } }] }"),
      'a.test.js': PASSES,
    },
  },
  'file of workspaces': {
    versions: [3],
    files: {
      'vitest.workspace.js':
        "export default [{ test: { name: 'unit', include: ['a.test.js'] } }, { test: { name: 'other', include: ['b.test.js'] } }]",
      'a.test.js': PASSES,
      'b.test.js': "import { it } from 'vitest'\nit('fails', () => { throw new Error('red') })",
    },
  },
  'bail in the configuration': {
    files: {
      ...config('{ bail: 1, fileParallelism: false }'),
      'a.test.js': `
        import { it } from 'vitest'
        it('fails', () => { throw new Error('red') })
        for (let n = 0; n < 30; n++) it('comes later ' + n, () => {})`,
      'b.test.js': PASSES,
    },
  },
  'bail with files side by side': {
    files: {
      ...config('{ bail: 1, maxWorkers: 2, minWorkers: 1 }'),
      'a.test.js':
        "import { it } from 'vitest'\nit('fails', () => { throw new Error('red') })\nit('comes later', () => {})",
    },
  },
  'retries and soft assertions': {
    files: {
      ...config('{ retry: 1 }'),
      'a.test.js': `
        import { expect, it } from 'vitest'
        it('fails softly', () => { expect.soft(1).toBe(2); expect.soft(1).toBe(3); expect.soft(1).toBe(4) })
        let tries = 0
        it('passes the second time', () => { expect.soft(++tries).toBe(2) })
        it.fails('fails as it should', () => { throw new Error('red') })`,
    },
  },
  repeats: {
    files: {
      'a.test.js': `
        import { it } from 'vitest'
        let tries = 0
        it('passes each time', { repeats: 2 }, () => {})
        it('fails the third time', { repeats: 2 }, () => { if (++tries === 3) throw new Error('red') })
        let others = 0
        it('passes after a retry in each repeat', { repeats: 1, retry: 1 }, () => { if (++others % 2 === 1) throw new Error('red') })`,
    },
  },
  'coverage below its threshold': {
    files: {
      ...config(
        "{ coverage: { enabled: true, provider: 'custom', customProviderModule: './provider.mjs', thresholds: { lines: 100 } } }",
      ),
      'provider.mjs': COVERAGE_PROVIDER,
      'a.test.js': PASSES,
    },
  },
  'coverage provider that is not installed': {
    files: { ...config("{ coverage: { enabled: true, provider: 'v8' } }"), 'a.test.js': PASSES },
  },
  'worker that is killed': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('kills its worker', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}) })\nit('comes later', () => {})",
      'b.test.js': PASSES,
    },
  },
  'worker that is killed while its file is loaded': {
    files: { 'a.test.js': "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})", 'b.test.js': PASSES },
  },
  'worker without memory': {
    env: { NODE_OPTIONS: '--max-old-space-size=150' },
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('grows', () => { const all = []; for (;;) all.push(new Array(1e5).fill({ size: all.length })) })",
    },
  },
  'process.exit in a hook of a file': {
    files: {
      'a.test.js': "import { afterAll, it } from 'vitest'\nafterAll(() => process.exit(0))\nit('passes', () => {})",
      'b.test.js': PASSES,
    },
  },
  'process.exitCode in a test': {
    files: { 'a.test.js': "import { it } from 'vitest'\nit('sets the exit code', () => { process.exitCode = 5 })" },
  },
  'threads with process.exitCode and process.exit': {
    files: {
      ...config("{ pool: 'threads' }"),
      'a.test.js': "import { it } from 'vitest'\nit('sets the exit code', () => { process.exitCode = 5 })",
      'b.test.js': "import { it } from 'vitest'\nit('exits', () => process.exit(0))",
    },
  },
  'error after the tests': {
    files: {
      'a.test.js':
        "import { afterAll, it } from 'vitest'\nit('passes', () => { setTimeout(() => { throw new Error('too late') }, 20) })\nafterAll(() => new Promise((resolve) => setTimeout(resolve, 200)))",
    },
  },
  'unhandled errors are ignored': {
    files: {
      ...config('{ dangerouslyIgnoreUnhandledErrors: true }'),
      'a.test.js':
        "import { it } from 'vitest'\nit('leaves a rejection', () => { Promise.reject(new Error('nobody waits')) })\nit('waits', () => new Promise((resolve) => setTimeout(resolve, 50)))",
    },
  },
  'unhandled errors are filtered': {
    files: {
      ...config('{ onUnhandledError: (error) => !/nobody/.test(error.message) && undefined }'),
      'a.test.js':
        "import { it } from 'vitest'\nit('leaves a rejection', () => { Promise.reject(new Error('nobody waits')) })\nit('waits', () => new Promise((resolve) => setTimeout(resolve, 50)))",
    },
  },
  'handles that stay open': {
    files: {
      'a.test.js':
        "import { createServer } from 'node:http'\nimport { it } from 'vitest'\nit('leaves a server', () => { createServer().listen(0); setInterval(() => {}, 1000) })\nit('leaves a promise', () => { new Promise(() => {}) })",
    },
  },
  'process that stays': {
    files: {
      'a.test.js':
        "import { spawn } from 'node:child_process'\nimport { it } from 'vitest'\nit('leaves a process', () => { spawn('sleep', ['30'], { stdio: 'ignore' }).unref() })",
    },
  },
  'type checks in the configuration': {
    files: {
      ...config('{ typecheck: { enabled: true } }'),
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] } }',
      'price.test-d.ts':
        "import { expectTypeOf, it } from 'vitest'\nit('is a text', () => { expectTypeOf(1).toBeString() })\nit('is a number', () => { expectTypeOf(1).toBeNumber() })",
      'price.test.ts': "import { it } from 'vitest'\nit('runs', () => {})",
    },
  },
  'tests in the source': {
    files: {
      ...config("{ includeSource: ['src/*.js'] }"),
      'src/price.js':
        "export const price = () => 1\nif (import.meta.vitest) { const { expect, it } = import.meta.vitest\nit('is one', () => expect(price()).toBe(1))\nit('is two', () => expect(price()).toBe(2)) }",
    },
  },
  'obsolete snapshot': {
    files: {
      'a.test.js': PASSES,
      '__snapshots__/a.test.js.snap':
        '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`is gone 1`] = `"stored"`;\n',
    },
  },
  'only is allowed': {
    files: {
      ...config('{ allowOnly: true }'),
      'only.test.js':
        "import { describe, it } from 'vitest'\nit.only('is meant', () => {})\nit('is left out', () => {})\ndescribe('block', () => { it('is left out too', () => {}) })",
      'other.test.js': PASSES,
    },
  },
  'no test file': { files: { ...config('{}'), 'source.js': '' } },
  'no test file, and that is fine': { files: { ...config('{ passWithNoTests: true }'), 'source.js': '' } },
  'file without tests': { files: { 'a.test.js': 'export {}', 'b.test.js': PASSES } },
  'block without tests': { files: { 'a.test.js': "import { describe } from 'vitest'\ndescribe('empty', () => {})" } },
  'only skipped tests': {
    files: { 'a.test.js': "import { it } from 'vitest'\nit.skip('is skipped', () => {})\nit.todo('is to do')" },
  },
  'file that cannot be loaded': {
    files: {
      'a.test.js': "throw new Error('cannot be loaded')",
      'b.test.js': PASSES,
      'c.test.js': "import './no-such-file.js'",
    },
  },
  'syntax errors': { files: { 'a.test.js': 'it("is not closed', 'b.test.ts': 'const a: = 1', 'c.test.js': PASSES } },
  'configuration in parts': {
    files: {
      'vitest.config.ts': `
        import { defineConfig, mergeConfig } from 'vitest/config'
        import base from './base.config.ts'
        export default mergeConfig(base, defineConfig({ test: { exclude: ['b.test.js'] } }))`,
      'base.config.ts':
        "import { defineConfig } from 'vitest/config'\nexport default defineConfig({ test: { include: ['*.test.js'], retry: 1 } })",
      'a.test.js':
        "import { it } from 'vitest'\nlet tries = 0\nit('passes the second time', () => { if (++tries < 2) throw new Error('red') })",
      'b.test.js': "import { it } from 'vitest'\nit('is excluded', () => { throw new Error('red') })",
    },
  },
  'configuration that throws': {
    files: { 'vitest.config.mjs': "throw new Error('no configuration')", 'a.test.js': PASSES },
  },
  'configuration as a function of the mode': {
    files: {
      'vitest.config.mjs':
        "export default async ({ mode, command }) => ({ test: { include: [mode + '-' + command + '.js'] } })",
      'test-serve.js': PASSES,
    },
  },
  'only a Vite configuration': {
    files: {
      'vite.config.mjs': "export default { test: { include: ['*.check.js'] } }",
      'a.check.js': PASSES,
      'a.test.js': 'throw 1',
    },
  },
  'watch in the configuration': { files: { ...config('{ watch: true }'), 'a.test.js': PASSES } },
  'plugin that throws': {
    files: {
      'vitest.config.mjs':
        "export default { plugins: [{ name: 'own', configResolved() { throw new Error('ENOSPC: System limit for number of file watchers reached') } }] }",
      'a.test.js': PASSES,
    },
  },
  'plugin that transforms': {
    files: {
      'vitest.config.mjs':
        "export default { plugins: [{ name: 'own', transform: (code, id) => id.endsWith('b.test.js') ? (() => { throw new Error('cannot transform') })() : code.replace('PRICE', '2') }] }",
      'a.test.js': "import { expect, it } from 'vitest'\nit('is transformed', () => expect(PRICE).toBe(2))",
      'b.test.js': PASSES,
    },
  },
  'plugin that changes Vitest': {
    files: {
      'vitest.config.mjs':
        "export default { plugins: [{ name: 'own', configureVitest({ vitest }) { vitest.config.retry = 0; vitest.config.passWithNoTests = true } }] }",
    },
  },
  'environment that is not installed': { files: { ...config("{ environment: 'jsdom' }"), 'a.test.js': PASSES } },
  'environment of one file that is not installed': {
    files: { 'a.test.js': `// @vitest-environment happy-dom\n${PASSES}`, 'b.test.js': PASSES },
  },
  'own environment that throws': {
    files: {
      ...config("{ environment: './environment.js' }"),
      'environment.js':
        "export default { name: 'own', transformMode: 'ssr', viteEnvironment: 'ssr', setup() { throw new Error('no browser') } }",
      'a.test.js': PASSES,
    },
  },
  'own runner': {
    files: {
      ...config("{ runner: './runner.js' }"),
      'runner.js': `
        import * as runners from 'vitest/runners'
        import * as vitest from 'vitest'
        const Base = vitest.TestRunner ?? runners.VitestTestRunner
        export default class extends Base { onBeforeTryTask(test) { if (test.name === 'fails') throw new Error('red'); return super.onBeforeTryTask?.(test) } }`,
      'a.test.js': "import { it } from 'vitest'\nit('passes', () => {})\nit('fails', () => {})",
    },
  },
  'own sequencer': {
    files: {
      'vitest.config.mjs': `
        import { BaseSequencer } from 'vitest/node'
        class Own extends BaseSequencer { async sort(files) { return files.filter((file) => !file.moduleId.endsWith('b.test.js')) } }
        export default { test: { sequence: { sequencer: Own } } }`,
      'a.test.js': PASSES,
      'b.test.js': "import { it } from 'vitest'\nit('is left out by the sequencer', () => { throw new Error('red') })",
    },
  },
  'concurrent tests': {
    files: {
      'a.test.js': `
        import { describe, expect, it } from 'vitest'
        describe.concurrent('side by side', () => {
          const met = Promise.withResolvers ? Promise.withResolvers() : undefined
          it('waits for the other', () => met.promise)
          it('is the other', () => met.resolve())
          it('fails', async ({ expect }) => { expect(1).toBe(2) })
        })`,
    },
  },
  'tests in VM threads': {
    files: {
      ...config("{ pool: 'vmThreads' }"),
      'a.test.js': "import { it } from 'vitest'\nit('passes', () => {})\nit('fails', () => { throw new Error('red') })",
    },
  },
  'Vitest in a test': {
    files: {
      'a.test.js': `
        import { spawnSync } from 'node:child_process'
        import { expect, it } from 'vitest'
        it('starts Vitest', { timeout: 0 }, () => {
          const { VITEST, VITEST_MODE, VITEST_POOL_ID, VITEST_WORKER_ID, ...env } = process.env
          const { status } = spawnSync('vitest', ['run', '--root=inner'], { env })
          expect(status).toBe(1)
        })`,
      'inner/inner.test.js':
        "import { it } from 'vitest'\nit('is an inner test that fails', () => { throw new Error('red') })\nit('is an inner test that passes', () => {})",
    },
  },
  'Vitest of the API in a test': {
    files: {
      'a.test.js': `
        import { expect, it } from 'vitest'
        import { execFileSync } from 'node:child_process'
        it('starts Vitest by its API', { timeout: 0 }, () => {
          const code = "import('vitest/node').then(({ startVitest }) => startVitest('test', [], { root: 'inner', watch: false })).then((vitest) => vitest.close())"
          expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', code], { stdio: 'pipe' })).toThrow()
        })`,
      'inner/inner.test.js':
        "import { it } from 'vitest'\nit('is an inner test that fails', () => { throw new Error('red') })",
    },
  },
  'much output': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('prints', () => { for (let n = 0; n < 20000; n++) console.log('line ' + n + ' Error: not true') })",
    },
  },
  'output that looks like an error': {
    files: {
      'a.test.js':
        "import { it } from 'vitest'\nit('prints', () => { console.error('Error: ENOSPC: no space left on device'); console.log('⎯⎯ Startup Error ⎯⎯') })",
    },
  },
  'variables of the job': {
    env: { STATE_STORE_URL: 'https://store.example', INPUT_BUCKET: 'bucket', NODE_ENV: 'production' },
    files: {
      'a.test.js': `
        import { expect, it } from 'vitest'
        it('sees the variables', () => expect([process.env.STATE_STORE_URL, process.env.INPUT_BUCKET]).toEqual(['https://store.example', 'bucket']))
        it('has NODE_ENV ' + process.env.NODE_ENV, () => {})
        it('has CI ' + process.env.CI, () => {})`,
    },
  },
  'options of Node that print': {
    env: { NODE_OPTIONS: '--trace-warnings --throw-deprecation' },
    files: { 'a.test.js': PASSES },
  },
  'expect that is extended and mocks that stay': {
    files: {
      ...config('{ restoreMocks: true, expect: { requireAssertions: true } }'),
      'a.test.js': `
        import { expect, it, vi } from 'vitest'
        vi.mock('node:fs', () => ({ default: {}, readFileSync: () => 'mocked' }))
        it('is mocked', async () => { const { readFileSync } = await import('node:fs'); expect(readFileSync('x')).toBe('mocked') })
        it('has fake timers', () => { vi.useFakeTimers(); expect(Date.now()).toBeGreaterThan(0) })
        it('has no assertion', () => {})`,
    },
  },
  'slow import': {
    files: {
      'a.test.js':
        "await new Promise((resolve) => setTimeout(resolve, 200))\nconst { it } = await import('vitest')\nit('comes late', () => {})",
    },
  },
}

function named(projects: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>>): Project[] {
  return Object.entries(projects).map(([name, project]) => ({ name, framework: 'vitest', ...project }))
}

export const VITEST_PROJECTS_FOR_ARGUMENTS: readonly Project[] = named(FOR_ARGUMENTS)
export const VITEST_PROJECTS: readonly Project[] = named(KINDS)
