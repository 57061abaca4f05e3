import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../../../test/documents/documents.ts'
import { aRepository, copyInto, installPackages } from '../../../test/support/git-repository.ts'
import { removeContainers } from '../../src/machine/container.ts'
import {
  PLAIN_ENV,
  puppet,
  puppetProject,
  readJournal,
  startService,
  startServiceProcess,
  temporaryFolder,
  until,
  WEB_SHOP,
} from '../support/a-local-service.ts'

const IMAGE = 'localhost/base:1'
/** The image is empty, so a container gets the programs of this machine. */
const PROGRAMS = ['/usr', '/bin', '/lib', '/lib64'].filter((folder) => existsSync(folder))
const OPTIONS = [
  ...['--network', 'host', '--env', 'INSIDE=a container'],
  ...['--env', `PATH=${dirname(process.execPath)}:/usr/bin:/bin`],
  ...[...PROGRAMS, ROOT, process.execPath].flatMap((path) => ['--volume', `${path}:${path}:ro`]),
]
/** What the defaults of some distributions need in a container or without systemd. */
const SIMPLEST_PODMAN = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs', '--events-backend', 'file']
const FEW_RESOURCES = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1000:1000']

/** Engines whose images and containers lie in a temporary folder. `stop` also removes what lies there as a mount. */
const ENGINES = {
  podman: async (folder: string) => {
    const storage = ['--root', join(folder, 'images'), '--runroot', join(folder, 'state'), '--storage-driver', 'vfs']
    const env = { ...PLAIN_ENV, XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR }
    const engine = (further: string[]) => tryEngine(['podman', ...storage, ...further], env, folder)
    const { call, ...found } = await engine([]).catch(() => engine(SIMPLEST_PODMAN))
    const stop = async () => {
      await call('rm', '--all', '--force')
      await call('rmi', '--all', '--force')
    }
    return { call, ...found, stop }
  },
  docker: async (folder: string) => {
    if (process.getuid?.() !== 0) throw new Error('its daemon needs root')
    const socket = join(folder, 'socket')
    const args = [
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
      ...['--host', `unix://${socket}`, '--storage-driver=vfs', '--iptables=false', '--ip6tables=false'],
      '--bridge=none',
    ]
    const daemon = spawn('dockerd', args, { stdio: 'ignore' })
    let isGone = false
    const exited = once(daemon, 'exit')
      .catch(() => undefined)
      .then(() => {
        isGone = true
      })
    const stop = async () => {
      daemon.kill()
      await exited
      // It leaves the name of a network namespace, which is a mount.
      await promisify(execFile)('umount', [join(folder, 'exec/netns/default')]).catch(() => undefined)
    }
    try {
      await until(() => existsSync(socket) || isGone)
      const env = { ...PLAIN_ENV, DOCKER_HOST: `unix://${socket}`, DOCKER_CONFIG: folder }
      return { ...(await tryEngine(['docker'], env, folder)), stop }
    } catch (error) {
      await stop()
      throw error
    }
  },
}

async function tryEngine(command: readonly string[], env: NodeJS.ProcessEnv, folder: string) {
  const [program = '', ...first] = command
  const call = async (...args: string[]) => (await promisify(execFile)(program, [...first, ...args], { env })).stdout
  const root = join(folder, 'root')
  for (const name of ['etc', 'tmp', 'proc', 'sys', 'dev', ...PROGRAMS]) mkdirSync(join(root, name), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  const archive = join(folder, 'root.tar')
  await promisify(execFile)('tar', ['--create', '--file', archive, '--directory', root, '.'])
  await call('import', archive, IMAGE)
  await call('run', '--rm', '--init', ...OPTIONS, ...FEW_RESOURCES, IMAGE, 'true')
  return { command, env, call }
}

type Engine = Awaited<ReturnType<(typeof ENGINES)['docker']>>

async function prepareEngine(name: keyof typeof ENGINES): Promise<Engine | string> {
  if (process.platform !== 'linux') return 'no Linux'
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const engine = await ENGINES[name](folder)
    return { ...engine, stop: () => engine.stop().finally(remove) }
  } catch (error) {
    remove()
    return (error as Error).message
  }
}

/** The command of a project whose tests do this before the puppet runs. */
function puppetAfter(script: string): string[] {
  return ['sh', '-c', `${script}\nexec "$@"`, 'sh', ...puppetProject().command]
}

const reasons: string[] = []

describe.each(['docker', 'podman'] as const)('a container of %s', { timeout: 240_000 }, (name) => {
  let engine: Engine
  let problem: string | undefined
  beforeAll(async () => {
    const prepared = await prepareEngine(name)
    if (typeof prepared !== 'string') {
      engine = prepared
      return prepared.stop
    }
    problem = `${name} does not work here: ${prepared}`
    reasons.push(problem)
    console.warn(`Tests of containers are skipped, because ${problem}`)
    return undefined
  }, 240_000)
  beforeEach(({ skip }) => skip(problem !== undefined, problem))

  const names = async () => (await engine.call('ps', '--all', '--format', '{{.Names}}')).split('\n').filter(Boolean)
  const container = (...options: string[]) => ({
    image: IMAGE,
    engine: engine.command,
    options: [...OPTIONS, ...FEW_RESOURCES, ...options],
  })

  it('sees the folder and the variables of the run, writes as this user, and is gone with the run', async () => {
    const folder = join(temporaryFolder(), 'a, "b"')
    mkdirSync(folder)
    const project = { ...puppetProject(folder), command: puppetAfter('echo written > new.txt'), container: container() }
    const env = { ...engine.env, OF_THE_PERSON: 'not for the tests' }
    const service = await startService({ projects: { shop: project }, env })
    const SECRET = `it's "a"\n$(secret) \\ value`
    const { envOverrides } = puppet({ tellsVariables: ['SECRET', 'CI', 'OF_THE_PERSON', 'INSIDE'], exitCode: 1 })
    const run = await service.run({ envOverrides: { SECRET, ...envOverrides } })
    expect(run.results?.testCases.map(({ title }) => title)).toEqual([
      `puppet > SECRET=${SECRET}`,
      'puppet > CI=true',
      'puppet > OF_THE_PERSON=undefined',
      'puppet > INSIDE=a container',
    ])
    expect(run).toMatchObject({ status: 'FAILED', message: 'vitest exited with code 1, although no test failed.' })
    const { uid, gid } = statSync(join(folder, 'new.txt'))
    expect([uid, gid]).toEqual([process.getuid?.(), process.getgid?.()])
    await service.close()
    expect(await names()).toEqual([])
  })

  // Both engines start the same command.
  it.runIf(name === 'podman')('runs real Vitest', async () => {
    const folder = temporaryFolder()
    await copyInto(folder, WEB_SHOP)
    await installPackages(folder)
    const projects = { shop: { folder, container: container() } }
    const service = await startService({ projects, env: engine.env })
    const run = await service.run({ frameworkProjectName: 'unit' })
    expect(run.status, service.log.join('\n')).toBe('PASSED')
    expect(run.results?.testCases).toHaveLength(10)
  })

  it('tests a branch with the packages of the folder, which it cannot change', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'other' })
    await repository.write({ 'node_modules/tool/a.txt': 'installed', 'a.txt': 'main' })
    const command = puppetAfter(`
      grep -q other a.txt && grep -q installed node_modules/tool/a.txt && git status --short || exit 3
      ! touch node_modules/tool/new || exit 4`)
    const project = { ...puppetProject(repository.folder), command, container: container() }
    const service = await startService({ projects: { shop: project }, env: engine.env })
    const run = await service.run({ branch: 'other' })
    expect(run.status, service.log.join('\n')).toBe('PASSED')
  })

  it('is removed after a cancel and at the limit of the run, also if the tests ignore signals', async () => {
    const folder = temporaryFolder()
    const journal = join(folder, 'journal')
    const project = { ...puppetProject(folder), container: container() }
    const start = (settings: object) => startService({ projects: { shop: project }, ...settings, env: engine.env })
    const hanging = puppet({ hangs: true, ignores: ['SIGINT', 'SIGTERM'], journal })
    const [patient, hasty] = [await start({}), await start({ runLimitMinutes: 0.05 })]
    const runId = await patient.startRun(hanging)
    await until(async () => (await readJournal(journal)).length > 0)
    expect(await patient.cancel(runId)).toMatchObject({ status: 200 })
    expect(await hasty.run(hanging)).toMatchObject({ status: 'TIMEDOUT' })
    await until(async () => (await names()).length === 0)
    expect((await readJournal(journal)).map(({ event }) => event)).toContain('SIGINT')
  })

  it('is removed by the guard if the service is killed', async () => {
    const folder = temporaryFolder()
    const journal = join(folder, 'journal')
    const project = { ...puppetProject(folder), container: container() }
    const service = startServiceProcess(project, temporaryFolder(), engine.env)
    await (await service.ready()).startRun(puppet({ hangs: true, journal }))
    await until(async () => (await readJournal(journal)).length > 0)
    expect(await names()).toHaveLength(1)
    await service.kill()
    await until(async () => (await names()).length === 0)
  })

  it('that an earlier service left is found by its label', async () => {
    const start = (label: string) =>
      engine.call(
        ...['run', '--detach', '--stop-timeout', '0', '--label', label, ...OPTIONS, ...FEW_RESOURCES],
        ...[IMAGE, 'sleep', '600'],
      )
    await start('test-run-service.run=run-1')
    // The service was killed between the creation of a container and its start.
    await engine.call('create', '--label', 'test-run-service.run=run-1', ...OPTIONS, ...FEW_RESOURCES, IMAGE, 'true')
    const other = (await start('test-run-service.run=run-2')).trim()
    await removeContainers(engine.command, 'run-1', engine.env)
    expect((await engine.call('ps', '--all', '--quiet', '--no-trunc')).trim()).toBe(other)
    await engine.call('rm', '--force', other)
  })
})

it.runIf(process.env.CONTAINER_TESTS === 'required')('an engine works here, because CONTAINER_TESTS says so', () => {
  expect(reasons.length, reasons.join('\n')).toBeLessThan(2)
})

describe("an engine's program", () => {
  // An engine reads variables whose names begin in the same way, but not these.
  const SECRETS = { PASSWORD: 'secret', DOCKER_PASSWORD: 'secret', SSH_KEY: 'secret', LD_SDK_KEY: 'secret' }

  /** A run whose engine is this script. Without a script, there is no such program. */
  async function runWith(
    script: string | undefined,
    name = 'engine',
    before: string[] = [],
    env: NodeJS.ProcessEnv = {},
  ) {
    const folder = temporaryFolder()
    const [engine, calls] = [join(folder, name), join(folder, 'calls')]
    if (script !== undefined) {
      await writeFile(engine, `#!/bin/sh\necho "$*" >> ${calls}\n${script}\n`, { mode: 0o755 })
    }
    const container = { image: 'node:24', engine: [...before, engine, '--global'] }
    const project = { ...puppetProject(folder), container }
    const service = await startService({ projects: { shop: project }, env: { ...PLAIN_ENV, ...env } })
    const run = await service.run({ envOverrides: { DOCKER_HOST: 'tcp://tests.example', ...SECRETS } })
    await service.close()
    return { folder, engine, run, calls: await readFile(calls, 'utf8').catch(() => ''), log: service.log.join('\n') }
  }

  const NOT_FOUND = 'command: line 1: yarnn: command not found'

  it.each([
    [
      'exits with 125',
      'echo "docker: no such image" >&2; exit 125',
      'INTERRUPTED',
      'exited with code 125, so either ENGINE could not start a container of node:24, or the command itself exited with this code: docker: no such image.',
    ],
    ['does not exist', undefined, 'INTERRUPTED', 'could not be started: there is no program ENGINE.'],
    [
      'exits with 127',
      `echo "${NOT_FOUND}" >&2; exit 127`,
      'FAILED',
      `exited with code 127 without a report: ${NOT_FOUND}. The "command" of the project may not have passed on the arguments and the variables that the service adds.`,
    ],
  ])('that %s says why no test ran, and leaves nothing to remove', async (_what, ends, status, reason) => {
    const { run, engine, log } = await runWith(ends && `test "$2" = run && { ${ends}; }; exit 0`)
    expect(run).toMatchObject({ status, message: `vitest ${reason.replace('ENGINE', engine)}` })
    expect(log).not.toContain('could not remove')
  })

  it('gets the values of variables in its environment, but for those that it reads itself', async () => {
    const known = Object.keys(SECRETS).map((name) => `test "$${name}" = secret`)
    const script = `test "$2" = run && ${known.join(' && ')} && test -z "$DOCKER_HOST" && exit 1; exit 0`
    const { run, calls } = await runWith(script)
    expect(run.message).toContain('vitest exited with code 1')
    for (const name of Object.keys(SECRETS)) expect(calls).toContain(` --env ${name} `)
    expect(calls).toContain(' --env DOCKER_HOST=tcp://tests.example ')
    expect(calls).toContain(` --user ${process.getuid?.()}:${process.getgid?.()} `)
  })

  it.each([
    ['Podman gets no proxy variables of the machine, which its program needs to pull the image', 'podman', [], true],
    ['Podman gets none either if another program starts Podman', 'podman', ['nice', '-n', '1'], true],
    ['Docker gets none by itself, and Docker does not know the option', 'docker', [], false],
  ])('gives the tests no password: %s', async (_title, name, before, hasOption) => {
    const env = { HTTPS_PROXY: 'http://user:password@proxy:3128' }
    const script = 'test "$2" = run && { echo "$HTTPS_PROXY"; exit 1; }; exit 0'
    const { run, calls } = await runWith(script, name, before, env)
    expect(/ --http-proxy=false .*node:24/.test(calls)).toBe(hasOption)
    expect(calls).not.toContain('password')
    expect(run.message).toContain(env.HTTPS_PROXY)
  })

  it('runs the tests from the folder of the project, where its options may name a folder', async () => {
    const { calls, folder } = await runWith('echo "$2 in $(pwd)" >> "$(dirname "$0")/calls"; exit 1')
    expect(calls).toContain(`run in ${folder}\n`)
  })

  it('is called until it lists no container of the run, because it may be removing one itself', async () => {
    const script = `case "$2" in
      ps) test "$(grep -c "global ps" "$(dirname "$0")/calls")" -ge 3 || echo id;;
      *) exit 1;;
    esac`
    const { calls, log } = await runWith(script)
    expect(calls.match(/global rm --force --volumes id/g)).toHaveLength(2)
    expect(log).not.toContain('could not remove')
  })

  it('that still lists a container after it has removed it is named in the failure', async () => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'docker'), '#!/bin/sh\n[ "$1" = rm ] || echo 1a2b\n', { mode: 0o755 })
    await expect(removeContainers(['docker'], 'run-1', { PATH: `${folder}:/usr/bin:/bin` })).rejects.toThrow(
      'a container may be left, because "docker ps" still lists it after 20 removals',
    )
  })
})
