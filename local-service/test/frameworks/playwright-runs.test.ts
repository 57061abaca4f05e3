import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages } from '../../../test/support/git-repository.ts'
import { executeRun } from '../../src/execution/execute.ts'
import { isAlive, pidsIn, projectFolder, runContextIn, runProject, startService } from '../support/a-local-service.ts'

const CONFIG = `
  import { defineConfig } from '@playwright/test'
  export default defineConfig({
    reporter: 'github',
    projects: [{ name: 'api' }, { name: 'admin', testMatch: /admin/ }, { name: 'mobile' }],
  })`

/** Tests without a browser. After each test that fails, Playwright starts a worker. */
const ORDER_TESTS = `
  import { expect, test } from '@playwright/test'
  import { connect, pay } from '../lib/pay'
  test.describe('orders', () => {
    test('can be listed', () => {})
    test('compares', () => {
      expect(42).toBe(41)
    })
    test('checks twice', () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4) })
    test('calls a helper', () => pay())
    test('throws no error', () => { throw 'only text' })
    test.fail('passes unexpectedly', () => {})
    test.fail('fails as expected', () => { throw new Error('expected') })
    test('is skipped', () => { test.skip(true, 'no card') })
    test.describe('with a retry', () => {
      test.describe.configure({ retries: 1 })
      test('appear at the second try', ({}, info) => { if (info.retry === 0) throw new Error('first try') })
      test('take for ever', async () => {
        test.setTimeout(200)
        console.log('::' + 'error file=a.spec.ts::of the test')
        await test.step('pay', () => new Promise(() => {}))
      })
    })
    test('has the place of its cause', () => connect())
  })`

const ADMIN_TESTS = `
  import { test } from '@playwright/test'
  test.describe('admin', () => test('logs in', () => {}))`

const ONE_TEST = `
  import { test } from '@playwright/test'
  test('passes', () => {})`

const runOf = (files: Readonly<Record<string, string>>, request?: object) =>
  runProject(files, { framework: 'playwright', request })

describe('a run of a Playwright Test project', () => {
  it('lists the cases of all tests, retries as one, says why and where a test did not pass, and leaves out what the reporter for GitHub writes', async () => {
    const files = {
      'playwright.config.ts': CONFIG,
      'e2e/orders.spec.ts': ORDER_TESTS,
      'e2e/admin.spec.ts': ADMIN_TESTS,
      'lib/pay.ts': `export function pay() {
        throw new Error('no money') }
      export function connect() {
        const cause = new Error('refused', { cause: new AggregateError([], '') })
        throw Object.assign(new Error('no database', { cause }), { stack: 'Error' }) }`,
    }
    const run = await runOf(files, { frameworkProjectName: 'api,admin' })
    expect([run.status, run.message]).toEqual(['FAILED', undefined])
    const cases = run.results?.testCases.map(({ title, durationMs: _, ...others }) => [title, others] as const) ?? []
    const filePath = 'e2e/orders.spec.ts'
    const failed = (place: string, message: unknown, status = 'FAILED') => {
      const [file, line] = place.split(':')
      return { status, message, filePath: file || filePath, line: Number(line) }
    }
    const passed = { status: 'PASSED', filePath }
    const equal = 'Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 41\nReceived: 42'
    const twice = expect.stringMatching(/Expected: 2\nReceived: 1\n\nError: .*\n\nExpected: 4\nReceived: 3$/)
    expect(Object.fromEntries(cases)).toEqual({
      '[api] > admin > logs in': { ...passed, filePath: 'e2e/admin.spec.ts' },
      '[admin] > admin > logs in': { ...passed, filePath: 'e2e/admin.spec.ts' },
      '[api] > orders > can be listed': passed,
      '[api] > orders > compares': failed(':7', equal),
      '[api] > orders > checks twice': failed(':9', twice),
      '[api] > orders > calls a helper': failed(
        ':10',
        'Error: no money\nat pay (lib/pay.ts:2:15)\nat e2e/orders.spec.ts:10:34',
      ),
      '[api] > orders > has the place of its cause': failed(
        ':24',
        expect.stringMatching(
          /^Error: no database\nCaused by: Error: refused\nCaused by: AggregateError\nat connect \(lib\/pay\.ts:4:23\)\nat e2e/,
        ),
      ),
      '[api] > orders > throws no error': failed(':11', "'only text'"),
      '[api] > orders > passes unexpectedly': failed(':12', 'The test is expected to fail, but it passed.'),
      '[api] > orders > fails as expected': passed,
      '[api] > orders > is skipped': { status: 'SKIPPED', message: 'no card', filePath },
      '[api] > orders > with a retry > appear at the second try': failed(':17', 'Error: first try', 'FLAKY'),
      '[api] > orders > with a retry > take for ever': failed(
        ':18',
        'Test timeout of 200ms exceeded.\n\nStep: pay',
        'TIMEDOUT',
      ),
    })
    const ofTest = ':error file=a.spec.ts::of the test'
    expect(run.output.match(/:error file=.*|:notice .*/g)).toEqual([ofTest, ofTest])
    expect(cases).toHaveLength(13)
    const durations = new Map(run.results?.testCases.map(({ title, durationMs }) => [title, durationMs]))
    expect(durations.get('[api] > orders > with a retry > take for ever')).toBeGreaterThanOrEqual(400)
  })

  it('in place keeps the reporters of the project and its output folder, and in a work tree it does not; the message names the step and the files', async () => {
    const repository = await aRepository({
      '.gitignore': 'node_modules\ntest-results\nplaywright-report\njunit.xml',
      'playwright.config.ts': `export default { reporter: [['html'], ['junit', { outputFile: 'junit.xml' }]] }`,
      'a.spec.ts': `
        import { writeFileSync } from 'node:fs'
        import { test } from '@playwright/test'
        test('fails', async ({}, info) => {
          const path = info.outputPath('trace.txt')
          writeFileSync(path, 'kept')
          info.attachments.push({ name: 'trace', contentType: 'text/plain', path })
          await test.step('pay', () => test.step('enter the number', () => { throw new Error('here') }))
        })`,
    })
    const { folder } = repository
    await installPackages(folder)
    const service = await startService({ projects: { shop: { folder } } })
    const written = ['junit.xml', 'playwright-report/index.html', 'test-results/a-fails/trace.txt']
    const found = () => written.filter((file) => existsSync(join(folder, file)))
    const testCase = (folderOfFiles: string) => ({
      ...{ title: 'fails', status: 'FAILED', filePath: 'a.spec.ts', line: 8 },
      message: `Error: here\n\nStep: pay > enter the number\ntrace: ${folderOfFiles}/a-fails/trace.txt\nat a.spec.ts:8:84\nat a.spec.ts:8:11`,
    })
    const ofBranch = await service.run({ branch: 'other' })
    expect([ofBranch.results?.testCases, found()]).toMatchObject([[testCase('files')], []])
    const inPlace = await service.run()
    expect([inPlace.results?.testCases, found()]).toMatchObject([[testCase('test-results')], written])
  })

  it('lists the files that cannot be loaded, and says why', async () => {
    const filePath = 'lib/admin.spec.ts'
    const testCase = { title: filePath, status: 'FAILED', durationMs: 0, message: 'Error: no admin', filePath, line: 2 }
    const run = await runOf({ 'a.spec.ts': ONE_TEST, [filePath]: '\nthrow new Error("no admin")' })
    expect([run.status, run.message, run.results?.testCases]).toEqual(['FAILED', undefined, [testCase]])
  })

  it('refuses a forgotten test.only, because the run would pass without all other tests', async () => {
    const run = await runOf({ 'a.spec.ts': `${ONE_TEST}\ntest.only('alone', () => {})` })
    const message = `Error: item focused with '.only' is not allowed due to the '--forbid-only' CLI flag: "a.spec.ts alone"`
    expect(run).toMatchObject({ status: 'FAILED', results: { testCases: [{ message }] } })
  })

  it('fails without a test case if the global setup throws, and says why', async () => {
    const run = await runOf({
      'playwright.config.ts': 'export default { globalSetup: "./setup.ts" }',
      'setup.ts': 'import { connect } from "./database"\nexport default async () => { await connect() }',
      'database.ts': 'export async function connect() { throw new Error("no database") }',
      'a.spec.ts': ONE_TEST,
    })
    const message = 'playwright could not run the tests: Error: no database\nat database.ts:1'
    expect(run).toMatchObject({ status: 'FAILED', message, results: { testCases: [] } })
  })

  it('says each reason why it failed although its tests passed', async () => {
    const run = await runOf({
      'playwright.config.ts': 'export default { retries: 1, failOnFlakyTests: true }',
      'a.spec.ts': `
        import { test as base } from '@playwright/test'
        const test = base.extend({ worker: [async ({}, use) => {
          await use(1)
          throw new Error('cannot tear down') }, { scope: 'worker' }] })
        test('passes', ({ worker }) => {})`,
      'b.spec.ts': `
        import { expect, test } from '@playwright/test'
        test('is flaky', ({}, { retry }) => expect(retry).toBe(1))`,
    })
    const testCases = [{ status: 'PASSED' }, { status: 'FLAKY' }]
    expect(run).toMatchObject({ status: 'FAILED', results: { testCases } })
    expect(run.message).toMatch(/^playwright exited with code 1, although no test failed: Error/)
    expect(run.message).toMatch(/: Error: cannot tear down\n[\s\S]*\nat a.spec.ts:5\n/)
    expect(run.message).toMatch(/\n\nfailOnFlakyTests is set, and a test is flaky$/)
  })

  it('that is stopped lists what finished and what was running, and leaves no process', async () => {
    const folder = await projectFolder({
      'playwright.config.ts': 'export default { timeout: 0 }',
      'hang.spec.ts': `
        import { writeFileSync } from 'node:fs'
        import { test } from '@playwright/test'
        test('passes first', () => {})
        test('hangs', () => { writeFileSync('test.pid', String(process.pid)); return new Promise(() => {}) })`,
    })
    const stop = new AbortController()
    const ended = executeRun(runContextIn(folder, { stop: stop.signal, stopGraceMs: 20_000 }), () => {})
    const [pid = 0] = await pidsIn(join(folder, 'test.pid'))
    expect(isAlive(pid)).toBe(true)
    stop.abort({ status: 'CANCELLED' })
    expect(await ended).toMatchObject({
      status: 'CANCELLED',
      testCases: [
        { title: 'passes first', status: 'PASSED', durationMs: expect.any(Number) },
        { title: 'hangs', status: 'INTERRUPTED', filePath: 'hang.spec.ts', line: 5 },
      ],
    })
    expect(isAlive(pid)).toBe(false)
  })
})
