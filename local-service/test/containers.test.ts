import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages } from './a-git-repository.ts'
import {
  KEY,
  puppet,
  puppetProject,
  readJournal,
  startService,
  startServiceProcess,
  temporaryFolder,
  until,
  WEB_SHOP,
  writeFiles,
} from './a-local-service.ts'
import { type Podman, preparePodman } from './a-podman.ts'

const prepared = await preparePodman()
const isRequired = process.env.CONTAINER_TESTS === 'required'
if (typeof prepared === 'string') {
  if (isRequired) throw new Error(`The tests of containers are required, but no Podman works here: ${prepared}`)
  console.warn(`The tests of containers are skipped, because no Podman works here: ${prepared}`)
}

describe.skipIf(typeof prepared === 'string')("a project's container", () => {
  const podman = prepared as Podman

  async function startContained(settings: object = {}, projectSettings: object = {}) {
    const folder = await temporaryFolder()
    const project = { ...puppetProject(folder), container: podman.container, ...projectSettings }
    const env = { ...podman.env, OF_THE_PERSON: 'not for the tests' }
    const service = await startService({ projects: { shop: project }, ...settings }, { env })
    return { service, folder, journal: join(folder, 'journal') }
  }

  const begun = (journal: string) => until(async () => (await readJournal(journal)).length > 0)

  it('runs the tests, and its report is read from the outside', async () => {
    const { service } = await startContained()
    const run = await service.waitFor(await service.startRun(puppet({ tellsVariable: 'container' })))
    expect(run).toMatchObject({ status: 'PASSED', results: { testCases: [{ title: 'puppet > container=podman' }] } })
    const failing = await service.startRun(puppet({ cases: [['adds', 'failed']], exitCode: 1 }))
    expect(await service.waitFor(failing)).toMatchObject({
      status: 'FAILED',
      results: { testCases: [{ title: 'puppet > adds', status: 'FAILED' }] },
    })
    expect(await podman.names()).toEqual([])
  })

  it.each([
    ['SECRET', 'of the request', `it's "a"\n$(secret) \\ value`],
    ['CI', 'of every run', 'true'],
    ['OF_THE_PERSON', 'of the person', 'undefined'],
  ])('gets the environment without the image losing its own: %s, %s', async (tellsVariable, _of, expected) => {
    const { service } = await startContained()
    const { envOverrides } = puppet({ tellsVariable })
    const SECRET = `it's "a"\n$(secret) \\ value`
    const run = await service.waitFor(await service.startRun({ envOverrides: { SECRET, ...envOverrides } }))
    expect(run.results?.testCases[0]?.title).toBe(`puppet > ${tellsVariable}=${expected}`)
  })

  it('shows no value of a variable on a command line of this machine', async () => {
    const { service, journal } = await startContained()
    const { envOverrides } = puppet({ hangs: true, journal })
    await service.startRun({ envOverrides: { ...envOverrides, SECRET: 'not-to-be-seen' } })
    await begun(journal)
    expect(commandLines().filter((line) => line.includes('--entrypoint'))).not.toEqual([])
    expect(commandLines().filter((line) => line.includes('not-to-be-seen'))).toEqual([])
  })

  it('does not get a variable whose name no shell can export, and the log says so', async () => {
    const { service } = await startContained()
    await service.waitFor(await service.startRun({ envOverrides: { 'a.b': 'x' } }))
    expect(service.log.join('\n')).toContain('the container does not get the variable "a.b"')
  })

  it.each([
    ['the linked packages', {}],
    [
      'a setup in a container',
      {
        setup: [
          'sh',
          '-c',
          'test "$container" = podman && mkdir -p node_modules/tool && echo installed > node_modules/tool/a.txt',
        ],
      },
    ],
  ])('tests a work tree with %s', async (_case, settings) => {
    const repository = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'main' })
    await repository.write({ 'node_modules/tool/a.txt': 'installed' })
    const script = 'test "$(cat a.txt)" = main && grep -q installed node_modules/tool/a.txt && git log && exec "$@"'
    const command = ['sh', '-c', script, 'sh', ...puppetProject().command]
    const project = { ...puppetProject(repository.folder), command, container: podman.container, ...settings }
    const service = await startService({ projects: { shop: project } }, { env: podman.env })
    expect(await service.waitFor(await service.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
  })

  it("runs the project's own Vitest by the image's Node, with the reporter of this service", async () => {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, {
      'vitest.config.mjs': `export default { test: { projects: [
        { test: { name: 'one', include: ['*.test.js'] } }, { test: { name: 'two', include: ['*.test.js'] } }] } }`,
      'node.test.js': `import { it } from 'vitest'\nit(process.execPath + ' in ' + process.env.container, () => {})`,
    })
    const environments = { image: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } }
    const project = { folder, environments, container: podman.container }
    const service = await startService({ projects: { shop: project } }, { env: podman.env })
    const run = await service.waitFor(await service.startRun({ environment: 'image' }))
    const title = `${process.execPath} in podman`
    expect(run.status, service.log.join('\n')).toBe('PASSED')
    expect(run.results?.testCases.map((one) => one.title).sort()).toEqual([`[one] > ${title}`, `[two] > ${title}`])
  })

  it('can read the history of a folder that is tested as it stands, and not change its git configuration', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    const script = 'git log && ! git config core.fsmonitor /anything && touch created && exec "$@"'
    const command = ['sh', '-c', script, 'sh', ...puppetProject().command]
    const project = { ...puppetProject(repository.folder), command, container: podman.container }
    const service = await startService({ projects: { shop: project } }, { env: podman.env })
    expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'PASSED', branchName: 'main' })
    expect(await repository.git('status', '--porcelain')).toBe('?? created')
  })

  it('is stopped by a cancel, and the run is CANCELLED when the container is gone', async () => {
    const { service, journal } = await startContained()
    const runId = await service.startRun(puppet({ hangs: true, ignores: ['SIGINT'], journal }))
    await begun(journal)
    expect(await podman.names()).toEqual([`test-run-${runId}`])
    expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
    expect((await service.get(runId)).body.status).toBe('RUNNING')
    expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED', results: { testCases: [] } })
    expect(await podman.names()).toEqual([])
    expect((await readJournal(journal)).map(({ event }) => event)).toEqual(['begins', 'SIGINT'])
  })

  it('is stopped when the run exceeds its limit, which then lists what was reported', async () => {
    const { service } = await startContained({ runLimitMinutes: 0.03 })
    const run = await service.waitFor(await service.startRun(puppet({ hangs: true })))
    expect(run).toMatchObject({ status: 'TIMEDOUT', results: { testCases: [{ title: 'puppet > adds' }, {}] } })
    expect(await podman.names()).toEqual([])
  })

  it('is stopped when the service stops', async () => {
    const { service, journal } = await startContained()
    await service.startRun(puppet({ hangs: true, journal }))
    await begun(journal)
    await service.close()
    expect(await podman.names()).toEqual([])
    expect(service.log.join('\n')).toContain('INTERRUPTED')
  })

  it('is removed by the next start if the service was killed, and a cancel that was accepted counts', async () => {
    const folder = await temporaryFolder()
    const [config, data] = [join(folder, 'config.json'), join(folder, 'data')]
    const project = { ...puppetProject(folder), container: podman.container }
    await writeFile(config, JSON.stringify({ keys: [KEY], stopGraceSeconds: 60, projects: { shop: project } }))
    const first = startServiceProcess({ config, data, env: podman.env })
    const client = await first.ready()
    const runIds: string[] = []
    for (const name of ['interrupted', 'cancelled']) {
      const journal = join(folder, name)
      runIds.push(await client.startRun(puppet({ hangs: true, ignores: ['SIGINT'], journal })))
      await begun(journal)
    }
    await client.cancel(runIds[1] ?? '')
    await first.kill()
    expect(await podman.names()).toHaveLength(2)

    const next = await startServiceProcess({ config, data, env: podman.env }).ready()
    expect(await podman.names()).toEqual([])
    const statuses = await Promise.all(runIds.map(async (runId) => (await next.get(runId)).body.status))
    expect(statuses).toEqual(['INTERRUPTED', 'CANCELLED'])
  })

  it('that cannot be created makes the run INTERRUPTED, and the log has the words of the engine', async () => {
    const { service } = await startContained({}, { container: { ...podman.container, options: ['--no-such-option'] } })
    expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'INTERRUPTED' })
    expect(service.log.join('\n')).toMatch(
      /could not be started: the container engine failed; its output:[\s\S]*no-such-option/,
    )
  })
})

describe('without a container engine', () => {
  it.each([
    [undefined, 'docker: spawn docker ENOENT; podman: spawn podman ENOENT'],
    ['podman', 'podman: spawn podman ENOENT'],
  ])('a run is refused with a sentence (engine: %s)', async (engine, reason) => {
    const project = { ...puppetProject(WEB_SHOP), container: { image: 'node:24', ...(engine ? { engine } : {}) } }
    const service = await startService({ projects: { shop: project as never } }, { env: { PATH: '/nowhere' } })
    // Without git on the PATH, the folder is in no repository.
    expect(await service.start()).toEqual({
      status: 500,
      body: { error: `Project "shop" needs a container engine, and none works: ${reason}.` },
    })
  })
})

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8')
      } catch {
        // It has exited meanwhile.
        return ''
      }
    })
}
