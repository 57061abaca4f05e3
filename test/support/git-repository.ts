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

export type InstalledVersion = 'vitest-3' | 'vitest-4' | 'vitest-5' | 'jest-29' | 'jest-30'

/** What projects of tests with Vitest or Playwright need. Hundreds of links would take longer than most of these tests. */
const NEEDED = /^(?:@?vitest|vite|@?playwright|playwright-core|typescript|\.bin\/(?:node|vitest|playwright|tsc))$/

/** Gives a folder packages that are installed here, as `npm ci` would, with this version of a framework. */
export async function installPackages(folder: string, version: InstalledVersion = 'vitest-5'): Promise<void> {
  const target = join(folder, 'node_modules')
  for (const parent of SHARED) await mkdir(join(target, parent), { recursive: true })
  for (const [name, at] of await placesOf(version)) await symlink(join(at, name), join(target, name))
}

const places = new Map<InstalledVersion, Promise<ReadonlyMap<string, string>>>()

/** In which folder each package lies. */
function placesOf(version: InstalledVersion): Promise<ReadonlyMap<string, string>> {
  const found = places.get(version) ?? findPlaces(version)
  places.set(version, found)
  return found
}

async function findPlaces(version: InstalledVersion): Promise<ReadonlyMap<string, string>> {
  // Jest finds its own packages from the project's folder.
  const [needed, ofVersion] = version.startsWith('jest')
    ? [/jest|^\.bin\//, /./]
    : [NEEDED, /^@?vitest$|^\.bin\/vitest$/]
  const source = join(ROOT, 'node_modules')
  const further = join(ROOT, 'tools/by-hand', version, 'node_modules')
  const found = new Map((await packagesIn(source)).filter((name) => needed.test(name)).map((name) => [name, source]))
  const others = version === 'vitest-5' ? [] : await packagesIn(further)
  for (const name of others) if (ofVersion.test(name)) found.set(name, further)
  return found
}

/** Folders of which two versions have a part each. */
const SHARED = ['.bin', '@jest', '@types']

async function packagesIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name === '.bin' || !name.startsWith('.'))
  const inner = SHARED.filter((name) => names.includes(name)).map(async (parent) =>
    (await readdir(join(folder, parent))).map((name) => join(parent, name)),
  )
  return [...names.filter((name) => !SHARED.includes(name)), ...(await Promise.all(inner)).flat()]
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
