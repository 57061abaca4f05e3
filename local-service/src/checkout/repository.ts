import { existsSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readRegularFile, removeFolder, type TestedFolders } from '../machine/files.ts'
import { git, readGit, tryReadGit } from '../machine/git.ts'
import { killProcesses } from '../machine/processes.ts'

export interface Repository extends TestedFolders {
  /** The `.git` folder that all work trees of the repository share. */
  readonly gitFolder: string
  /** What is checked out. On a detached head, there is no branch. */
  readonly head: { readonly branch: string | undefined; readonly commit: string }
  readonly env: NodeJS.ProcessEnv
  readonly signal?: AbortSignal | undefined
}

/** git has no repository for a folder, cannot read it, or finds no commit there. */
export interface NoRepository {
  readonly kind: 'no-repository'
  readonly reason: string
}

/** Finds the repository that a folder belongs to, and what is checked out there. */
export async function openRepository(
  folder: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Repository | NoRepository> {
  const places = ['--show-toplevel', '--git-common-dir', '--show-prefix']
  const args = ['rev-parse', ...places, 'HEAD^{commit}', '--symbolic-full-name', 'HEAD']
  try {
    const lines = (await readGit(args, { root: folder, env, signal })).split('\n')
    const [root = '', gitFolder = '', path = '', commit = '', ref = ''] = lines
    return {
      root,
      folder: resolve(root, path),
      // git prints its own folder relative to the folder in which it runs.
      gitFolder: resolve(folder, gitFolder),
      head: { branch: /^refs\/heads\/(.*)/.exec(ref)?.[1], commit },
      env,
      signal,
    }
  } catch (error) {
    return { kind: 'no-repository', reason: messageOf(error).split('\n', 1)[0] ?? '' }
  }
}

/** A local branch comes before a branch that only `origin` has. The name must be a whole ref, so `main~1` or an option is no branch. */
export async function findBranch(repository: Repository, branch: string): Promise<string | undefined> {
  // A remote's HEAD only points to one of its branches.
  if (branch === 'HEAD') return undefined
  for (const ref of [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]) {
    const commit = await tryReadGit(['show-ref', '--verify', '--hash', '--', ref], repository)
    if (commit !== undefined) return commit
  }
  return undefined
}

export async function hasFolder(repository: Repository, commit: string, path: string): Promise<boolean> {
  return (await tryReadGit(['cat-file', '-t', `${commit}:${path}`], repository)) === 'tree'
}

/** The last task of each repository. git fails if another process has an unfinished work tree there. */
const lastTasks = new Map<string, Promise<unknown>>()

function inTurn(gitFolder: string, task: () => Promise<void>): Promise<void> {
  const result = (lastTasks.get(gitFolder) ?? Promise.resolve()).then(task)
  const settled = result.catch(() => undefined)
  lastTasks.set(gitFolder, settled)
  return result
}

export function addWorkTree(repository: Repository, commit: string, tree: string, runId: string): Promise<void> {
  return inTurn(repository.gitFolder, async () => {
    try {
      await git(['worktree', 'add', '--quiet', '--detach', tree, commit], repository)
    } catch (error) {
      // The next `git worktree add` would fail, because it reads what this one has left.
      await killProcesses({ runId })
      await removeTreeAndRecord(tree, repository.gitFolder)
      throw error
    }
  })
}

export function removeWorkTree(tree: string, gitFolder: string): Promise<void> {
  return inTurn(gitFolder, () => removeTreeAndRecord(tree, gitFolder))
}

/** If git was killed while it created a work tree, the tree is locked. `git worktree remove` refuses it, and `worktree prune` skips it. */
async function removeTreeAndRecord(tree: string, gitFolder: string): Promise<void> {
  const record = findRecord(tree, gitFolder)
  // git fails if it reads a record that is half removed, and it skips a record without this file. So this file goes first.
  if (record !== undefined) await rm(join(record, 'gitdir'), { force: true })
  await removeFolder(tree)
  if (record !== undefined) await rm(record, { recursive: true, force: true })
}

/**
 * What git keeps of a work tree in its own folder. Tests may have written the path of this folder, a link in it, or the record. So only
 * what is surely git's and of this work tree is found.
 */
function findRecord(tree: string, gitFolder: string): string | undefined {
  const record = join(gitFolder, 'worktrees', basename(tree))
  // By these two, git tells its own folder from others: https://git-scm.com/docs/gitrepository-layout
  const isOfGit = ['HEAD', 'objects'].every((name) => existsSync(join(gitFolder, name)))
  if (!isOfGit || !existsSync(record)) return undefined
  const isLinked = realpathSync(record) !== join(realpathSync(gitFolder), 'worktrees', basename(tree))
  if (isLinked) return undefined
  const named = readRegularFile(join(record, 'gitdir')).trim()
  // A record that git has just begun, or that is half removed, names no work tree.
  return named === '' || resolve(record, named) === join(tree, '.git') ? record : undefined
}
