import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { aRepository, type GitRepository, writeFiles } from '../../test/support/git-repository.ts'
import { PLAIN_ENV, startService, temporaryFolder } from './a-local-service.ts'

// A runner whose one test is named after what the linked library exports.
const LIBRARY_RUNNER = [
  process.execPath,
  '-e',
  `const title = require(require.resolve('@shop/library', { paths: [process.cwd()] }))
   const report = { event: 'finished', tests: [{ path: [title], state: 'passed' }] }
   require('node:fs').writeFileSync(process.env.LOCAL_SERVICE_REPORT_FILE, JSON.stringify(report))`,
  'node',
]

/** A monorepo whose library differs on the branch `feat`. */
async function aMonorepo(): Promise<GitRepository> {
  const repository = await aRepository({
    '.gitignore': 'node_modules\n',
    'packages/app/a.txt': '',
    'packages/library/index.js': "module.exports = 'main'",
  })
  await repository.git('switch', '--quiet', '--create', 'feat')
  await repository.commit({ 'packages/library/index.js': "module.exports = 'feat'" })
  await repository.git('switch', '--quiet', 'main')
  return repository
}

const AT_ROOT = '["npm", "--prefix", "../..", "ci"]'

async function link({ folder }: GitRepository, at: string, target: string): Promise<void> {
  const path = join(folder, at)
  await mkdir(dirname(path), { recursive: true })
  await symlink(relative(dirname(path), join(folder, target)), path)
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd, env: PLAIN_ENV })
}

async function startIn({ folder }: GitRepository, settings: object = {}) {
  const project = { folder: join(folder, 'packages/app'), framework: 'vitest', command: LIBRARY_RUNNER, ...settings }
  return startService({ projects: { app: project as never } })
}

async function titlesOf(service: Awaited<ReturnType<typeof startIn>>, body: object) {
  const { results } = await service.waitFor(await service.startRun(body))
  return results?.testCases.map(({ title }) => title)
}

describe('a branch of a monorepo whose packages are linked to one another', () => {
  it.each([
    ['package-lock.json', 'node_modules/@shop/library', 'packages/library', AT_ROOT],
    ['packages/app/package-lock.json', 'packages/app/node_modules/@shop/library', 'packages/library', '["npm", "ci"]'],
    [
      'pnpm-lock.yaml',
      'node_modules/.pnpm/other@1.0.0/node_modules/@shop/library',
      'packages/library',
      '["pnpm", "--dir", "../..", "install", "--frozen-lockfile"]',
    ],
    [
      'yarn.lock',
      'node_modules/other/node_modules/@shop/library',
      'packages/library',
      '["yarn", "--cwd", "../..", "install"]',
    ],
    ['no-lock', 'node_modules/root', '.', '["npm", "--prefix", "../..", "install"]'],
  ])('is refused without a setup if there is %s and %s links to %s, with advice for %s', async (lockFile, at, target, setup) => {
    const repository = await aMonorepo()
    await repository.write({ [lockFile]: '' })
    await link(repository, at, target)
    const service = await startIn(repository)
    const error =
      `Project "app" needs a "setup" to test branch "feat", such as ${setup}: ${at} links to ${target}, ` +
      `so the tests would use that code as it stands in ${repository.folder}.`
    expect(await service.start({ branch: 'feat' })).toEqual({ status: 400, body: { error } })
  })

  it('is refused too in a container, or if the configured branch is tested', async () => {
    const repository = await aMonorepo()
    await link(repository, 'node_modules/@shop/library', 'packages/library')
    const contained = await (await startIn(repository, { container: { image: 'node:24' } })).start()
    expect(contained.body.error).toMatch(/ to test its folder in a container, such as \[.*\]: node_modules\/@shop\//)
    const configured = await startIn(repository, { defaultBranch: 'feat' })
    expect(await configured.start()).toMatchObject({ status: 500 })
  })

  it('tests its own library after a setup that links the packages of the work tree', async () => {
    const repository = await aMonorepo()
    await link(repository, 'node_modules/@shop/library', 'packages/library')
    const setup = [
      'sh',
      '-c',
      'mkdir -p ../../node_modules/@shop && ln -s ../../packages/library ../../node_modules/@shop',
    ]
    const service = await startIn(repository, { setup })
    expect(await titlesOf(service, { branch: 'feat' })).toEqual(['feat'])
    expect(await titlesOf(service, { branch: 'main' })).toEqual(['main'])
    expect(await titlesOf(service, {})).toEqual(['main'])
  })

  it('is tested with the framework of its root after the setup that the refusal names', async () => {
    // A package in the repository itself, so that nothing is fetched.
    const framework = await temporaryFolder()
    await writeFiles(framework, {
      'package.json': '{"name": "vitest", "version": "5.0.0", "bin": "cli.cjs", "exports": {"./node": "./cli.cjs"}}',
      'cli.cjs': `#!/usr/bin/env node\n${LIBRARY_RUNNER[2]}\nprocess.exit()`,
    })
    const repository = await aMonorepo()
    await repository.write({ 'vendor/.keep': '' })
    await npm(framework, 'pack', '--pack-destination', join(repository.folder, 'vendor'))
    const workspace = (name: string, settings: object) => JSON.stringify({ name, version: '1.0.0', ...settings })
    await repository.commit({
      'package.json': JSON.stringify({
        workspaces: ['packages/*'],
        devDependencies: { vitest: 'file:vendor/vitest-5.0.0.tgz' },
      }),
      'packages/app/package.json': workspace('@shop/app', { dependencies: { '@shop/library': '1.0.0' } }),
      'packages/library/package.json': workspace('@shop/library', {}),
    })
    await npm(repository.folder, 'install')
    await repository.commit({})
    const start = (setup?: string[]) => startIn(repository, { command: undefined, setup })
    const refused = await (await start()).start({ branch: 'main' })
    const [named = ''] = /\["npm".*\]/.exec(refused.body.error) ?? []

    expect(await titlesOf(await start(JSON.parse(named)), { branch: 'main' })).toEqual(['main'])

    const service = await start(['npm', 'ci', '--offline'])
    const { message } = await service.waitFor(await service.startRun({ branch: 'main' }))
    expect(message).toContain('vitest is not installed in the work tree, in packages/app. Let "setup" install it')
  })

  it('is tested with linked packages if none of them leads back', async () => {
    const repository = await aMonorepo()
    await repository.write({ 'node_modules/.store/other/index.js': '' })
    await link(repository, 'node_modules/other', 'node_modules/.store/other')
    await link(repository, 'node_modules/nowhere', 'packages/gone')
    await link(repository, 'node_modules/.cache/sources', 'packages')
    await link(repository, 'node_modules/@shop/library', 'node_modules/.store/library')
    await repository.write({ 'node_modules/.store/library/index.js': "module.exports = 'installed'" })
    const service = await startIn(repository)
    expect(await titlesOf(service, { branch: 'feat' })).toEqual(['installed'])
  })
})

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
    expect(await titlesOf(service, { branch: 'main' })).toEqual([expect.stringMatching(/packages\/app$/), ...argv])
  })

  it('is INTERRUPTED on a branch that does not have the file, with advice', async () => {
    const { service } = await startWithYarn()
    const { message } = await service.waitFor(await service.startRun({ branch: 'main' }))
    expect(message).toContain(`commit .pnp.cjs or set "setup" to ["yarn", "install"]`)
  })
})
