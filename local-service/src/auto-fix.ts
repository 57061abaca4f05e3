import { join } from 'node:path'
import { type GitOptions, git } from './git.ts'
import type { Repository } from './work-tree.ts'

/** A work tree in which the fixing command ran. */
export interface FixedTree {
  readonly repository: Repository
  readonly workTree: string
  /** The run's own folder, outside the work tree. */
  readonly runFolder: string
  readonly runId: string
}

const AUTHOR = { name: 'Local test run service', email: 'local-service@localhost' }

/** Records everything that is in a work tree now, including what tests and setup left there. */
export async function takeSnapshot(tree: FixedTree): Promise<string> {
  const options = gitIn(tree)
  await git(['add', '--all'], options)
  return git(['write-tree'], options)
}

/**
 * Commits what was changed since the snapshot, and nothing else, to a new branch. Returns the branch's name; undefined
 * if nothing was changed.
 */
export async function keepChangesSince(snapshot: string, tree: FixedTree): Promise<string | undefined> {
  const options = gitIn(tree)
  const now = await takeSnapshot(tree)
  const changedPaths = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', snapshot, now], options)
  if (changedPaths === '') return undefined

  await git(['read-tree', 'HEAD'], options)
  await git(['update-index', '-z', '--add', '--remove', '--stdin'], { ...options, input: changedPaths })
  const fixed = await git(['write-tree'], options)
  const commit = await git(
    ['commit-tree', fixed, '-p', 'HEAD', '-m', `Fix failing tests of run ${tree.runId}`],
    options,
  )
  const branch = `autofix/${tree.runId}`
  await git(['update-ref', `refs/heads/${branch}`, commit], options)
  return branch
}

function gitIn({ repository, workTree, runFolder }: FixedTree): GitOptions {
  return {
    folder: workTree,
    env: {
      ...repository.env,
      GIT_AUTHOR_NAME: AUTHOR.name,
      GIT_AUTHOR_EMAIL: AUTHOR.email,
      GIT_COMMITTER_NAME: AUTHOR.name,
      GIT_COMMITTER_EMAIL: AUTHOR.email,
      // A separate index: the fixing command may use git too, and finds nothing staged that it did not stage.
      GIT_INDEX_FILE: join(runFolder, 'auto-fix-index'),
    },
  }
}
