import type { Project } from './project.ts'

// Each project is a kind: something that a real project has and that changes which tests run, their results or the exit code.
// No test has a page, so no browser is needed.

const PASSES = "import { test } from '@playwright/test'\ntest('passes', () => {})\n"
const FAILS = "import { test } from '@playwright/test'\ntest('fails', () => { throw new Error('red') })\n"

const config = (settings: string) => ({ 'playwright.config.js': `export default ${settings}\n` })

/** The projects that the table of arguments uses. */
const FOR_ARGUMENTS: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>> = {
  shop: {
    files: {
      ...config("{ testDir: 'tests', reporter: 'list', workers: 2 }"),
      'other.config.js': "export default { testDir: 'tests', testMatch: '*.check.js' }",
      'red.config.js': "export default { testDir: 'tests', testMatch: '*.red.js' }",
      'broken.config.js': "throw new Error('there is no database')",
      'config/playwright.config.js': "export default { testDir: '../tests/deep' }",
      'tests/cart.spec.js': `
        import { expect, test } from '@playwright/test'
        test.describe('cart', () => {
          test('adds @smoke', () => {})
          test('removes 5', { tag: '@fast' }, () => {})
          test.skip('is skipped', () => {})
          test.fixme('is to be fixed', () => {})
        })`,
      'tests/cart.check.js': "import { test } from '@playwright/test'\ntest('is checked', () => {})",
      'tests/cart.red.js': FAILS,
      'tests/money.spec.js':
        "import { test } from '@playwright/test'\ntest('rounds up @smoke', () => {})\ntest('rounds down', () => {})",
      'tests/deep/tax.spec.js': "import { test } from '@playwright/test'\ntest('adds tax', () => {})",
      'list.txt': 'money.spec.js\n',
    },
  },
  'one failing test among others': {
    files: {
      ...config('{ workers: 1 }'),
      'a.spec.js': `
        import { test } from '@playwright/test'
        test('passes before', () => {})
        test('fails', () => { throw new Error('no money') })
        test('passes after', () => {})`,
      'b.spec.js':
        "import { test } from '@playwright/test'\ntest('fails too', () => { throw new Error('no money') })\ntest('is last', () => {})",
    },
  },
  flaky: {
    files: {
      ...config('{ retries: 0 }'),
      'a.spec.js': `
        import { test } from '@playwright/test'
        test('passes the second time', ({}, { retry }) => { if (retry === 0) throw new Error('first try') })
        test('passes', () => {})`,
    },
  },
  'passes only the first time': {
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('is number 0', ({}, { repeatEachIndex }) => { if (repeatEachIndex > 1) throw new Error('red') })",
    },
  },
  waits: {
    files: {
      ...config('{ workers: 1 }'),
      'a.spec.js': `
        import { expect, test } from '@playwright/test'
        test('passes', () => {})
        test('waits', () => new Promise((resolve) => setTimeout(resolve, 4000)))
        test('comes last', () => {})`,
    },
  },
  hangs: {
    files: {
      ...config('{ workers: 1, timeout: 0 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('passes', () => {})\ntest('hangs', () => new Promise(() => {}))\ntest('never runs', () => {})",
    },
  },
  only: {
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest.only('is meant', () => {})\ntest('is left out', () => {})",
    },
  },
  'several projects': {
    files: {
      ...config(`{ projects: [
        { name: 'setup', testMatch: 'setup.js', teardown: 'teardown' }, { name: 'teardown', testMatch: 'teardown.js' },
        { name: 'shop', dependencies: ['setup'] }, { name: 'admin', dependencies: ['setup'], grep: /shared/ }] }`),
      'setup.js':
        "import { test } from '@playwright/test'\ntest('sets up', () => { if (process.env.RED) throw new Error('red') })",
      'teardown.js': "import { test } from '@playwright/test'\ntest('tears down', () => {})",
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('is shared', () => {})\ntest('is of the shop', () => {})",
    },
  },
  changed: {
    git: { commits: 2, change: { 'source.js': 'export const price = 3' } },
    files: {
      'source.js': 'export const price = 1',
      'source.spec.js':
        "import { test } from '@playwright/test'\nimport './source.js'\ntest('needs the source', () => {})",
      'other.spec.js': FAILS,
    },
  },
  'last failed': {
    files: {
      ...config("{ outputDir: 'test-results' }"),
      'test-results/.last-run.json': '{ "status": "failed", "failedTests": [] }',
      'a.spec.js': PASSES,
    },
  },
  snapshots: {
    files: {
      ...config("{ snapshotPathTemplate: '{testDir}/stored/{arg}{ext}' }"),
      'a.spec.js': `
        import { expect, test } from '@playwright/test'
        test('is as stored', () => expect('stored').toMatchSnapshot('same.txt'))
        test('is other than stored', () => expect('other').toMatchSnapshot('other.txt'))
        test('is not stored yet', () => expect('new').toMatchSnapshot('new.txt'))`,
      'stored/same.txt': 'stored',
      'stored/other.txt': 'stored',
    },
  },
  'paths of a tsconfig': {
    files: {
      'tsconfig.e2e.json': '{ "compilerOptions": { "baseUrl": ".", "paths": { "@shop/*": ["./shop/*"] } } }',
      'shop/price.ts': 'export const price: number = 1',
      'a.spec.ts':
        "import { expect, test } from '@playwright/test'\nimport { price } from '@shop/price'\ntest('has a price', () => expect(price).toBe(1))",
    },
  },
}

const KINDS: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>> = {
  'every kind of result': {
    files: {
      'a.spec.js': `
        import { expect, test } from '@playwright/test'
        test.describe('kinds', () => {
          test('passes', () => {})
          test('fails', () => expect(1).toBe(2))
          test('throws a text', () => { throw 'only text' })
          test('checks twice', () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4) })
          test('takes too long', () => { test.setTimeout(100); return new Promise(() => {}) })
          test.fail('fails as it should', () => expect(1).toBe(2))
          test.fail('passes, but should fail', () => {})
          test.skip('is skipped', () => {})
          test.fixme('is to be fixed', () => {})
          test('skips itself', () => test.skip())
          test('skips itself by a condition', () => test.skip(true, 'not today'))
          test('expects to fail', () => { test.fail(); expect(1).toBe(2) })
          test('has steps', async () => { await test.step('a step', () => {}) })
          for (const name of ['a', 'b']) test('has name ' + name, () => {})
        })
        test.describe.skip('skipped', () => { test('is in a skipped block', () => {}) })
        test.describe('outer', () => { test.describe('inner', () => { test('is deep', () => {}) }) })
        test.describe(() => { test('is in a block without a name', () => {}) })`,
    },
  },
  'errors with causes': {
    files: {
      'a.spec.js': `
        import { test } from '@playwright/test'
        test('has causes', () => { throw new Error('checkout', { cause: new Error('payment', { cause: new Error('card') }) }) })
        test('has several errors', () => Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]))
        test('throws null', () => { throw null })`,
    },
  },
  'hooks that throw': {
    files: {
      'a.spec.js': `
        import { test } from '@playwright/test'
        test.describe('before all', () => { test.beforeAll(() => { throw new Error('before all') }); test('never runs', () => {}); test('never runs either', () => {}) })
        test.describe('before each', () => { test.beforeEach(() => { throw new Error('before each') }); test('fails', () => {}) })
        test.describe('after all', () => { test.afterAll(() => { throw new Error('after all') }); test('passes', () => {}) })
        test.describe('after each', () => { test.afterEach(() => { throw new Error('after each') }); test('fails', () => {}) })`,
    },
  },
  'fixtures that throw': {
    files: {
      'a.spec.js': `
        import { test as base } from '@playwright/test'
        const test = base.extend({
          database: async ({}, use) => { throw new Error('no database') },
          left: async ({}, use) => { await use(1); throw new Error('not closed') },
          worker: [async ({}, use) => { await use(1); throw new Error('worker not closed') }, { scope: 'worker' }],
        })
        test('needs the database', ({ database }) => {})
        test('leaves something', ({ left }) => {})
        test('uses the worker', ({ worker }) => {})
        test('needs nothing', () => {})`,
    },
  },
  'serial tests': {
    files: {
      ...config('{ retries: 1 }'),
      'a.spec.js': `
        import { test } from '@playwright/test'
        test.describe.serial('in a row', () => {
          test('comes first', () => {})
          test('fails the first time', ({}, { retry }) => { if (retry === 0) throw new Error('red') })
          test('comes last', () => {})
        })
        test.describe.serial('in a row that fails', () => {
          test('fails', () => { throw new Error('red') })
          test('never runs', () => {})
        })`,
    },
  },
  'dependency that fails': {
    files: {
      ...config(`{ projects: [
        { name: 'setup', testMatch: 'setup.js', teardown: 'teardown' }, { name: 'teardown', testMatch: 'teardown.js' },
        { name: 'shop', dependencies: ['setup'] }] }`),
      'setup.js': FAILS,
      'teardown.js': PASSES,
      'a.spec.js': "import { test } from '@playwright/test'\ntest('never runs', () => {})",
    },
  },
  'teardown project that fails': {
    files: {
      ...config(`{ projects: [
        { name: 'setup', testMatch: 'setup.js', teardown: 'teardown' }, { name: 'teardown', testMatch: 'teardown.js' },
        { name: 'shop', dependencies: ['setup'] }] }`),
      'setup.js': PASSES,
      'teardown.js': FAILS,
      'a.spec.js': PASSES,
    },
  },
  'flaky tests are forbidden': {
    files: {
      ...config('{ retries: 1, failOnFlakyTests: true }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('is flaky', ({}, { retry }) => { if (retry === 0) throw new Error('first try') })",
    },
  },
  'flaky tests are allowed': {
    files: {
      ...config('{ retries: 2 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('is flaky', ({}, { retry }) => { if (retry < 2) throw new Error('try ' + retry) })\ntest('never passes', () => { throw new Error('red') })",
    },
  },
  'only is forbidden': {
    files: {
      ...config('{ forbidOnly: true }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest.only('is meant', () => {})\ntest('is left out', () => {})",
    },
  },
  'time limit of all tests': {
    files: {
      ...config('{ globalTimeout: 20_000, workers: 1 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('passes', () => {})\ntest('hangs', () => new Promise(() => {}))\ntest('never runs', () => {})",
    },
  },
  'time limit of a test': {
    files: {
      ...config('{ timeout: 2000, retries: 1 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('hangs', () => new Promise(() => {}))\ntest('hangs the first time', ({}, { retry }) => retry === 0 ? new Promise(() => {}) : undefined)",
    },
  },
  'most failures': {
    files: {
      ...config('{ maxFailures: 1, workers: 1 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('passes', () => {})\ntest('fails', () => { throw new Error('red') })\ntest('never runs', () => {})",
      'b.spec.js': "import { test } from '@playwright/test'\ntest('never runs either', () => {})",
    },
  },
  'most failures while another test runs': {
    files: {
      ...config('{ maxFailures: 1, workers: 2 }'),
      'a.spec.js':
        "import { existsSync } from 'node:fs'\nimport { test } from '@playwright/test'\ntest('fails', async () => { while (!existsSync('running')) await new Promise((resolve) => setTimeout(resolve, 20)); throw new Error('red') })",
      'b.spec.js':
        "import { writeFileSync } from 'node:fs'\nimport { test } from '@playwright/test'\ntest('is cut off', () => { writeFileSync('running', ''); return new Promise(() => {}) })\ntest('never runs', () => {})",
    },
  },
  'web server that fails': {
    files: {
      ...config('{ webServer: { command: \'node -e "process.exit(3)"\', port: 45871, timeout: 30000 } }'),
      'a.spec.js': PASSES,
    },
  },
  'web server that works': {
    files: {
      ...config("{ webServer: { command: 'node server.js', stdout: 'ignore', wait: { stdout: /ready/ } } }"),
      'server.js':
        "import { createServer } from 'node:http'\ncreateServer().listen(0, '127.0.0.1', () => console.log('ready'))",
      'a.spec.js': PASSES,
    },
  },
  'global setup that throws': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export default () => { throw new Error('no database') }",
      'a.spec.js': PASSES,
    },
  },
  'global setup that changes the folder': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': "export default () => process.chdir('fixtures')",
      'fixtures/data.txt': 'data',
      'a.spec.js': FAILS,
    },
  },
  'global setup that exits with 0': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export default () => process.exit(0)',
      'a.spec.js': PASSES,
    },
  },
  'global setup that exits with 7': {
    files: {
      ...config("{ globalSetup: './setup.js' }"),
      'setup.js': 'export default () => process.exit(7)',
      'a.spec.js': PASSES,
    },
  },
  'global teardown that throws': {
    files: {
      ...config("{ globalTeardown: './teardown.js' }"),
      'teardown.js': "export default () => { throw new Error('not closed') }",
      'a.spec.js': PASSES,
    },
  },
  'global teardown that sets the exit code': {
    files: {
      ...config("{ globalTeardown: './teardown.js' }"),
      'teardown.js': 'export default () => { process.exitCode = 4 }',
      'a.spec.js': PASSES,
    },
  },
  'global teardown that exits with 0 although a test failed': {
    files: {
      ...config("{ globalTeardown: './teardown.js' }"),
      'teardown.js': 'export default () => process.exit(0)',
      'a.spec.js': FAILS,
    },
  },
  'reporter that waits': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js':
        'export default class { async onEnd() { await new Promise((resolve) => setTimeout(resolve, 500)) } async onExit() { await new Promise((resolve) => setTimeout(resolve, 500)) } }',
      'a.spec.js': PASSES,
    },
  },
  'reporter that throws at the end': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { onEnd() { throw new Error('no room for the report') } }",
      'a.spec.js': PASSES,
    },
  },
  'reporter that rejects at the end': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { async onEnd() { throw new Error('no room for the report') } }",
      'a.spec.js': PASSES,
    },
  },
  'reporter that throws at a test': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { onTestEnd() { throw new Error('cannot write') } }",
      'a.spec.js': PASSES,
    },
  },
  'reporter that throws at its start': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { constructor() { throw new Error('no token') } }",
      'a.spec.js': PASSES,
    },
  },
  'reporter that changes the status to failed': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { onEnd() { return { status: 'failed' } } }",
      'a.spec.js': PASSES,
    },
  },
  'reporter that changes the status to passed': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': "export default class { onEnd() { return { status: 'passed' } } }",
      'a.spec.js': FAILS,
    },
  },
  'reporter that exits with 0 although a test failed': {
    files: {
      ...config("{ reporter: [['list'], ['./reporter.js']] }"),
      'reporter.js': 'export default class { onEnd() { process.exit(0) } }',
      'a.spec.js': FAILS,
    },
  },
  'reporter that cannot be loaded': { files: { ...config("{ reporter: './nowhere.js' }"), 'a.spec.js': PASSES } },
  'reporters that write files': {
    files: {
      ...config(
        "{ reporter: [['json', { outputFile: 'out/report.json' }], ['junit', { outputFile: 'out/junit.xml' }], ['html', { open: 'never' }]] }",
      ),
      'a.spec.js': PASSES,
    },
  },
  'reporter of GitHub': { files: { ...config("{ reporter: 'github' }"), 'a.spec.js': FAILS } },
  'worker that is killed': {
    files: {
      ...config('{ workers: 1 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('kills its worker', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}) })\ntest('comes later', () => {})",
    },
  },
  'worker without memory': {
    env: { NODE_OPTIONS: '--max-old-space-size=150' },
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('grows', () => { const all = []; for (;;) all.push(new Array(1e5).fill({ size: all.length })) })",
    },
  },
  'process.exit in a test': {
    files: {
      ...config('{ workers: 1 }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('exits', () => process.exit(0))\ntest('comes later', () => {})",
    },
  },
  'process.exit while a file is loaded': { files: { 'a.spec.js': 'process.exit(0)', 'b.spec.js': PASSES } },
  'unhandled rejection': {
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('leaves a rejection', async () => { Promise.reject(new Error('nobody waits')); await new Promise((resolve) => setTimeout(resolve, 50)) })\ntest('passes', () => {})",
    },
  },
  'handles that stay open': {
    files: {
      'a.spec.js':
        "import { createServer } from 'node:http'\nimport { test } from '@playwright/test'\ntest('leaves a server', () => { createServer().listen(0); setInterval(() => {}, 1000) })",
    },
  },
  'no test file': { files: config("{ testDir: '.' }") },
  'file without tests': { files: { 'a.spec.js': 'export {}' } },
  'file that cannot be loaded': {
    files: {
      'a.spec.js': "throw new Error('cannot be loaded')",
      'b.spec.js': PASSES,
      'c.spec.js': "import './nowhere.js'",
    },
  },
  'syntax error': { files: { 'a.spec.js': 'test("is not closed', 'b.spec.js': PASSES } },
  'titles that repeat': {
    files: {
      'a.spec.js': "import { test } from '@playwright/test'\ntest('same', () => {})\ntest('same', () => {})",
      'b.spec.js': PASSES,
    },
  },
  'titles that repeat in files': {
    files: {
      'a.spec.js': PASSES,
      'b.spec.js': PASSES,
      'c.spec.js': "import { test } from '@playwright/test'\ntest.skip('passes', () => {})",
    },
  },
  'only skipped tests': {
    files: { 'a.spec.js': "import { test } from '@playwright/test'\ntest.skip('is skipped', () => {})" },
  },
  'configuration that throws': {
    files: { 'playwright.config.js': "throw new Error('no configuration')", 'a.spec.js': PASSES },
  },
  'configuration in TypeScript': {
    files: {
      'playwright.config.ts':
        "import { defineConfig } from '@playwright/test'\nimport { base } from './base.ts'\nexport default defineConfig(base, { retries: 1 })",
      'base.ts': "export const base = { testMatch: '*.check.ts' as const }",
      'a.check.ts':
        "import { test } from '@playwright/test'\nenum Size { Small }\ntest('is TypeScript ' + Size.Small, ({}, { retry }) => { if (retry === 0) throw new Error('red') })",
    },
  },
  'configuration with a wrong value': { files: { ...config("{ workers: 'many', retries: -1 }"), 'a.spec.js': PASSES } },
  'configuration with grep': {
    files: {
      ...config('{ grep: /shop/, grepInvert: /slow/ }'),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('shop', () => {})\ntest('slow shop', () => {})\ntest('other', () => {})",
    },
  },
  'shard in the configuration': {
    files: { ...config('{ shard: { current: 2, total: 2 } }'), 'a.spec.js': PASSES, 'b.spec.js': FAILS },
  },
  'project that repeats': {
    files: {
      ...config("{ projects: [{ name: 'twice', repeatEach: 2 }, { name: 'again', retries: 1 }] }"),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('passes', () => {})\ntest('fails', () => { throw new Error('red') })",
    },
  },
  'Playwright in a test': {
    files: {
      ...config("{ testMatch: 'outer.spec.js' }"),
      'outer.spec.js': `
        import { spawnSync } from 'node:child_process'
        import { expect, test } from '@playwright/test'
        test('starts Playwright', () => {
          test.setTimeout(0)
          const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEST_')))
          const { status } = spawnSync('playwright', ['test', '--config=inner/playwright.config.js'], { env })
          expect(status).toBe(1)
        })`,
      'inner/playwright.config.js': 'export default {}',
      'inner/inner.spec.js': FAILS,
    },
  },
  'Vitest in a test': {
    files: {
      ...config("{ testMatch: 'outer.spec.js' }"),
      'outer.spec.js': `
        import { spawnSync } from 'node:child_process'
        import { expect, test } from '@playwright/test'
        test('starts Vitest', () => { test.setTimeout(0); expect(spawnSync('vitest', ['run', '--root=inner']).status).toBe(1) })`,
      'inner/inner.test.js':
        "import { it } from 'vitest'\nit('is an inner test that fails', () => { throw new Error('red') })",
    },
  },
  'variables of the job': {
    env: { STATE_STORE_URL: 'https://store.example', INPUT_BUCKET: 'bucket' },
    files: {
      'a.spec.js': `
        import { expect, test } from '@playwright/test'
        test('sees the variables', () => expect([process.env.STATE_STORE_URL, process.env.INPUT_BUCKET]).toEqual(['https://store.example', 'bucket']))
        test('has CI ' + process.env.CI, () => {})`,
    },
  },
  'reporters by the variable CI': {
    files: {
      ...config(
        "{ reporter: process.env.CI ? 'github' : 'list', forbidOnly: !!process.env.CI, retries: process.env.CI ? 1 : 0 }",
      ),
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('is flaky', ({}, { retry }) => { if (retry === 0) throw new Error('first try') })",
    },
  },
  'missing browser': {
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('needs a page', ({ page }) => {})\ntest('needs none', () => {})",
    },
  },
  'much output': {
    files: {
      'a.spec.js':
        "import { test } from '@playwright/test'\ntest('prints', () => { for (let n = 0; n < 20000; n++) console.log('line ' + n + ' Error: not true') })",
    },
  },
}

function named(projects: Readonly<Record<string, Omit<Project, 'name' | 'framework'>>>): Project[] {
  return Object.entries(projects).map(([name, project]) => ({ name, framework: 'playwright', ...project }))
}

export const PLAYWRIGHT_PROJECTS_FOR_ARGUMENTS: readonly Project[] = named(FOR_ARGUMENTS)
export const PLAYWRIGHT_PROJECTS: readonly Project[] = named(KINDS)
