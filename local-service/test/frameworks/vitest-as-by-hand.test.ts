import { describe, expect, it } from 'vitest'
import { runProject } from '../support/a-local-service.ts'

// The same result as `npx vitest run` in the same folder, with each version of Vitest.

const PASSES = "import { it } from 'vitest'\nit('passes', () => {})"

/** What a provider does whose threshold is not met. It needs no further package. */
const COVERAGE = `
  const provider = {
    name: 'custom', initialize(vitest) { this.vitest = vitest },
    resolveOptions() { return { ...this.vitest.config.coverage, reportOnFailure: true, reportsDirectory: './coverage' } },
    clean() {}, onAfterSuiteRun() {}, generateCoverage: () => ({}),
    reportCoverage() { this.vitest.logger.error('ERROR: Uncovered functions (2) exceed global threshold (1)'); process.exitCode = 1 },
  }
  export default { getProvider: () => provider, startCoverage() {}, takeCoverage() {}, stopCoverage() {} }`

/** One project with all kinds, because a run of Vitest takes longer than its tests. */
const KINDS = {
  'vitest.config.mjs': `
    const slow = { onTestCaseReady: ({ name }) => name.startsWith('slow') && new Promise((go) => setTimeout(go, 100)) }
    export default { test: {
      reporters: ['default', 'github-actions', slow], globalSetup: './setup.mjs',
      coverage: { enabled: true, provider: 'custom', customProviderModule: './coverage.mjs' } } }`,
  'setup.mjs': "export default () => process.chdir('fixtures')",
  'fixtures/data.txt': '',
  'coverage.mjs': COVERAGE,
  'kinds.test.js': `
    import { afterAll, beforeAll, describe, expect, it } from 'vitest'
    import { pay } from './lib/pay.js'
    let tries = 0
    it('compares', () => {
      expect({ total: 42 }).toEqual({ total: 41 })
    })
    it('is flaky', { retry: 2 }, () => { if (++tries < 3) throw new Error('try ' + tries) })
    it('checks twice', { retry: 1 }, () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4) })
    it('calls a helper', () => pay())
    it('throws no error', () => { throw 'only text' })
    it('takes too long', { timeout: 20 }, () => new Promise(() => {}))
    it.fails('fails as it should', { retry: 1 }, () => expect(1).toBe(2))
    it('has NODE_ENV ' + process.env.NODE_ENV, () => console.log('::' + 'error::of the test'))
    it('inherits no report', () => {
      expect(Object.keys(process.env).filter((name) => name.startsWith('LOCAL_SERVICE_REPORT'))).toEqual([])
    })
    it.skip('is skipped', () => {})
    it('needs a card', ({ skip }) => skip('no card'))
    it.todo('is to do')
    describe('a hook', () => { beforeAll(() => { throw new Error('no database') }); it('never runs', () => {}) })
    describe('another hook', () => { afterAll(() => { throw new Error('no room') }); it('is fine', () => {}) })`,
  'lib/pay.js': `export function pay() {
    throw new Error('no money', { cause: new Error('too many books', { cause: 'card declined' }) })
  }`,
  'causes.test.js': `
    import { it } from 'vitest'
    const outside = { stack: 'Error\\n    at /nowhere.js:1:1' }
    it('has the place of its cause', () => {
      throw Object.assign(new Error('outer', { cause: new Error('inner') }), outside)
    })
    it('asks two', () => Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]))
    it('connects', () => {
      const errors = ['::1', '127.0.0.1'].map((to) => Object.assign(new Error('to ' + to), { code: 'ECONNREFUSED' }))
      const cause = Object.assign(new AggregateError(errors, ''), { code: 'ECONNREFUSED' })
      throw new TypeError('fetch failed', { cause })
    })
    it('leaves a rejection', async () => {
      Promise.reject(new Error('lost'))
      await new Promise((go) => setTimeout(go, 50))
    })`,
  'broken/throws.test.js': '\nthrow new Error("cannot be loaded")',
  'broken/mocks.test.js': `
    import { it, vitest } from 'vitest'
    import { pay } from '../lib/pay.js'
    vitest.mock('../lib/pay.js', () => {
      throw new Error('no mock') })
    it('pays', () => pay())`,
  'broken/types.test.ts': '\n\nconst price: = 1',
  'broken/imports.test.js': "import './part.ts'",
  'broken/part.ts': 'export const price = 1\n\nfunction (',
  'broken/awaits.test.js': "import { it } from 'vitest'\n\nit('waits', () => { await 1 })",
  'last.test.js': `
    import { setTimeout as delay } from 'node:timers/promises'
    import { it } from 'vitest'
    for (let index = 0; index < 10; index++) it('slow ' + index, () => delay(5))`,
}

describe.each([3, 4, 5] as const)('a run of Vitest %s', (version) => {
  const run = (files: Readonly<Record<string, string>>) =>
    runProject(files, { framework: 'vitest', version: `vitest-${version}` })

  it('has the result of each test and file, every reason with its causes, each place, and no annotation but that of a test', async () => {
    const { status: ofRun, message, results, output, ...place } = await run(KINDS)
    expect([ofRun, output.match(/::(?:error|notice).*/g)]).toEqual(['FAILED', ['::error::of the test']])
    expect(place).toMatchObject({ filePath: 'causes.test.js', line: 14 })
    expect(message).toBe(
      'vitest reported an error outside the tests: Unhandled Rejection: Error: lost\nat causes.test.js:14\n' +
        'This error originated in "causes.test.js" test file.\n' +
        'The last test to run before this error was "leaves a rejection".\n\n' +
        'ERROR: Uncovered functions (2) exceed global threshold (1)',
    )
    const cases = results?.testCases.map(({ title, durationMs: _, ...others }) => [title, others] as const) ?? []
    const named = cases.filter(([title]) => !/^slow \d$/.test(title))
    const failed = (place: string, message: unknown, status = 'FAILED') => {
      const [file, line] = place.split(':')
      return { status, message, filePath: file || 'kinds.test.js', line: line && Number(line) }
    }
    const [passed, skipped] = ['PASSED', 'SKIPPED'].map((status) => ({ status, filePath: 'kinds.test.js' }))
    const equal =
      'AssertionError: expected { total: 42 } to deeply equal { total: 41 }\n\n' +
      '- Expected\n+ Received\n\n  {\n-   "total": 41,\n+   "total": 42,\n  }'
    const twice = /^(?!.*expected 1.*expected 1).*1 to be 2[\s\S]*\n\nAssertionError: .*3 to be 4/
    const noMoney =
      /^Error: no money\nCaused by: Error: too many books\nCaused by: card declined\nat (Module\.)?pay \(lib\/pay\.js:2:11\)\nat kinds\.test\.js:10:\d+$/
    const refused = [
      'TypeError: fetch failed',
      'Caused by: AggregateError (ECONNREFUSED)',
      'One of its errors: Error: to ::1 (ECONNREFUSED)',
      'One of its errors: Error: to 127.0.0.1 (ECONNREFUSED)',
    ]
    const noMock = /error when mocking a module.*\nCaused by: Error: no mock$/
    expect(Object.fromEntries(named)).toEqual({
      compares: failed(':6', equal),
      'is flaky': failed(':8', 'Error: try 2', 'FLAKY'),
      'checks twice': failed(':9', expect.stringMatching(twice)),
      'calls a helper': failed(':10', expect.stringMatching(noMoney)),
      'throws no error': failed(':11', 'only text'),
      'takes too long': failed(':12', expect.stringContaining('timed out in 20ms')),
      'fails as it should': passed,
      'has NODE_ENV test': passed,
      'inherits no report': passed,
      'is skipped': skipped,
      'is to do': skipped,
      'needs a card': { ...skipped, message: 'no card' },
      'a hook > never runs': skipped,
      'a hook': failed(':21', 'Error: no database'),
      'another hook > is fine': passed,
      'another hook': failed(':22', 'Error: no room'),
      'has the place of its cause': failed('causes.test.js:5', 'Error: outer\nCaused by: Error: inner'),
      'asks two': failed('causes.test.js:7', expect.stringMatching(/Error: one[\s\S]*Error: two/)),
      connects: failed('causes.test.js:11', refused.join('\n')),
      'leaves a rejection': { status: 'PASSED', filePath: 'causes.test.js' },
      'broken/throws.test.js': failed('broken/throws.test.js:2', 'Error: cannot be loaded'),
      // Vitest 5 prints no place for the error itself.
      'broken/mocks.test.js': failed(`broken/mocks.test.js:${version === 5 ? 5 : 3}`, expect.stringMatching(noMock)),
      'broken/types.test.ts': failed('broken/types.test.ts:3', expect.stringContaining('types.test.ts:3:')),
      'broken/imports.test.js': failed('broken/part.ts:3', expect.stringContaining('part.ts:3:')),
      'broken/awaits.test.js': failed('broken/awaits.test.js:3', expect.stringContaining('awaits.test.js:3:')),
    })
    // A slow reporter must not delay a result, and the order is that of the files, whichever file ends first.
    const files = cases.map(([, { filePath }]) => filePath).filter((file) => /^\w+\.test/.test(file ?? ''))
    expect(files).toEqual(files.toSorted())
    const slow = cases.filter(([title]) => title.startsWith('slow')).map(([, one]) => one.status)
    expect(slow).toEqual(Array.from({ length: 10 }, () => 'PASSED'))
  })

  it('passes if Vitest exits with 0 when all tests have ended, and does not if it exits before that', async () => {
    const exitAfter = (count: number) => `
      let ended = 0
      const exits = { onTestModuleEnd() { if (++ended === ${count}) process.exit(0) } }
      export default { test: { reporters: ['default', exits], fileParallelism: false } }`
    const files = { 'a.test.js': PASSES, 'b.test.js': PASSES }
    // The versions do not differ in that.
    const early = version === 5 ? await run({ ...files, 'vitest.config.mjs': exitAfter(1) }) : undefined
    expect(early?.status).toBe(early && 'INTERRUPTED')
    const late = await run({ ...files, 'vitest.config.mjs': exitAfter(2) })
    expect(late).toMatchObject({ status: 'PASSED', results: { testCases: [{}, {}] } })
  })
})
