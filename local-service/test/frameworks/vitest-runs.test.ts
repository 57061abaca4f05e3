import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages, writeFiles } from '../../../test/support/git-repository.ts'
import { executeRun } from '../../src/execution/execute.ts'
import { projectFolder, runContextIn, runProject, startService, until } from '../support/a-local-service.ts'

describe('a run of a Vitest project', () => {
  const runOf = (files: Readonly<Record<string, string>>, request?: object) =>
    runProject(files, { framework: 'vitest', request })

  it('that is stopped names the running tests, those that never began, and the files of which nothing is known', async () => {
    const folder = await projectFolder({
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
        import { it } from 'vitest'
        it('hangs in a loop', () => { for (;;); })`,
      // Vitest begins with the largest files, and both workers are busy.
      'never-begins.test.js': '',
    })
    const stop = new AbortController()
    const run = runContextIn(folder, { stop: stop.signal })
    const ended = executeRun(run, () => {})
    const { frameworkFolder } = run.resources
    const events = async () => {
      const files = await readdir(frameworkFolder).catch(() => [])
      const report = files.find((name) => /^events-[-\w]+$/.test(name))
      return report === undefined ? '' : readFile(join(frameworkFolder, report), 'utf8')
    }
    await until(async () => (await events()).includes('"waits"') && (await events()).includes('second.test.js'))
    stop.abort({ status: 'CANCELLED' })
    const { status, testCases } = await ended
    expect(status).toBe('CANCELLED')
    expect(testCases.map((one) => `${one.status} ${one.title}`)).toEqual([
      'PASSED first > passes',
      'SKIPPED first > is skipped',
      'INTERRUPTED first > waits',
      'SKIPPED first > comes later',
      'INTERRUPTED second.test.js',
    ])
  })

  it('says that a worker died by a signal, and keeps the tests that had passed', async () => {
    const folder = await projectFolder({
      'dies.test.js': `
        import { existsSync } from 'node:fs'
        import { setTimeout as delay } from 'node:timers/promises'
        import { it } from 'vitest'
        it('passes', () => {})
        it('dies', { timeout: 0 }, async () => {
          while (!existsSync('go')) await delay(20)
          process.kill(process.pid, 'SIGSEGV')
        })
        it('comes later', () => {})`,
    })
    const service = await startService({ projects: { shop: { folder, framework: 'vitest' } } })
    const runId = await service.startRun()
    const progress = { total: 3, passed: 1, failed: 0, flaky: 0, skipped: 0 }
    await until(async () => (await service.get(runId)).body.progress?.passed === 1)
    expect((await service.get(runId)).body.progress).toEqual(progress)
    await writeFiles(folder, { go: '' })
    const run = await service.waitFor(runId)
    expect(run.status, service.log.join('\n')).toBe('FAILED')
    expect(run).not.toHaveProperty('progress')
    expect(run.results?.testCases).toMatchObject([
      { title: 'passes', status: 'PASSED' },
      { title: 'dies', status: 'INTERRUPTED' },
      { title: 'comes later', status: 'SKIPPED', durationMs: 0 },
    ])
    expect(run.message).toMatch(
      /^vitest reported an error outside the tests: .*Worker exited unexpectedly.* signal SIGSEGV/s,
    )
  })

  it('names a place from the root of the repository, also in a work tree, and none outside it', async () => {
    const repository = await aRepository({
      '.gitignore': 'node_modules',
      'packages/shop/vitest.config.mjs': 'export default {}',
      'packages/shop/test/cart.test.js': `
        import { it } from 'vitest'
        it('fails', () => { throw new Error('here') })`,
      'packages/shop/package.json': '{}',
    })
    await installPackages(repository.folder)
    const service = await startService({ projects: { shop: { folder: join(repository.folder, 'packages/shop') } } })
    const place = { message: 'Error: here', filePath: 'packages/shop/test/cart.test.js', line: 3 }
    for (const body of [{}, { branch: 'other' }]) {
      const run = await service.run(body)
      expect(run.results?.testCases, run.message).toMatchObject([place])
    }
  })

  it('has the tests of each package in which the command starts Vitest', async () => {
    const files = {
      'all.sh': 'code=0; for at in cart bill; do (cd $at && npx vitest run "$@") || code=1; done; exit $code',
      'cart/a.test.js': "import { it } from 'vitest'\nit('adds', () => { throw new Error('no money') })",
      'bill/a.test.js': "import { it } from 'vitest'\nit('sums', () => {})",
    }
    const { status, message, results } = await runProject(files, { framework: 'vitest', command: 'sh all.sh' })
    expect([status, message]).toEqual(['FAILED', undefined])
    expect(results?.testCases).toMatchObject([
      { title: 'adds', status: 'FAILED', message: 'Error: no money', filePath: 'cart/a.test.js', line: 2 },
      { title: 'sums', status: 'PASSED', filePath: 'bill/a.test.js' },
    ])
  })

  it('fails without a test case, and says why, when it has no tests or when its global setup throws', async () => {
    const config = 'export default { test: { globalSetup: "./setup.mjs" } }'
    const setup = 'export default () => { throw new Error("no database") }'
    const runs = [await runOf({}), await runOf({ 'vitest.config.mjs': config, 'setup.mjs': setup, 'a.test.js': '' })]
    expect(runs.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^vitest found no tests\. /),
      'vitest could not run the tests: Error: no database\nat setup.mjs:1',
    ])
    for (const run of runs) expect(run).toMatchObject({ status: 'FAILED', results: { testCases: [] } })
  })
})
