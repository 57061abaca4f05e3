import { git } from './git.ts'
import type { Repository } from './work-tree.ts'

export const AUTO_FIX_BRANCH_PREFIX = 'autofix/'

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Local test run service',
  GIT_AUTHOR_EMAIL: 'local-service@localhost',
  GIT_COMMITTER_NAME: 'Local test run service',
  GIT_COMMITTER_EMAIL: 'local-service@localhost',
}

/**
 * Keeps what one command changes in a work tree, and nothing else: tests and setup may have left files there before.
 * Gives the name of the new branch; undefined where the command changed nothing.
 */
export async function keepChangesOf(
  command: () => Promise<void>,
  repository: Repository,
  workTree: string,
  runId: string,
): Promise<string | undefined> {
  const where = { folder: workTree, env: { ...repository.env, ...AUTHOR } }
  const snapshot = async () => {
    await git(['add', '--all'], where)
    return git(['write-tree'], where)
  }
  const before = await snapshot()
  await command()
  const after = await snapshot()
  const changedPaths = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after], where)
  if (changedPaths === '') return undefined

  await git(['read-tree', 'HEAD'], where)
  await git(['update-index', '-z', '--add', '--remove', '--stdin'], { ...where, input: changedPaths })
  const tree = await git(['write-tree'], where)
  const message = `Fix failing tests of run ${runId}`
  const commit = await git(['commit-tree', tree, '-p', 'HEAD', '-m', message], where)
  const branch = `${AUTO_FIX_BRANCH_PREFIX}${runId}`
  await git(['update-ref', `refs/heads/${branch}`, commit], where)
  return branch
}
