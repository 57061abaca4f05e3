import { mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { git, tryGit } from './git.ts'

/** A git repository, seen from a project's folder in it. */
export interface Repository {
  readonly root: string
  /** The project's folder, relative to the root; empty if it is the root. */
  readonly folder: string
  /** Its `.git` folder, also if `root` is a work tree of it. */
  readonly gitFolder: string
  readonly env: NodeJS.ProcessEnv
}

/** Where a work tree is, and the `.git` folder of its repository, which has a record of it. */
export interface WorkTreePlace {
  readonly path: string
  readonly gitFolder: string
}

/** Finds the repository that a folder belongs to; otherwise git's reason why there is none. */
export async function openRepository(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ kind: 'found'; repository: Repository } | { kind: 'none'; reason: string }> {
  const result = await tryGit(['rev-parse', '--show-toplevel', '--git-common-dir', '--show-prefix'], { folder, env })
  if (result.kind === 'failed') return { kind: 'none', reason: result.reason.split('\n', 1)[0] ?? '' }
  const [root = '', gitFolder = '', prefix = ''] = result.output.split('\n')
  // git prints its own folder relative to the one that it runs in.
  const place = { root, folder: prefix.replace(/\/$/, ''), gitFolder: resolve(folder, gitFolder) }
  return { kind: 'found', repository: { ...place, env } }
}

/**
 * The commit at the tip of a branch, a local one or else a remote's; undefined if there is none. The name is only
 * looked up as a whole ref, so `main~1` or an option is no branch.
 */
export async function findBranch(repository: Repository, branch: string): Promise<string | undefined> {
  const options = { folder: repository.root, env: repository.env }
  // Process arguments cannot contain it, and no branch name does.
  if (branch.includes('\0')) return undefined
  const remotes = (await git(['remote'], options)).split('\n').filter((remote) => remote !== '')
  remotes.sort((a, b) => Number(b === 'origin') - Number(a === 'origin'))
  for (const ref of [`refs/heads/${branch}`, ...remotes.map((remote) => `refs/remotes/${remote}/${branch}`)]) {
    const result = await tryGit(['show-ref', '--verify', '--hash', '--', ref], options)
    if (result.kind === 'ok') return result.output
  }
  return undefined
}

/** What is checked out in the project's folder: absent on a detached head, or before the first commit. */
export async function readHead(
  repository: Repository,
): Promise<{ branch: string | undefined; commit: string | undefined }> {
  const options = { folder: repository.root, env: repository.env }
  const branch = await tryGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], options)
  const commit = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], options)
  return {
    branch: branch.kind === 'ok' ? branch.output : undefined,
    commit: commit.kind === 'ok' ? commit.output : undefined,
  }
}

/** Whether the project's folder exists in a commit. */
export async function hasProjectFolder(repository: Repository, commit: string): Promise<boolean> {
  if (repository.folder === '') return true
  const result = await tryGit(['cat-file', '-t', `${commit}:${repository.folder}`], {
    folder: repository.root,
    env: repository.env,
  })
  return result.kind === 'ok' && result.output === 'tree'
}

/** Checks out a commit into a new work tree and returns the project's folder in it. */
export async function addWorkTree(repository: Repository, commit: string, at: string): Promise<string> {
  await mkdir(dirname(at), { recursive: true })
  await git(['worktree', 'add', '--quiet', '--detach', at, commit], { folder: repository.root, env: repository.env })
  return join(at, repository.folder)
}

/**
 * Removes a work tree, also one that git was creating when it was killed: `git worktree remove` refuses that, and
 * `worktree prune` skips what is locked, as every work tree is while it is created.
 */
export async function removeWorkTree({ path, gitFolder }: WorkTreePlace): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 })
  await rm(join(gitFolder, 'worktrees', basename(path)), { recursive: true, force: true })
}
