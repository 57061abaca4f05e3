import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Framework } from '../results.ts'

export interface Project {
  readonly name: string
  readonly framework: Framework
  /** The text of each file, by its path. */
  readonly files: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** If it is given, the folder is a git repository. The change is not committed. */
  readonly git?: { readonly commits: number; readonly change: Readonly<Record<string, string>> }
  /** If it is absent, the project runs once without arguments. */
  readonly arguments?: readonly (readonly string[])[]
}

const ROOT = resolve(import.meta.dirname, '../../..')
/** Where the packages of each version of Vitest are. */
const PACKAGES: Readonly<Record<number, string>> = {
  3: join(ROOT, 'tools/by-hand/vitest-3/node_modules'),
  4: join(ROOT, 'tools/by-hand/vitest-4/node_modules'),
}
const INSTALLED = ['vitest', 'vite', 'typescript', '@playwright/test', 'playwright', 'playwright-core']
const COMMANDS = ['vitest', 'typescript', '@playwright/test']

/** Writes the project into a new folder, with links to the packages. */
export function writeProject({ files, git, framework }: Project, folder: string, version: number): void {
  const manifest = { private: true, type: 'module', devDependencies: { [packageOf(framework)]: `^${version}` } }
  write(folder, { 'package.json': JSON.stringify(manifest), '.gitignore': 'node_modules\n', ...files })
  installPackages(join(folder, 'node_modules'), framework === 'vitest' ? version : undefined)
  if (git === undefined) return
  const run = (...args: string[]) => execFileSync('git', args, { cwd: folder, env: GIT_ENV, stdio: 'ignore' })
  run('init', '--quiet', '--initial-branch=main')
  for (let commit = 0; commit < git.commits; commit++) {
    run('add', '--all')
    run('commit', '--quiet', '--allow-empty', '-m', `Commit ${commit}`)
  }
  write(folder, git.change)
}

function packageOf(framework: Framework): string {
  return framework === 'vitest' ? 'vitest' : '@playwright/test'
}

/** Nothing of the machine's or the person's git configuration. */
const GIT_ENV = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.org',
  GIT_COMMITTER_NAME: 'Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.org',
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Links the packages and the commands, as `npm ci` would install them. */
function installPackages(modules: string, vitestVersion: number | undefined): void {
  mkdirSync(join(modules, '.bin'), { recursive: true })
  mkdirSync(join(modules, '@playwright'))
  const homes = [PACKAGES[vitestVersion ?? 0], join(ROOT, 'node_modules')].flatMap((home) => home ?? [])
  for (const name of INSTALLED) {
    const target = homes.map((home) => realPathOf(join(home, name))).find((path) => path !== undefined)
    if (target === undefined) throw new Error(`The package ${name} is not installed. Run "npm ci".`)
    symlinkSync(target, join(modules, name))
    if (!COMMANDS.includes(name)) continue
    const { bin }: { bin: Record<string, string> } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'))
    for (const [command, file] of Object.entries(bin)) symlinkSync(join(target, file), join(modules, '.bin', command))
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
