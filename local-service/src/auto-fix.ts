import { join } from 'node:path'
import { type GitOptions, git } from './git.ts'
import type { Repository } from './work-tree.ts'

/** A work tree whose changes may be worth keeping. */
export interface FixedTree {
  readonly repository: Repository
  readonly workTree: string
  /** The run's own folder, outside of the work tree. */
  readonly home: string
  readonly runId: string
}

const WHO = { name: 'Local test run service', email: 'local-service@localhost' }

/** Remembers everything that is in a work tree now, also what tests and setup have left there. */
export async function takeSnapshot(tree: FixedTree): Promise<string> {
  const where = gitIn(tree)
  await git(['add', '--all'], where)
  return git(['write-tree'], where)
}

/**
 * Keeps what was changed since the snapshot, and nothing else, as one commit on a branch of its own. Gives the
 * branch's name; undefined where nothing was changed.
 */
export async function keepChangesSince(snapshot: string, tree: FixedTree): Promise<string | undefined> {
  const where = gitIn(tree)
  const now = await takeSnapshot(tree)
  const changedPaths = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', snapshot, now], where)
  if (changedPaths === '') return undefined

  await git(['read-tree', 'HEAD'], where)
  await git(['update-index', '-z', '--add', '--remove', '--stdin'], { ...where, input: changedPaths })
  const fixed = await git(['write-tree'], where)
  const commit = await git(['commit-tree', fixed, '-p', 'HEAD', '-m', `Fix failing tests of run ${tree.runId}`], where)
  const branch = `autofix/${tree.runId}`
  await git(['update-ref', `refs/heads/${branch}`, commit], where)
  return branch
}

function gitIn({ repository, workTree, home }: FixedTree): GitOptions {
  return {
    folder: workTree,
    env: {
      ...repository.env,
      GIT_AUTHOR_NAME: WHO.name,
      GIT_AUTHOR_EMAIL: WHO.email,
      GIT_COMMITTER_NAME: WHO.name,
      GIT_COMMITTER_EMAIL: WHO.email,
      // An index apart: the fixing command may use git too, and finds nothing staged that it did not stage.
      GIT_INDEX_FILE: join(home, 'auto-fix-index'),
    },
  }
}
