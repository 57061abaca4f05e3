import { existsSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { readRegularFile } from '../machine/files.ts'
import { type GitOptions, git } from '../machine/git.ts'
import { killProcesses } from '../machine/processes.ts'

/** What a run tests if it does not test the project's folder itself. */
export interface WorkTree {
  /** The `.git` folder that all work trees of the repository share. */
  readonly gitFolder: string
  readonly commit: string
}

/** The last task of each repository. git fails if another process has an unfinished work tree there. */
const lastTasks = new Map<string, Promise<unknown>>()

function inTurn(gitFolder: string, task: () => Promise<void>): Promise<void> {
  const result = (lastTasks.get(gitFolder) ?? Promise.resolve()).then(task)
  const settled = result.catch(() => undefined)
  lastTasks.set(gitFolder, settled)
  return result
}

export function addWorkTree(
  { gitFolder, commit }: WorkTree,
  tree: string,
  runId: string,
  repository: GitOptions,
): Promise<void> {
  return inTurn(gitFolder, async () => {
    try {
      await git(['worktree', 'add', '--quiet', '--detach', tree, commit], repository)
    } catch (error) {
      // The next `git worktree add` would fail, because it reads what this one has left.
      await killProcesses({ runId })
      await removeRecord(tree, gitFolder)
      throw error
    }
  })
}

/** Removes what git keeps of a work tree in its own folder. The work tree itself goes with the folder of the run. */
export function forgetWorkTree(tree: string, gitFolder: string): Promise<void> {
  return inTurn(gitFolder, () => removeRecord(tree, gitFolder))
}

/**
 * If git was killed while it created a work tree, the tree is locked. `git worktree remove` refuses it, and `worktree prune` skips it.
 * Tests may have written the path of git's folder, a link in it, or the record. So only what is surely git's and of this work tree goes.
 */
async function removeRecord(tree: string, gitFolder: string): Promise<void> {
  const record = join(gitFolder, 'worktrees', basename(tree))
  // By these two, git tells its own folder from others: https://git-scm.com/docs/gitrepository-layout
  const isOfGit = ['HEAD', 'objects'].every((name) => existsSync(join(gitFolder, name)))
  if (!isOfGit || !existsSync(record)) return
  const isLinked = realpathSync(record) !== join(realpathSync(gitFolder), 'worktrees', basename(tree))
  if (isLinked) return
  const named = readRegularFile(join(record, 'gitdir')).trim()
  // A record that git has just begun, or that is half removed, names no work tree.
  if (named !== '' && resolve(record, named) !== join(tree, '.git')) return
  // git fails if it reads a record that is half removed, and it skips a record without this file. So this file goes first.
  await rm(join(record, 'gitdir'), { force: true })
  await rm(record, { recursive: true, force: true })
}
