import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type GitOptions, git } from '../machine/git.ts'
import { killProcesses } from '../machine/processes.ts'

/** What a run tests if it does not test the project's folder itself. */
export interface WorkTree {
  /** The `.git` folder that all work trees of the repository share. */
  readonly gitFolder: string
  readonly commit: string
}

/** git fails if another process has an unfinished work tree in the repository. So work trees are made and removed one after the other. */
let lastTask: Promise<unknown> = Promise.resolve()

function inTurn(task: () => Promise<void>): Promise<void> {
  const result = lastTask.then(task)
  lastTask = result.catch(() => undefined)
  return result
}

export function addWorkTree(
  { gitFolder, commit }: WorkTree,
  tree: string,
  runId: string,
  repository: GitOptions,
): Promise<void> {
  return inTurn(async () => {
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
  return inTurn(() => removeRecord(tree, gitFolder))
}

/**
 * If git was killed while it created a work tree, the tree is locked. `git worktree remove` refuses it, and `worktree prune` skips it.
 * The name of the record is the id of the run, so nothing else has it, whatever tests have put in place of the folders above it.
 */
async function removeRecord(tree: string, gitFolder: string): Promise<void> {
  const record = join(gitFolder, 'worktrees', basename(tree))
  const removed = join(gitFolder, basename(tree))
  // git fails if it reads a record that is half removed. So the record first leaves the folder that git reads, as a whole.
  if (existsSync(record)) await rename(record, removed)
  await rm(removed, { recursive: true, force: true })
}
