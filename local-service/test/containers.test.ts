import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aRepository, writeFiles } from '../../test/support/git-repository.ts'
import {
  KEY,
  puppet,
  puppetProject,
  readJournal,
  startService,
  startServiceProcess,
  temporaryFolder,
  until,
} from './a-local-service.ts'
import { ENGINE_LIMIT_MS, puppetAfter, startContained, type TestEngine, useEngine } from './container-engines.ts'

const PROXY = 'http://user:password@proxy.example'

/** An environment in which the engine gives a proxy of the machine to each container, unless it is told not to. */
async function environmentWithProxy({ name, env }: TestEngine): Promise<NodeJS.ProcessEnv> {
  if (name === 'docker') {
    const folder = await temporaryFolder()
    const proxies = { default: { httpProxy: PROXY, httpsProxy: PROXY, ftpProxy: PROXY, noProxy: PROXY } }
    await writeFile(join(folder, 'config.json'), JSON.stringify({ proxies }))
    return { ...env, DOCKER_CONFIG: folder }
  }
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY']
  return { ...env, ...Object.fromEntries(names.flatMap((one) => [one, one.toLowerCase()]).map((one) => [one, PROXY])) }
}

function withOptions(engine: TestEngine, ...options: string[]): TestEngine {
  return { ...engine, container: { ...engine.container, options: [...engine.container.options, ...options] } }
}

// What each engine does in its own way. The rest is tested in containers-isolation.test.ts, with one engine.

describe.each(['docker', 'podman'] as const)("a project's container in %s", { timeout: ENGINE_LIMIT_MS }, (name) => {
  const theEngine = useEngine([name], false)

  it('gets the environment of the run and keeps its own, and its report is read from the outside', async () => {
    const engine = theEngine()
    const { service } = await startContained(engine)
    const { envOverrides } = puppet({ tellsVariables: ['SECRET', 'CI', 'OF_THE_PERSON', 'INSIDE'], exitCode: 1 })
    const SECRET = `it's "a"\n$(secret) \\ value`
    const runId = await service.startRun({ envOverrides: { SECRET, ...envOverrides } })
    const run = await service.waitFor(runId)
    expect(run.status).toBe('FAILED')
    expect(run.results?.testCases.map(({ title }) => title)).toEqual([
      `puppet > SECRET=${SECRET}`,
      'puppet > CI=true',
      'puppet > OF_THE_PERSON=undefined',
      'puppet > INSIDE=a container',
    ])
    expect(run.message).toBe('vitest exited with code 1, although no test failed')
    expect(await engine.names()).toEqual([])
  })

  it('gets no variable of this machine, also no proxy that the engine gives by default, but those of its options', async () => {
    const engine = { ...theEngine(), env: await environmentWithProxy(theEngine()) }
    const { service } = await startContained(withOptions(engine, '--env', 'HTTPS_PROXY=http://own.example'), {
      command: puppetAfter('! env | grep -e proxy.example -e "not for the tests" || exit 3'),
    })
    const { envOverrides } = puppet({ tellsVariables: ['HTTPS_PROXY', 'NO_PROXY'] })
    const run = await service.waitFor(
      await service.startRun({ envOverrides: { NO_PROXY: 'localhost', ...envOverrides } }),
    )
    expect(run.status, service.log.join('\n')).toBe('PASSED')
    const titles = ['puppet > HTTPS_PROXY=http://own.example', 'puppet > NO_PROXY=localhost']
    expect(run.results?.testCases.map(({ title }) => title)).toEqual(titles)
  })

  it('gets every variable, also one that a shell reserves for itself', async () => {
    const bin = await temporaryFolder()
    await symlink('/bin/bash', join(bin, 'sh'))
    const path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`
    const engine = withOptions(theEngine(), '--volume', `${bin}:${bin}:ro`, '--env', `PATH=${path}`)
    const { service } = await startContained(engine)
    const names = [
      'UID',
      'EUID',
      'PPID',
      'SHELLOPTS',
      'BASHOPTS',
      'BASH_VERSINFO',
      'GROUPS',
      'SHLVL',
      'OPTIND',
      '_',
      'a.b',
    ]
    const { envOverrides } = puppet({ tellsVariables: names })
    const overrides = Object.fromEntries(names.map((one) => [one, `of ${one}`]))
    const run = await service.waitFor(await service.startRun({ envOverrides: { ...overrides, ...envOverrides } }))
    const titles = names.map((one) => `puppet > ${one}=of ${one}`)
    expect(
      run.results?.testCases.map(({ title }) => title),
      service.log.join('\n'),
    ).toEqual(titles)
    expect(run.status).toBe('PASSED')
  })

  it('has no capability and cannot gain one, unless its options say so', async () => {
    const has = (...lines: string[]) =>
      puppetAfter(lines.map((line) => `grep ${line} /proc/self/status || exit 3`).join('; '))
    const none = ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((set) => `Cap${set}:.0000000000000000`)
    const restricted = await startContained(theEngine(), { command: has(...none, 'NoNewPrivs:.1') })
    const own = withOptions(theEngine(), '--cap-add', 'NET_BIND_SERVICE')
    const extended = await startContained(own, { command: has('CapBnd:.0000000000000400', 'NoNewPrivs:.1') })
    for (const { service } of [restricted, extended]) {
      const { status } = await service.waitFor(await service.startRun())
      expect(status, service.log.join('\n')).toBe('PASSED')
    }
  })

  // Only root can mount.
  it.skipIf(process.getuid?.() !== 0)('sees and changes nothing that is mounted below the packages', async () => {
    const { folder, write } = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'main' })
    const linked = join(folder, 'node_modules/linked')
    await write({ 'node_modules/tool/a.txt': 'installed' })
    await mkdir(linked)
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', linked])
    onTestFinished(() => void execFileSync('umount', [linked]))
    await writeFile(join(linked, 'secret.txt'), 'secret')
    const command = puppetAfter(`
      grep -q installed node_modules/tool/a.txt || exit 3
      ! cat ${linked}/secret.txt node_modules/linked/secret.txt || exit 4
      echo changed > ${linked}/secret.txt; echo changed > ${linked}/new; echo changed > ${folder}/node_modules/new; true`)
    const { service } = await startContained(theEngine(), { folder, command })
    const run = await service.waitFor(await service.startRun({ branch: 'main' }))
    expect(await readdir(linked)).toEqual(['secret.txt'])
    expect(await readFile(join(linked, 'secret.txt'), 'utf8')).toBe('secret')
    expect(run.status, service.log.join('\n')).toBe('PASSED')
  })

  it('is removed by the next start if the service was killed, and a cancel that was accepted counts', async () => {
    const engine = theEngine()
    const folder = await temporaryFolder()
    const [config, data] = [join(folder, 'config.json'), await temporaryFolder()]
    const container = { ...engine.container, options: [...engine.container.options, '--volume', `${folder}:${folder}`] }
    const project = { ...puppetProject(await temporaryFolder()), container }
    await writeFile(config, JSON.stringify({ keys: [KEY], stopGraceSeconds: 60, projects: { shop: project } }))
    const first = startServiceProcess({ config, data, env: engine.env })
    const client = await first.ready()
    const runs = ['interrupted', 'cancelled'].map(async (run) => {
      const journal = join(folder, run)
      const runId = await client.startRun(puppet({ hangs: true, ignores: ['SIGINT'], journal }))
      await until(async () => (await readJournal(journal)).length > 0)
      return runId
    })
    const runIds = await Promise.all(runs)
    await client.cancel(runIds[1] ?? '')
    await first.kill()
    expect(await engine.names()).toHaveLength(2)

    const next = await startServiceProcess({ config, data, env: engine.env }).ready()
    expect(await engine.names()).toEqual([])
    const statuses = await Promise.all(runIds.map(async (runId) => (await next.get(runId)).body.status))
    expect(statuses).toEqual(['INTERRUPTED', 'CANCELLED'])
  })

  it.each([
    [
      'with an option that the engine does not know',
      { options: ['--no-such-option'] },
      {},
      /could not be started: \w+ could not create a container of .*; its output:[\s\S]*no-such-option/,
    ],
    [
      'without Node',
      {},
      { command: ['no-such-node'] },
      /exited with code 127: the image \S+ cannot run no-such-node, or no-such-node could not run a program; its output/,
    ],
    ['whose tests are killed', {}, { command: ['sh', '-c', 'kill -KILL $$'] }, /vitest was killed by SIGKILL/],
    ['without any program', { options: [] }, { command: ['true'] }, /could not be started: .*localhost\/base:1/],
  ])('%s makes the run INTERRUPTED, and the log says so', async (_what, changes, settings, message) => {
    const { service } = await startContained(theEngine(), {
      container: { ...theEngine().container, ...changes },
      ...settings,
    })
    const run = await service.waitFor(await service.startRun())
    expect(run.status, service.log.join('\n')).toBe('INTERRUPTED')
    expect(service.log.join('\n')).toMatch(message)
    expect(service.log.join('\n')).toContain(run.message)
  })

  it('that is cancelled while the engine creates it is never left', async () => {
    const engine = theEngine()
    const folder = await temporaryFolder()
    const [bin, creating, proceed] = [join(folder, 'bin'), join(folder, 'creating'), join(folder, 'proceed')]
    // Docker's daemon gets the request while it does not respond; Podman has none, so its client waits.
    const { daemonId } = engine
    const freeze = daemonId === undefined ? ':' : `kill -STOP ${daemonId}`
    const wait = daemonId === undefined ? `until test -e ${proceed}; do sleep 0.05; done` : ':'
    const script = `#!/bin/sh
      if test "$1" = create; then ${freeze}; touch ${creating}; ${wait}; fi
      PATH=\${PATH#*:}
      exec ${engine.name} "$@"`
    await writeFiles(bin, { [engine.name]: script })
    await chmod(join(bin, engine.name), 0o755)
    const env = { ...engine.env, PATH: `${bin}:${engine.env.PATH}` }
    const projects = { shop: { ...puppetProject(folder), container: engine.container } }
    const service = await startService({ projects }, { env })
    const runId = await service.startRun(puppet({ hangs: true }))
    await until(() => existsSync(creating))
    await service.cancel(runId)
    if (daemonId !== undefined) process.kill(daemonId, 'SIGCONT')
    await writeFile(proceed, '')
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
    expect(await engine.names()).toEqual([])
  })

  it('is stopped at once by SIGINT if the program in it has no handler, and keeps no log', async () => {
    const command = ['sh', '-c', 'touch "$BEGUN"; exec sleep 600']
    const { service, outside } = await startContained(theEngine(), { command }, { stopGraceSeconds: 600 })
    const runId = await service.startRun({ envOverrides: { BEGUN: join(outside, 'begun') } })
    await until(() => existsSync(join(outside, 'begun')))
    const driver = await theEngine().call('inspect', '--format', '{{.HostConfig.LogConfig.Type}}', `test-run-${runId}`)
    expect(driver.trim()).toBe('none')
    await service.cancel(runId)
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
  })
})
