import { existsSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readRegularFile, removeFolder } from '../machine/files.ts'
import { type GitOptions, git, tryGit } from '../machine/git.ts'
import type { TestedFolders } from '../machine/paths.ts'

/** A git repository, and the folder of a project in it. */
export interface Repository extends TestedFolders {
  /** The `.git` folder that all work trees of the repository share. */
  readonly gitFolder: string
  readonly env: NodeJS.ProcessEnv
  readonly signal?: AbortSignal | undefined
}

interface FoundRepository {
  readonly repository?: Repository
  readonly reason?: string
}

/** Finds the repository that a folder belongs to. If it finds no repository, returns git's reason. */
export async function openRepository(
  folder: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<FoundRepository> {
  const args = ['rev-parse', '--show-toplevel', '--git-common-dir', '--show-prefix']
  const result = await tryGit(args, { folder, env, signal })
  if (result.kind === 'failed') return { reason: result.reason.split('\n', 1)[0] ?? '' }
  const [root = '', gitFolder = '', path = ''] = result.output.split('\n')
  // git prints its own folder relative to the folder in which it runs.
  return { repository: { root, folder: resolve(root, path), gitFolder: resolve(folder, gitFolder), env, signal } }
}

/** Options for git in a repository. */
export function gitIn({ root, env, signal }: Repository): GitOptions {
  return { folder: root, env, signal }
}

/**
 * The commit at the tip of a branch. A local branch comes before a branch that only `origin` has. Undefined if the branch does
 * not exist. The name must be a whole ref, so `main~1` or an option is not a branch.
 */
export async function findBranch(repository: Repository, branch: string): Promise<string | undefined> {
  // Process arguments cannot contain NUL, and no branch name does. A remote's HEAD only points to one of its branches.
  if (branch.includes('\0') || branch === 'HEAD') return undefined
  for (const ref of [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]) {
    const result = await tryGit(['show-ref', '--verify', '--hash', '--', ref], gitIn(repository))
    if (result.kind === 'ok') return result.output
  }
  return undefined
}

/** What is checked out. On a detached head, there is no branch. Before the first commit, there is no commit. */
export async function readHead(repository: Repository) {
  const read = async (...args: string[]) => {
    const result = await tryGit(args, gitIn(repository))
    return result.kind === 'ok' ? result.output : undefined
  }
  return {
    branch: await read('symbolic-ref', '--quiet', '--short', 'HEAD'),
    commit: await read('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
  }
}

/** Whether a commit has a folder. The path starts in the root. */
export async function hasFolder(repository: Repository, commit: string, path: string): Promise<boolean> {
  const result = await tryGit(['cat-file', '-t', `${commit}:${path}`], gitIn(repository))
  return result.kind === 'ok' && result.output === 'tree'
}

export async function addWorkTree(repository: Repository, commit: string, at: string): Promise<void> {
  await git(['worktree', 'add', '--quiet', '--detach', at, commit], gitIn(repository))
}

/**
 * Removes a work tree, also if git was killed while it created the work tree. Such a work tree is locked. `git worktree
 * remove` refuses it, and `worktree prune` skips it. git's record is named by the last part of the path.
 */
export async function removeWorkTree(
  path: string,
  gitFolder: string,
  remove = () => removeFolder(path),
): Promise<void> {
  const record = join(gitFolder, 'worktrees', basename(path))
  const isRecord = isRecordOf(path, record)
  // git fails if it reads a record that is half removed, and it skips a record without this file. So this file goes first.
  if (isRecord) await rm(join(record, 'gitdir'), { force: true })
  await remove()
  if (isRecord) await rm(record, { recursive: true, force: true })
}

/** Tests may have written the path of the `.git` folder. A record that git has just begun names no work tree yet. */
function isRecordOf(tree: string, record: string): boolean {
  if (
    !existsSync(record) ||
    realpathSync(record) !== join(realpathSync(dirname(dirname(record))), 'worktrees', basename(tree))
  )
    return false
  const named = readRegularFile(join(record, 'gitdir')).trim()
  return named === '' || resolve(record, named) === join(tree, '.git')
}
