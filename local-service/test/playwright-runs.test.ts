import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { installPackages, writeFiles } from '../../test/support/git-repository.ts'
import { playwright } from '../src/frameworks/playwright.ts'
import { runTests } from '../src/runs/run-tests.ts'
import { isAlive, pidsIn, startService, temporaryFolder, testRunIn } from './a-local-service.ts'

const CONFIG = `
  import { defineConfig } from '@playwright/test'
  export default defineConfig({
    use: { baseURL: process.env.SHOP_URL },
    projects: [{ name: 'api' }, { name: 'admin', testMatch: /admin/ }, { name: 'mobile' }],
  })`

/** API tests: Playwright's request fixture against a real server, no browser. */
const API_TESTS = `
  import { expect, test } from '@playwright/test'
  test.describe('orders', () => {
    test.describe('over the API', () => {
      test('can be listed', async ({ request }) => {
        expect(await (await request.get('/orders')).json()).toEqual([{ id: 1 }])
      })
      test('are refused without a body', async ({ request }) => {
        expect((await request.post('/orders')).status()).toBe(201)
      })
      test.skip('can be deleted', () => {})
      test('fail as expected', () => { test.fail(); expect(1).toBe(2) })
    })
    test.describe('with a retry', () => {
      test.describe.configure({ retries: 1 })
      test('appear at the second try', ({}, info) => expect(info.retry).toBe(1))
      test('take for ever', () => { test.setTimeout(200); return new Promise(() => {}) })
    })
  })`

const ADMIN_TESTS = `
  import { test } from '@playwright/test'
  test.describe('admin', () => test('logs in', () => {}))`

async function startWith(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder()
  await installPackages(folder)
  await writeFiles(folder, { 'playwright.config.ts': CONFIG, ...files })
  return { folder, service: await startService({ projects: { shop: { folder } } }) }
}

describe('a run of a Playwright Test project', () => {
  it('lists the cases of API tests, retries as one, and distinguishes the same test of two framework projects', async () => {
    const shop = createServer((request, response) => {
      response.writeHead(request.method === 'GET' ? 200 : 400, { 'content-type': 'application/json' })
      response.end('[{"id":1}]')
    })
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void shop.close())
    const { service, folder } = await startWith({ 'orders.spec.ts': API_TESTS, 'admin.spec.ts': ADMIN_TESTS })
    const run = await service.waitFor(
      await service.startRun({
        frameworkProjectName: 'api,admin',
        envOverrides: { SHOP_URL: `http://127.0.0.1:${(shop.address() as AddressInfo).port}` },
      }),
    )
    expect(run.status).toBe('FAILED')
    expect(run.results?.testCases).toHaveLength(8)
    const statuses = Object.fromEntries((run.results?.testCases ?? []).map(({ title, status }) => [title, status]))
    expect(statuses).toEqual({
      '[api] > admin > logs in': 'PASSED',
      '[admin] > admin > logs in': 'PASSED',
      'orders > over the API > can be listed': 'PASSED',
      'orders > over the API > are refused without a body': 'FAILED',
      'orders > over the API > can be deleted': 'SKIPPED',
      'orders > over the API > fail as expected': 'PASSED',
      'orders > with a retry > appear at the second try': 'FLAKY',
      'orders > with a retry > take for ever': 'TIMEDOUT',
    })
    const durations = new Map(run.results?.testCases.map(({ title, durationMs }) => [title, durationMs]))
    expect(durations.get('orders > with a retry > take for ever')).toBeGreaterThanOrEqual(400)
    // Where it would lie by default, it would be shared by all runs of the folder.
    expect(existsSync(join(folder, 'test-results'))).toBe(false)
  })

  it.each([
    ['with a file that cannot be loaded', { 'lib/admin.spec.ts': 'throw new Error()' }, {}, 'lib/admin.spec.ts'],
    [
      'with the name of a project that it does not have',
      {},
      { frameworkProjectName: 'api,nope' },
      'playwright has no project "nope". Its projects: "admin", "api", "mobile"',
    ],
  ])('does not pass %s, and says why', async (_case, files, body, title) => {
    const { service } = await startWith({ 'orders.spec.ts': API_TESTS, ...files })
    const run = await service.waitFor(await service.startRun(body))
    expect(run).toMatchObject({
      status: 'FAILED',
      results: { testCases: [{ title, status: 'FAILED', durationMs: 0 }] },
    })
  })

  it('that is stopped lists what finished and what was running, and leaves no process, its web server included', async () => {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, {
      'playwright.config.ts': `
        export default { timeout: 0, webServer: { command: 'node server.mjs', wait: { stdout: /ready/ } } }`,
      'server.mjs': `
        import { writeFileSync } from 'node:fs'
        process.on('SIGTERM', () => {})
        process.on('SIGINT', () => {})
        setInterval(() => {}, 1000)
        writeFileSync('server.pid', String(process.pid))
        console.log('ready')`,
      'hang.spec.ts': `
        import { writeFileSync } from 'node:fs'
        import { test } from '@playwright/test'
        test('passes first', () => {})
        test('hangs', () => { writeFileSync('test.pid', String(process.pid)); return new Promise(() => {}) })`,
    })
    const log: string[] = []
    const run = testRunIn(folder, { stopGraceMs: 20_000, log: (text) => log.push(text) })
    const stop = new AbortController()
    const ended = runTests(run, stop.signal, () => {})
    const started = Promise.all([pidsIn(join(folder, 'test.pid')), pidsIn(join(folder, 'server.pid'))])
    await Promise.race([started, ended])
    expect(log).toEqual([])
    const pids = (await started).flat()
    expect(pids.map(isAlive)).toEqual([true, true])
    stop.abort()
    expect(await ended, log.join('\n')).toMatchObject({
      status: 'INTERRUPTED',
      testCases: [
        { title: 'passes first', status: 'PASSED', durationMs: expect.any(Number) },
        { title: 'hangs', status: 'INTERRUPTED', durationMs: expect.any(Number) },
      ],
    })
    expect(pids.map(isAlive)).toEqual([false, false])
  })
})

describe("Playwright's report", () => {
  it('has no test cases if Playwright found no tests', () => {
    const report = { config: {}, suites: [], errors: [{ message: 'Error: No tests found' }] }
    expect(playwright.readReport(JSON.stringify(report), '/project')?.testCases).toEqual([])
  })

  it('is refused, or read without a throw, whatever it holds', () => {
    const tests = fc.array(fc.record({ projectName: fc.jsonValue(), status: fc.jsonValue(), results: fc.jsonValue() }))
    const close = fc.record({
      errors: fc.jsonValue(),
      suites: fc.array(fc.record({ title: fc.jsonValue(), specs: fc.array(fc.record({ title: fc.string(), tests })) })),
    })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ suites: fc.jsonValue() }), close), (report) => {
        for (const testCase of playwright.readReport(JSON.stringify(report), '/project')?.testCases ?? []) {
          expect(testCase.status).not.toBe('PASSED')
          expect(Number.isInteger(testCase.durationMs)).toBe(true)
        }
      }),
    )
  })
})
