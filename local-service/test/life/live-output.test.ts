import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder, type StartedService, startService, temporaryFolder, until } from '../support/a-local-service.ts'

/** The line with which the output begins, because the project has a `command`. */
const FIRST = `[local service] the service replaces the reporters of the project, because the project has a "command"\n`
const BEGIN = Buffer.byteLength(FIRST)

/** A project whose framework is a shell. It writes its output, and ends when the file `go` is there. */
async function startShell(script: string) {
  const folder = temporaryFolder()
  const report = '{"event":"finished","tests":[{"path":["passes"],"status":"PASSED"}],"files":[],"errors":[]}'
  const whole = `echo '${report}' > "$LOCAL_SERVICE_REPORT_FILE"; ${script}; while ! test -e go; do sleep 0.05; done`
  const project = { folder, framework: 'vitest', command: ['sh', '-c', whole, 'sh'] }
  const service = await startService({ projects: { shop: project } })
  return { service, runId: await service.startRun(), finish: () => writeFileSync(join(folder, 'go'), '') }
}

const read = (service: StartedService, runId: string, query: string, project = 'shop') =>
  service.send('GET', `/v1/projects/${project}/runs/${runId}/output${query}`)

describe('the output of a run', () => {
  it('can be read while the run is running, and afterwards', async () => {
    const { service, runId, finish } = await startShell(`printf 'one\\ntwo €\\n'`)
    const next = BEGIN + 12
    await until(async () => (await service.get(runId)).body.outputBytes === next)
    const whole = { status: 200, body: { text: `${FIRST}one\ntwo €\n`, next } }
    expect(await read(service, runId, '?from=0')).toEqual(whole)
    expect(await read(service, runId, `?from=${BEGIN + 4}`)).toEqual({ status: 200, body: { text: 'two €\n', next } })
    expect(await read(service, runId, `?from=${next}`)).toEqual({ status: 200, body: { text: '', next } })
    finish()
    expect(await service.waitFor(runId)).toMatchObject({ status: 'PASSED', outputBytes: next })
    expect((await read(service, runId, `?from=${BEGIN + 4}`)).body).toEqual({ text: 'two €\n', next })
    expect(await read(service, runId, '?from=0', 'other')).toMatchObject({ status: 404 })
  })
})

describe('the progress of a run', () => {
  /** A test that ends when the file is there. */
  const waiting = (framework: string) => `
    import { existsSync } from 'node:fs'
    import { setTimeout } from 'node:timers/promises'
    import { test } from '${framework}'
    test('adds', () => {})
    test('subtracts', () => { throw new Error('no') })
    test.skip('divides', () => {})
    test('multiplies', async () => { while (!existsSync('go')) await setTimeout(20) }, 60_000)`

  it.each([
    ['when the last file is loaded', {}, { total: 4, passed: 1, failed: 1, flaky: 0, skipped: 1 }],
    [
      'not before',
      { 'small.test.js': `import { test } from 'vitest'\ntest('counts', () => {})` },
      { passed: 1, failed: 1, flaky: 0, skipped: 1 },
    ],
  ])('of Vitest has the total %s', async (_, files, expected) => {
    // Vitest begins with the largest file.
    const config = 'export default { test: { fileParallelism: false } }'
    const folder = await projectFolder({ 'vitest.config.mjs': config, 'large.test.js': waiting('vitest'), ...files })
    const service = await startService({ projects: { shop: { folder } } })
    const runId = await service.startRun()
    const { progress } = await until(async () => {
      const { body } = await service.get(runId)
      return body.progress?.failed === 1 && body.progress.skipped === 1 && body
    })
    expect(progress).toEqual(expected)
    writeFileSync(join(folder, 'go'), '')
    expect(await service.waitFor(runId)).not.toHaveProperty('progress')
  })

  it('of Playwright has the total at once, and counts a flaky test', async () => {
    const folder = await projectFolder({
      'playwright.config.ts': `export default { retries: 1, workers: 1 }`,
      'a.spec.ts': `
        import { existsSync } from 'node:fs'
        import { setTimeout } from 'node:timers/promises'
        import { expect, test } from '@playwright/test'
        test('adds', () => {})
        test('is flaky', ({}, { retry }) => expect(retry).toBe(1))
        test('fails', () => expect(1).toBe(2))
        test('waits', async () => { while (!existsSync('go')) await setTimeout(20) })`,
    })
    const service = await startService({ projects: { shop: { folder } } })
    const runId = await service.startRun()
    const { progress } = await until(async () => {
      const { body } = await service.get(runId)
      return body.progress?.flaky === 1 && body.progress.failed === 1 && body
    })
    expect(progress).toEqual({ total: 4, passed: 2, failed: 1, flaky: 1, skipped: 0 })
    writeFileSync(join(folder, 'go'), '')
    expect(await service.waitFor(runId)).toMatchObject({ status: 'FAILED' })
  })
})
