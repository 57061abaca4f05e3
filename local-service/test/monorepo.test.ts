import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../test/support/git-repository.ts'
import { PLAIN_ENV, type StartedService, startService, temporaryFolder } from './a-local-service.ts'

async function titlesOf(service: StartedService, body: object) {
  const { results } = await service.waitFor(await service.startRun(body))
  return results?.testCases.map(({ title }) => title)
}

describe("a package of a monorepo that Yarn installed with Plug'n'Play, without node_modules", () => {
  /** Names its arguments, and the folder that it is called in, as the titles of tests. */
  const YARN = `#!${process.execPath}
const tests = [process.cwd(), ...process.argv.slice(2)].map((title) => ({ path: [title], state: 'passed' }))
require('node:fs').writeFileSync(process.env.LOCAL_SERVICE_REPORT_FILE, JSON.stringify({ event: 'finished', tests }))`

  async function startWithYarn(settings: object = {}) {
    const { folder, ...repository } = await aRepository({
      '.gitignore': '.pnp.cjs',
      'package.json': '{}',
      'yarn.lock': '',
      'packages/app/package.json': '{ "devDependencies": { "vitest": "*" } }',
    })
    await repository.write({ '.pnp.cjs': '' })
    const bin = await temporaryFolder()
    await writeFile(join(bin, 'yarn'), YARN, { mode: 0o755 })
    const app = join(folder, 'packages/app')
    const env = { ...PLAIN_ENV, PATH: `${bin}:${PLAIN_ENV.PATH}` }
    return { app, service: await startService({ projects: { app: { folder: app, ...settings } } }, { env }) }
  }

  it('is tested through Yarn, which is asked for the framework and not for a script of its name', async () => {
    const { service, app } = await startWithYarn({ framework: 'playwright' })
    expect(service.log.filter((line) => line.includes('is not installed'))).toEqual([])
    expect(await titlesOf(service, {})).toEqual([app, 'run', '--binaries-only', 'playwright', 'test'])
  })

  it('is tested by a Node that Yarn starts, if its framework is Vitest', async () => {
    const { service, app } = await startWithYarn()
    expect(await titlesOf(service, {})).toEqual([app, 'node', expect.stringContaining('vitest-run'), 'run'])
  })

  it('is tested on a branch after a setup that makes the file in the work tree', async () => {
    const { service } = await startWithYarn({ setup: ['touch', '../../.pnp.cjs'] })
    // Vite may refuse to load a reporter from outside the project, so no argument names the reporter of the service.
    const argv = ['node', expect.stringContaining('vitest-run'), 'run', '--reporter=default']
    expect(await titlesOf(service, { branch: 'other' })).toEqual([expect.stringMatching(/packages\/app$/), ...argv])
  })

  it('is INTERRUPTED on a branch that does not have the file, with advice', async () => {
    const { service } = await startWithYarn()
    const { message } = await service.waitFor(await service.startRun({ branch: 'other' }))
    expect(message).toContain(`commit .pnp.cjs or set "setup" to ["yarn", "install"]`)
  })
})
