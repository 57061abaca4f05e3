import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach } from 'vitest'
import { PLAIN_ENV, puppetProject, REPOSITORY, startService, temporaryFolder, until } from './a-local-service.ts'

/** A container engine whose images and containers lie in a temporary folder. */
export interface TestEngine {
  readonly name: 'podman' | 'docker'
  readonly env: NodeJS.ProcessEnv
  /** The settings of a container that has this machine's programs and this repository. */
  readonly container: {
    readonly image: string
    readonly engine: TestEngine['name']
    readonly options: readonly string[]
  }
  /** Docker's daemon. */
  readonly daemonId?: number | undefined
  /** The names of all its containers. */
  names(): Promise<string[]>
  /** Calls its client. */
  call(...args: string[]): Promise<string>
  /** Stops it and removes its folder. */
  stop(): Promise<void>
}

/** Programs and what they need to run: the image itself is empty. */
const PROGRAMS = ['/usr', '/bin', '/lib', '/lib64'].filter((folder) => existsSync(folder))
const IMAGE = 'localhost/base:1'
const OPTIONS = [
  ...['--network', 'host', '--env', 'INSIDE=a container'],
  ...['--env', `PATH=${dirname(process.execPath)}:/usr/bin:/bin`],
  ...[...PROGRAMS, REPOSITORY, process.execPath].flatMap((path) => ['--volume', `${path}:${path}:ro`]),
]

/** Engines on a busy machine take their time. */
export const ENGINE_LIMIT_MS = 120_000

/** The first of these engines that works, for the tests of a suite. Without any they are skipped. */
export function useEngine(names: readonly TestEngine['name'][], isRequired: boolean): () => TestEngine {
  let engine: TestEngine | undefined
  const reasons: string[] = []
  // Not before a test runs: then nobody would stop it.
  beforeAll(async () => {
    for (const name of names) {
      const prepared = await prepareEngine(name)
      if (typeof prepared !== 'string') {
        engine = prepared
        return prepared.stop
      }
      reasons.push(`${name} does not work here: ${prepared}`)
    }
    if (isRequired) throw new Error(`The tests of containers are required, and no engine works:\n${reasons.join('\n')}`)
    console.warn(`Tests of containers are skipped, because ${reasons.join('\n')}`)
    return undefined
  }, ENGINE_LIMIT_MS)
  beforeEach(({ skip }) => skip(engine === undefined, reasons.join('\n')))
  return () => {
    if (engine === undefined) throw new Error('There is no engine before the tests.')
    return engine
  }
}

/** A service for one project, whose puppet runs in containers of this engine, and can write to the folder `outside`. */
export async function startContained(engine: TestEngine, project: object = {}, settings: object = {}) {
  const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
  const options = [...engine.container.options, '--volume', `${outside}:${outside}`]
  const shop = { ...puppetProject(folder), container: { ...engine.container, options }, ...project }
  const env = { ...engine.env, OF_THE_PERSON: 'not for the tests' }
  const service = await startService({ projects: { shop }, ...settings }, { env })
  return { service, folder, outside, journal: join(outside, 'journal') }
}

/** The command of a project whose tests do this before the puppet runs. */
export function puppetAfter(script: string): string[] {
  return ['sh', '-c', `${script}\nexec "$@"`, 'sh', ...puppetProject().command]
}

/** Prepares an engine; otherwise the reason why it does not work here. */
async function prepareEngine(name: TestEngine['name']): Promise<TestEngine | string> {
  if (process.platform !== 'linux') return 'no Linux'
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    return name === 'podman' ? await preparePodman(folder, remove) : await prepareDocker(folder, remove)
  } catch (error) {
    remove()
    return (error as Error).message
  }
}

/** What keeps the defaults of some distributions from working in a container or without systemd. */
const SIMPLEST_PODMAN = `
  [containers]
  default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
  [engine]
  runtime = "runc"
  cgroup_manager = "cgroupfs"
  events_logger = "file"`

async function preparePodman(folder: string, remove: () => void): Promise<TestEngine> {
  const storage = join(folder, 'storage.conf')
  writeFileSync(
    storage,
    `[storage]\ndriver = "vfs"\ngraphroot = "${join(folder, 'images')}"\nrunroot = "${join(folder, 'state')}"\n`,
  )
  const plain = { ...PLAIN_ENV, XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR, CONTAINERS_STORAGE_CONF: storage }
  const simplest = join(folder, 'containers.conf')
  writeFileSync(simplest, SIMPLEST_PODMAN)
  const engine = await tryEngine('podman', plain, folder).catch((error: Error) =>
    tryEngine('podman', { ...plain, CONTAINERS_CONF: simplest }, folder).catch((second: Error) => {
      throw new Error(`${error.message}\n${second.message}`)
    }),
  )
  const stop = async () => {
    await engine.call('rm', '--all', '--force')
    await engine.call('rmi', '--all', '--force')
    remove()
  }
  return { ...engine, stop }
}

async function prepareDocker(folder: string, remove: () => void): Promise<TestEngine> {
  if (process.getuid?.() !== 0) throw new Error('its daemon needs root')
  const socket = join(folder, 'socket')
  const args = [
    ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
    ...['--host', `unix://${socket}`, '--storage-driver=vfs', '--iptables=false', '--ip6tables=false', '--bridge=none'],
  ]
  const daemon = spawn('dockerd', args, { stdio: 'ignore' })
  const exited = once(daemon, 'exit').catch(() => undefined)
  const stop = async () => {
    daemon.kill('SIGCONT')
    daemon.kill()
    await exited
    // It leaves the name of a network namespace, which is a mount.
    await promisify(execFile)('umount', [join(folder, 'exec/netns/default')]).catch(() => undefined)
    remove()
  }
  try {
    let isGone = false
    void exited.then(() => {
      isGone = true
    })
    await until(() => existsSync(socket) || isGone)
    const env = { ...PLAIN_ENV, DOCKER_HOST: `unix://${socket}`, DOCKER_CONFIG: folder }
    const engine = await tryEngine('docker', env, folder)
    return { ...engine, daemonId: daemon.pid, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function tryEngine(name: TestEngine['name'], env: NodeJS.ProcessEnv, folder: string) {
  const call = async (...args: string[]) => (await promisify(execFile)(name, args, { env })).stdout
  await call('import', await emptyImage(folder), IMAGE)
  await call('run', '--rm', ...OPTIONS, IMAGE, 'sh', '-c', ':')
  return {
    name,
    env,
    container: { image: IMAGE, engine: name, options: OPTIONS },
    names: async () => (await call('ps', '--all', '--format', '{{.Names}}')).split('\n').filter(Boolean),
    call,
  }
}

async function emptyImage(folder: string): Promise<string> {
  const root = join(folder, 'root')
  for (const name of ['etc', 'tmp', 'proc', 'sys', 'dev', ...PROGRAMS]) mkdirSync(join(root, name), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  const archive = join(folder, 'root.tar')
  await promisify(execFile)('tar', ['--create', '--file', archive, '--directory', root, '.'])
  return archive
}
