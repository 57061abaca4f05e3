import { describe, expect, it } from 'vitest'
import { installPackages, writeFiles } from '../../../test/support/git-repository.ts'
import { type RunObject, startService, temporaryFolder } from '../support/a-local-service.ts'

// The same result as `npx vitest run` in the same folder, with each version of Vitest.

const PASSES = "import { it } from 'vitest'\nit('passes', () => {})"

describe.each([3, 4, 5] as const)('a run of Vitest %s', (version) => {
  const run = (files: Record<string, string>, ...args: string[]) => start({}, files, ...args)

  async function start(body: object, files: Record<string, string>, ...args: string[]): Promise<RunObject> {
    const folder = await temporaryFolder()
    await installPackages(folder, version)
    await writeFiles(folder, { 'vitest.config.mjs': 'export default {}', ...files })
    const service = await startService({ projects: { shop: { folder, args } } })
    return service.waitFor(await service.startRun(body))
  }

  const resultsOf = ({ results }: RunObject) =>
    Object.fromEntries(results?.testCases.map(({ title, status }) => [title, status]) ?? [])

  it('passes if a reporter of the project is slow', async () => {
    const tests = Array.from({ length: 40 }, (_, index) => `it('test ${index}', () => delay(5))`)
    const { status, message, results } = await run({
      'vitest.config.mjs': `
        const slow = { onTestCaseReady: () => new Promise((go) => setTimeout(go, 100)) }
        export default { test: { reporters: ['default', slow] } }`,
      'a.test.js': `
        import { setTimeout as delay } from 'node:timers/promises'
        import { it } from 'vitest'
        ${tests.join('\n')}`,
    })
    expect([status, message]).toEqual(['PASSED', undefined])
    expect(results?.testCases.map((one) => one.status)).toEqual(Array.from(tests, () => 'PASSED'))
  })

  it('calls a test PASSED that fails as it should, also with retries', async () => {
    const { status, results } = await run(
      { 'a.test.js': "import { it } from 'vitest'\nit.fails('fails', () => { throw new Error('red') })" },
      '--retry=1',
    )
    expect([status, results?.testCases[0]?.status]).toEqual(['PASSED', 'PASSED'])
  })

  it('runs only the tests of types with --typecheck.only', async () => {
    const files = {
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] } }',
      // It says what the compiler says, and takes no time.
      'checker.mjs': `#!/usr/bin/env node
        console.log("types.test-d.ts(2,15): error TS2344: Type 'string' does not satisfy the constraint.")
        process.exitCode = 2`,
      'types.test-d.ts': "import { it } from 'vitest'\nit('types', () => {})",
      'passes.test.ts': PASSES,
    }
    const result = await run(files, '--typecheck.only', '--typecheck.checker=./checker.mjs')
    expect(result.status).toBe('FAILED')
    expect(resultsOf(result)).not.toHaveProperty('passes')
  })

  it.each(['--retires=3', '--grep=smoke'])('refuses %s with the words of Vitest', async (argument) => {
    const [option] = argument.split('=')
    expect(await run({ 'a.test.js': PASSES }, argument)).toMatchObject({
      status: 'FAILED',
      message: `vitest could not run the tests: CACError: Unknown option \`${option}\``,
    })
  })

  it('counts the tests after "bail" as skipped', async () => {
    const later = Array.from({ length: 30 }, (_, index) => `it('test ${index}', () => {})`)
    const { status, results } = await run({
      'vitest.config.mjs': 'export default { test: { bail: 1, fileParallelism: false } }',
      'a.test.js': `import { it } from 'vitest'\nit('fails', () => { throw new Error('first') })\n${later.join('\n')}`,
    })
    expect(status).toBe('FAILED')
    expect(results?.testCases.map((one) => one.status)).toEqual(['FAILED', ...Array.from(later, () => 'SKIPPED')])
  })

  it('lists the tests in the order of their files, whichever file ends first', async () => {
    const waits = (ms: number) =>
      `import { it } from 'vitest'\nit('waits ${ms}', () => new Promise((go) => setTimeout(go, ${ms})))`
    const files = ['a', 'b', 'c/a', 'd'].map((name, index) => [`${name}.test.js`, waits(300 - 100 * index)])
    const { results } = await run(Object.fromEntries(files.toReversed()))
    expect(results?.testCases.map(({ filePath }) => filePath)).toEqual(files.map(([name]) => name))
  })

  it('gives every assertion of the last attempt, and every cause', async () => {
    const { results } = await run({
      'a.test.js': `
        import { expect, it } from 'vitest'
        it('checks', { retry: 1 }, () => {
          expect.soft(1).toBe(2)
          expect.soft(3).toBe(4)
        })
        it('pays', () => {
          throw new Error('checkout failed', { cause: new Error('payment failed', { cause: 'card declined' }) })
        })
        it('asks two', () => Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]))`,
    })
    const [checks, pays, asks] = results?.testCases.map(({ message = '' }) => message) ?? []
    expect(checks?.match(/expected \d to be \d/g)).toEqual(['expected 1 to be 2', 'expected 3 to be 4'])
    expect(pays).toMatch(/^Error: checkout failed\nCaused by: .*payment failed\nCaused by: card declined$/)
    expect(asks).toMatch(/Error: one[\s\S]*Error: two/)
  })

  it('says which threshold of the coverage is not met, in every form of a threshold, also if a test failed', async () => {
    const said = 'ERROR: Uncovered functions (2) exceed global threshold (1)'
    const files = {
      'vitest.config.mjs': `export default { test: { coverage: {
        enabled: true, provider: 'custom', customProviderModule: './coverage.mjs', reportOnFailure: true } } }`,
      'coverage.mjs': `
        const provider = {
          name: 'custom', initialize(vitest) { this.vitest = vitest },
          resolveOptions() { return { ...this.vitest.config.coverage, reportsDirectory: './coverage' } },
          clean() {}, onAfterSuiteRun() {}, generateCoverage: () => ({}),
          reportCoverage() { this.vitest.logger.error('${said}'); process.exitCode = 1 },
        }
        export default { getProvider: () => provider, startCoverage() {}, takeCoverage() {}, stopCoverage() {} }`,
      'a.test.js': PASSES,
    }
    const message = `vitest exited with code 1, although no test failed: ${said}`
    expect(await run(files)).toMatchObject({ status: 'FAILED', message })
    const fails = "import { it } from 'vitest'\nit('fails', () => { throw new Error('ERROR: of a test') })"
    expect(await run({ ...files, 'a.test.js': fails })).toMatchObject({
      status: 'FAILED',
      message: `vitest reported an error outside the tests: ${said}`,
      results: { testCases: [{ title: 'fails', status: 'FAILED' }] },
    })
  })

  it('names the place of a failure, also if the global setup changes the folder', async () => {
    const { results } = await run({
      'vitest.config.mjs': "export default { test: { globalSetup: './setup.mjs' } }",
      'setup.mjs': "export default () => process.chdir('fixtures')",
      'fixtures/data.txt': '',
      'a.test.js': "import { it } from 'vitest'\n\nit('fails', () => {\n  throw new Error('here')\n})",
    })
    expect(results?.testCases).toMatchObject([{ title: 'fails', filePath: 'a.test.js', line: 4 }])
  })

  it('leaves a test no variable of its report, because a test may start Vitest itself', async () => {
    const { status } = await run({
      'a.test.js': `
        import { expect, it } from 'vitest'
        it('inherits no report', () => {
          expect(Object.keys(process.env).filter((name) => name.startsWith('LOCAL_SERVICE_REPORT'))).toEqual([])
          expect(process.env.NODE_ENV).toBe('test')
        })`,
    })
    expect(status).toBe('PASSED')
  })

  it('passes with a time for the teardown that is nearly nothing', async () => {
    expect(await run({ 'a.test.js': PASSES }, '--teardownTimeout=5')).toMatchObject({ status: 'PASSED' })
  })
})
