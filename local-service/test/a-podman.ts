import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { PLAIN_ENV, REPOSITORY } from './a-local-service.ts'

/** A Podman whose images and containers lie in a temporary folder. */
export interface Podman {
  readonly env: NodeJS.ProcessEnv
  /** The settings of a container that has this machine's programs and this repository. */
  readonly container: { readonly image: string; readonly engine: 'podman'; readonly options: readonly string[] }
  /** The names of all its containers. */
  names(): Promise<string[]>
}

/** What keeps the defaults of some distributions from working in a container or without systemd. */
const SIMPLEST_ENGINE = `
  [containers]
  default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
  [engine]
  runtime = "runc"
  cgroup_manager = "cgroupfs"
  events_logger = "file"`

const IMAGE = 'localhost/base:1'

/** Programs and what they need to run: the image itself is empty. */
const PROGRAMS = ['/usr', '/bin', '/lib', '/lib64'].filter((folder) => existsSync(folder))

/** Prepares a Podman for the tests of a file; otherwise the reason why none works here. */
export async function preparePodman(): Promise<Podman | string> {
  if (process.platform !== 'linux') return 'no Linux'
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'podman-')))
  const storage = join(folder, 'storage.conf')
  writeFileSync(
    storage,
    `[storage]\ndriver = "vfs"\ngraphroot = "${join(folder, 'images')}"\nrunroot = "${join(folder, 'state')}"\n`,
  )
  const plain = { ...PLAIN_ENV, XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR, CONTAINERS_STORAGE_CONF: storage }
  const simplest = join(folder, 'containers.conf')
  writeFileSync(simplest, SIMPLEST_ENGINE)
  const options = [
    ...['--network', 'host'],
    ...[...PROGRAMS, REPOSITORY, process.execPath].flatMap((path) => ['--volume', `${path}:${path}:ro`]),
  ]

  const reasons: string[] = []
  for (const env of [plain, { ...plain, CONTAINERS_CONF: simplest }]) {
    const podman = (...args: string[]) => promisify(execFile)('podman', args, { env })
    try {
      await podman('import', await emptyImage(folder), IMAGE)
      await podman('run', '--rm', ...options, IMAGE, 'sh', '-c', ':')
    } catch (error) {
      reasons.push((error as Error).message)
      continue
    }
    afterAll(async () => {
      await podman('rm', '--all', '--force')
      await podman('rmi', '--all', '--force')
      rmSync(folder, { recursive: true, force: true })
    })
    return {
      env,
      container: { image: IMAGE, engine: 'podman', options },
      names: async () => (await podman('ps', '--all', '--format', '{{.Names}}')).stdout.split('\n').filter(Boolean),
    }
  }
  rmSync(folder, { recursive: true, force: true })
  return reasons.join('\n')
}

async function emptyImage(folder: string): Promise<string> {
  const root = join(folder, 'root')
  for (const name of ['etc', 'tmp', 'proc', 'sys', 'dev', ...PROGRAMS]) mkdirSync(join(root, name), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  const archive = join(folder, 'root.tar')
  await promisify(execFile)('tar', ['--create', '--file', archive, '--directory', root, '.'])
  return archive
}
