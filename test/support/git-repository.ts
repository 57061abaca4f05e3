import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Nothing of the machine's or the person's git configuration. */
const GIT_ENV = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.org',
  GIT_COMMITTER_NAME: 'Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.org',
}

export interface GitRepository {
  readonly folder: string
  git(...args: string[]): Promise<string>
  write(files: Readonly<Record<string, string>>): Promise<void>
  commit(files: Readonly<Record<string, string>>): Promise<string>
  read(file: string): Promise<string>
  remove(): Promise<void>
}

/** A repository in a temporary folder, on branch `main`, with one commit of these files. The branch `other` has it too. */
export async function createRepository(files: Readonly<Record<string, string>>): Promise<GitRepository> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'repository-')))
  const repository: GitRepository = {
    folder,
    git: (...args) => gitIn(folder, ...args),
    write: (written) => writeFiles(folder, written),
    async commit(written) {
      await repository.write(written)
      await repository.git('add', '--all')
      await repository.git('commit', '--quiet', '-m', 'A commit')
      return repository.git('rev-parse', 'HEAD')
    },
    read: (file) => readFile(join(folder, file), 'utf8'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
  await repository.git('init', '--quiet', '--initial-branch=main')
  await repository.commit(files)
  await repository.git('branch', 'other')
  return repository
}

export async function gitIn(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: folder, env: GIT_ENV })
  return stdout.trim()
}

/** As above, and it goes with the test. */
export async function aRepository(files: Readonly<Record<string, string>>): Promise<GitRepository> {
  const repository = await createRepository(files)
  onTestFinished(repository.remove)
  return repository
}

/** Gives a folder the packages that are installed here, as `npm ci` would. Vitest has this major version. */
export async function installPackages(folder: string, vitest: 3 | 4 | 5 = 5): Promise<void> {
  const [source, target] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  const ofVitest = vitest === 5 ? source : join(ROOT, `tools/by-hand/vitest-${vitest}/node_modules`)
  await mkdir(target)
  for (const name of await readdir(source)) {
    const from = /^@?vitest$/.test(name) ? ofVitest : source
    if (!name.startsWith('.')) await symlink(join(from, name), join(target, name))
  }
  await mkdir(join(target, '.bin'))
  for (const name of await readdir(join(source, '.bin'))) {
    const from = name === 'vitest' ? ofVitest : source
    await symlink(join(from, '.bin', name), join(target, '.bin', name))
  }
}

export async function copyInto(folder: string, source: string): Promise<void> {
  await cp(source, folder, { recursive: true, filter: (path) => !path.includes('node_modules') })
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}
