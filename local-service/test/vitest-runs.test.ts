import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { installPackages, writeFiles } from '../../test/support/git-repository.ts'
import { vitest } from '../src/frameworks/vitest.ts'
import { runTests } from '../src/runs/run-tests.ts'
import { isAlive, pidsIn, startService, temporaryFolder, testRunIn, until, WEB_SHOP } from './a-local-service.ts'

describe('a run of the web shop, with its own Vitest', () => {
  it('passes with the true cases, describe paths in their titles, and takes patterns for its framework projects', async () => {
    const service = await startService({})
    const run = await service.waitFor(await service.startRun({ frameworkProjectName: 'unit, check*' }))
    expect(run.status).toBe('PASSED')
    const cases = run.results?.testCases ?? []
    expect(cases.filter(({ status }) => status === 'PASSED')).toHaveLength(15)
    expect(cases.filter(({ status }) => status === 'SKIPPED').map(({ title }) => title)).toEqual([
      'money > is shown in the currency of the customer',
    ])
    expect(cases.map(({ title }) => title)).toContain('checkout > shipping > is free from 50 euros on')
  })

  it('fails with the failing cases when an override switches the bug on, and the log says what they said', async () => {
    const service = await startService({})
    const run = await service.waitFor(await service.startRun({ envOverrides: { WEB_SHOP_BUG: 'rounding' } }))
    expect(run.status).toBe('FAILED')
    const failed = run.results?.testCases.filter(({ status }) => status === 'FAILED').map(({ title }) => title)
    expect(failed?.sort()).toEqual([
      'checkout > adds value added tax on goods and shipping, to the cent',
      'money > a percentage > is rounded up from half a cent',
    ])
    expect(service.log.join('\n')).toMatch(/ {4}\| .*expected .* to match object/)
  })

  it.each([
    ['--reporter=json', '"--reporter=json"'],
    // Vitest ignores it.
    ['checkout,nope', '"nope"'],
  ])('does not pass if it is limited to framework projects that do not exist: %s', async (names, unknown) => {
    const service = await startService({})
    const run = await service.waitFor(await service.startRun({ frameworkProjectName: names }))
    expect(run.status).toBe('FAILED')
    const title = `vitest has no project ${unknown}. Its projects: "checkout", "unit"`
    expect(run.results?.testCases.at(-1)).toEqual({ title, status: 'FAILED', durationMs: 0 })
    expect(service.log.join('\n')).toContain(title)
    // The other one is tested, and no more than that.
    const tested = run.results?.testCases.slice(0, -1).map((one) => one.title.split(' > ')[0])
    expect(new Set(tested)).toEqual(new Set(names.startsWith('checkout') ? ['checkout'] : []))
  })
})

describe('a run of a Vitest project', () => {
  async function startWith(files: Record<string, string>) {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, { 'vitest.config.mjs': 'export default { test: {} }', ...files })
    return startService({ projects: { project: { folder } } })
  }

  it('lists retries as one case, every kind of test as what it is, and the same test of two projects apart', async () => {
    const service = await startWith({
      'vitest.config.mjs': `export default { test: { projects: [
        { test: { name: 'unit', include: ['*.test.js'] } }, { test: { name: 'browser', include: ['cart.test.js'] } }] } }`,
      'cart.test.js': "import { it } from 'vitest'\nit('adds', () => {})",
      'kinds.test.js': `
        import { describe, expect, it } from 'vitest'
        let tries = 0
        describe('kinds', () => {
          it('passes', () => {})
          it('passes at the second try', { retry: 2 }, () => expect(++tries).toBe(2))
          it('never passes', { retry: 2 }, () => expect(1).toBe(2))
          it.fails('fails as it should', () => expect(1).toBe(2))
          it('takes too long', { timeout: 20 }, () => new Promise(() => {}))
          it.skip('is skipped', () => {})
          it.todo('is to do')
        })`,
      'broken.test.js': 'throw new Error("cannot be loaded")',
    })
    const run = await service.waitFor(await service.startRun())
    expect(run.status).toBe('FAILED')
    expect(Object.fromEntries((run.results?.testCases ?? []).map(({ title, status }) => [title, status]))).toEqual({
      'kinds > passes': 'PASSED',
      'kinds > passes at the second try': 'FLAKY',
      'kinds > never passes': 'FAILED',
      'kinds > fails as it should': 'PASSED',
      'kinds > takes too long': 'FAILED',
      'kinds > is skipped': 'SKIPPED',
      'kinds > is to do': 'SKIPPED',
      'broken.test.js': 'FAILED',
      '[unit] > adds': 'PASSED',
      '[browser] > adds': 'PASSED',
    })
    expect(run.results?.testCases).toHaveLength(10)
  })

  it('that is stopped leaves no process, and names the running tests and the files of which nothing is known', async () => {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, {
      'vitest.config.mjs': 'export default { test: { maxWorkers: 2 } }',
      'first.test.js': `
        import { describe, it } from 'vitest'
        describe('first', () => {
          it('passes', () => {})
          it.skip('is skipped', () => {})
          it('waits', { timeout: 0 }, () => new Promise(() => {}))
          it('comes later', () => {})
        })`,
      'second.test.js': `
        import { writeFileSync } from 'node:fs'
        import { it } from 'vitest'
        process.on('SIGINT', () => {})
        process.on('SIGTERM', () => {})
        it('hangs in a loop', () => { writeFileSync('pids', [process.pid, process.ppid].join(' ')); for (;;); })`,
      // Vitest begins with the largest files, and both workers are busy.
      'never-begins.test.js': '',
    })
    const stop = new AbortController()
    const run = testRunIn(folder)
    const ended = runTests(run, stop.signal, () => {})
    const { outputFolder } = run.resources
    const events = async () => {
      const files = await readdir(outputFolder).catch(() => [])
      const report = files.find((name) => name.startsWith('report-'))
      return report === undefined ? '' : readFile(join(outputFolder, report), 'utf8')
    }
    await until(async () => (await events()).includes('"waits"'))
    const pids = await pidsIn(join(folder, 'pids'))
    expect(pids.map(isAlive)).toEqual([true, true])
    stop.abort()
    const { status, testCases } = await ended
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(status).toBe('INTERRUPTED')
    expect(testCases).toEqual([
      { title: 'first > passes', status: 'PASSED', durationMs: expect.any(Number) },
      { title: 'first > is skipped', status: 'SKIPPED', durationMs: 0 },
      { title: 'first > waits', status: 'INTERRUPTED', durationMs: expect.any(Number) },
      { title: 'second.test.js', status: 'INTERRUPTED', durationMs: 0 },
    ])
  })

  it('does not pass if Vitest exits with 0 and never says that it has finished', async () => {
    const finished = '{"event":"test-finished","test":{"id":"1","file":"/a","path":["adds"],"state":"passed"}}'
    const command = ['sh', '-c', `echo '${finished}' > "$LOCAL_SERVICE_REPORT_FILE"`]
    const service = await startService({ projects: { shop: { folder: WEB_SHOP, command } } })
    expect(await service.waitFor(await service.startRun())).toMatchObject({
      status: 'INTERRUPTED',
      results: {
        testCases: [
          { title: 'adds', status: 'PASSED' },
          { title: 'vitest exited with code 0 before it had run all tests', status: 'INTERRUPTED' },
        ],
      },
    })
  })

  it.each([
    ['by a signal', 'process.kill(process.pid, "SIGSEGV")', 'SIGSEGV'],
    [
      'because it ran out of memory',
      'for (const all = []; ; ) all.push(new Array(1e6).fill(Math.random()))',
      'SIGABRT',
    ],
  ])('says that a worker died %s, and keeps the tests that had passed', async (_how, die, signal) => {
    const service = await startWith({
      'dies.test.js': `
        import { readFileSync } from 'node:fs'
        import { setTimeout as delay } from 'node:timers/promises'
        import { it } from 'vitest'
        it('passes', () => {})
        it('dies', { timeout: 0 }, async () => {
          while (!readFileSync(process.env.LOCAL_SERVICE_REPORT_FILE, 'utf8').includes('"state":"passed"')) await delay(20)
          ${die}
        })
        it('comes later', () => {})`,
    })
    const run = await service.waitFor(
      await service.startRun({ envOverrides: { NODE_OPTIONS: '--max-old-space-size=128' } }),
    )
    expect(run.status, service.log.join('\n')).toBe('INTERRUPTED')
    expect(run.results?.testCases).toMatchObject([
      { title: 'passes', status: 'PASSED' },
      { title: 'dies', status: 'INTERRUPTED' },
      { title: 'comes later', status: 'INTERRUPTED', durationMs: 0 },
      { title: `a worker of vitest was killed by ${signal}`, status: 'INTERRUPTED' },
    ])
  })

  const COULD_NOT_RUN = 'vitest exited with code 1 without a report: it could not run the tests'
  it.each([
    ['has no tests', {}, 'vitest found no tests'],
    ['has a broken configuration', { 'vitest.config.mjs': 'throw new Error("a secret")' }, COULD_NOT_RUN],
  ])('fails and says why when it %s', async (_case, files, title) => {
    const service = await startWith(files as Record<string, string>)
    const run = await service.waitFor(await service.startRun())
    expect(run).toMatchObject({
      status: 'FAILED',
      results: { testCases: [{ title, status: 'FAILED', durationMs: 0 }] },
    })
    expect(JSON.stringify(run)).not.toContain('secret')
  })
})

describe('a suite of a Vitest project', () => {
  it.each([
    ['with no test', 'nothing', 'FAILED', ['SKIPPED', 'SKIPPED', 'FAILED']],
    ['with a test', 'adds', 'PASSED', ['PASSED', 'SKIPPED']],
  ])('whose titles match a project %s', async (_what, titles, status, statuses) => {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, {
      'vitest.config.mjs': 'export default {}',
      'cart.test.js': "import { it } from 'vitest'\nit('adds', () => {})\nit('removes', () => {})",
    })
    const run = testRunIn(folder, { selection: { frameworkProjects: [], files: [], titles } })
    const outcome = await runTests(run, new AbortController().signal, () => {})
    expect(outcome.status).toBe(status)
    const problem = 'vitest found no tests with the titles "nothing", or skipped all of them'
    expect(outcome.problem).toBe(status === 'FAILED' ? problem : undefined)
    expect(outcome.testCases.map((testCase) => testCase.status)).toEqual(statuses.slice(0, 2))
  })
})

describe("Vitest's report", () => {
  it('puts its file before a title only if two tests share it', () => {
    const testIn = (file: string, name: string) => ({
      file: `/project/${file}`,
      path: ['', 'cart', name],
      state: 'passed',
      durationMs: 1.6,
    })
    const tests = [testIn('a.test.ts', 'adds'), testIn('a.test.ts', 'removes'), testIn('b.test.ts', 'adds')]
    expect(vitest.readReport(JSON.stringify({ event: 'finished', tests }), '/project')?.testCases).toEqual([
      { title: 'a.test.ts > cart > adds', status: 'PASSED', durationMs: 2 },
      { title: 'cart > removes', status: 'PASSED', durationMs: 2 },
      { title: 'b.test.ts > cart > adds', status: 'PASSED', durationMs: 2 },
    ])
  })

  it('takes a test that was still pending for interrupted', () => {
    const report = { event: 'finished', tests: [{ path: ['a'], state: 'pending' }] }
    const testCases = [{ title: 'a', status: 'INTERRUPTED', durationMs: 0 }]
    expect(vitest.readReport(JSON.stringify(report), '/project')).toMatchObject({ testCases })
  })

  it('is read without a throw, whatever it holds', () => {
    const test = fc.record({
      id: fc.jsonValue(),
      file: fc.jsonValue(),
      path: fc.jsonValue(),
      durationMs: fc.jsonValue(),
    })
    const event = fc.oneof(
      fc.jsonValue(),
      fc.record({ event: fc.constantFrom('test-started', 'test-finished'), test, atMs: fc.jsonValue() }),
      fc.record({ event: fc.constantFrom('file-started', 'file-finished'), file: test }),
      fc.record({ event: fc.constant('finished'), files: fc.array(test), tests: fc.array(test) }),
    )
    fc.assert(
      fc.property(fc.array(event), fc.nat(), (events, truncated) => {
        const text = events.map((one) => JSON.stringify(one)).join('\n')
        const report = vitest.readReport(text.slice(0, text.length - (truncated % (text.length + 1))), '/project')
        for (const testCase of report?.testCases ?? []) {
          expect(testCase.status).not.toBe('PASSED')
          expect(Number.isInteger(testCase.durationMs)).toBe(true)
        }
      }),
    )
  })
})
