import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { clientOf, PLAIN_ENV, REPOSITORY, startProcess, temporaryFolder, WEB_SHOP } from './a-local-service.ts'

const run = promisify(execFile)

const DEPENDENCIES = ['valibot', 'p-queue', 'eventemitter3', 'p-timeout']

/** As a person has it who installed the tarball: no network, and nothing of this repository on the path to packages. */
async function installFromTarball(): Promise<string> {
  const folder = await temporaryFolder()
  const npm = (args: string[], cwd: string) => run('npm', [...args, '--silent'], { cwd, env: PLAIN_ENV })
  // Its dependencies, and theirs, would come from the registry.
  const dependencies = DEPENDENCIES.map((name) => join(REPOSITORY, 'node_modules', name))
  await npm(['pack', join(REPOSITORY, 'local-service'), ...dependencies, '--pack-destination', folder], REPOSITORY)
  const tarballs = (await readdir(folder)).map((file) => `./${file}`)
  await npm(['install', '--offline', '--no-audit', '--no-fund', ...tarballs], folder)
  return folder
}

describe('the package', () => {
  it('is installed from its tarball, serves a project with npx, and stops with it', async () => {
    const folder = await installFromTarball()
    const contents = await readdir(join(folder, 'node_modules/test-run-service'))
    expect(contents.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'build', 'docs', 'package.json'])
    const env = { ...PLAIN_ENV, XDG_STATE_HOME: join(folder, 'state') }
    const npx = startProcess(['npx', '--offline', 'test-run-service', '--json', WEB_SHOP], { cwd: folder, env })
    const { url, key } = await npx.ready()
    const client = clientOf(url, key)
    const finished = await client.waitFor(await client.startRun({ frameworkProjectName: 'unit' }))
    expect(finished.status, npx.errors()).toBe('PASSED')
    expect((await fetch(`${url}/openapi.yaml`)).status).toBe(200)

    await npx.end('SIGTERM')
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  }, 180_000)

  it('says so in one sentence if Node is too old, and not by a warning for all who install the repository', async () => {
    expect(JSON.parse(await readFile(join(REPOSITORY, 'local-service/package.json'), 'utf8'))).not.toHaveProperty(
      'engines',
    )
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
    const command = join(REPOSITORY, 'local-service/bin/test-run-service.js')
    const failed = await run(process.execPath, ['--import', `data:text/javascript,${older}`, command]).catch(
      (error) => error,
    )
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'test-run-service needs Node 24 or newer; this is Node 20.20.2.\n',
    })
  })
})
