import { gitIn, type InstalledVersion, installPackages, writeFiles } from '../../../test/support/git-repository.ts'
import { packageOf } from '../by-hand.ts'
import type { Framework } from '../results.ts'

/** The text of each file, by its path. */
export type Files = Readonly<Record<string, string>>

export interface Project {
  readonly name: string
  readonly framework: Framework
  readonly files: Files
  readonly env?: Readonly<Record<string, string>>
  /** If it is given, the folder is a git repository. The change is not committed. */
  readonly git?: { readonly commits: number; readonly change: Files }
  /** If it is absent, the project runs once without arguments. */
  readonly arguments?: readonly (readonly string[])[]
}

/** Each kind has something that a real project has and that changes which tests run, their results or the exit code. */
export type Kinds = Readonly<Record<string, Omit<Project, 'name' | 'framework'>>>

export function projectsOf(framework: Framework, kinds: Kinds): readonly Project[] {
  return Object.entries(kinds).map(([name, kind]) => ({ name, framework, ...kind }))
}

/** Writes the project into a new folder, with links to the packages. */
export async function writeProject(project: Project, folder: string, version: number): Promise<void> {
  const { files, git, framework } = project
  // Jest transforms ES modules only if it is told to.
  const type = framework === 'jest' ? 'commonjs' : 'module'
  const manifest = { private: true, type, devDependencies: { [packageOf(framework)]: `^${version}` } }
  await writeFiles(folder, { 'package.json': JSON.stringify(manifest), '.gitignore': 'node_modules\n', ...files })
  await installPackages(
    folder,
    framework === 'playwright' ? undefined : (`${framework}-${version}` as InstalledVersion),
  )
  if (git === undefined) return
  await gitIn(folder, 'init', '--quiet', '--initial-branch=main')
  for (let commit = 0; commit < git.commits; commit++) {
    await gitIn(folder, 'add', '--all')
    await gitIn(folder, 'commit', '--quiet', '--allow-empty', '-m', `Commit ${commit}`)
  }
  await writeFiles(folder, git.change)
}
