import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitOptions, git, tryGit } from './git.ts'
import { type Repository, recordOf } from './work-tree.ts'

/** A work tree in which the fixing command ran. */
export interface FixedTree {
  readonly repository: Repository
  readonly workTree: string
  readonly runId: string
}

const AUTHOR = { name: 'Local test run service', email: 'local-service@localhost' }

/** Records everything that is in a work tree now, including what tests and setup left there. */
export async function takeSnapshot(tree: FixedTree): Promise<string> {
  return snapshotBy(await gitIn(tree))
}

/**
 * Each snapshot starts from an empty index: git would call itself in a repository that the index has below this one, by the
 * configuration of that, which tests may have written.
 */
async function snapshotBy(options: AutoFixGit): Promise<string> {
  await rm(options.env.GIT_INDEX_FILE, { force: true })
  await git(['add', '--all'], options)
  return git(['write-tree'], options)
}

/**
 * Commits what was changed since the snapshot, and nothing else, to a new branch. Returns the branch's name; undefined
 * if nothing was changed.
 */
export async function keepChangesSince(snapshot: string, tree: FixedTree): Promise<string | undefined> {
  const options = await gitIn(tree)
  const now = await snapshotBy(options)
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

interface AutoFixGit extends GitOptions {
  readonly env: NodeJS.ProcessEnv & { readonly GIT_INDEX_FILE: string }
}

async function gitIn({ repository, workTree }: FixedTree): Promise<AutoFixGit> {
  // Not by the `.git` of the work tree, which tests may have replaced.
  const gitFolder = recordOf({ path: workTree, gitFolder: repository.gitFolder })
  const options = {
    folder: workTree,
    gitFolder,
    signal: repository.signal,
    env: {
      ...repository.env,
      GIT_AUTHOR_NAME: AUTHOR.name,
      GIT_AUTHOR_EMAIL: AUTHOR.email,
      GIT_COMMITTER_NAME: AUTHOR.name,
      GIT_COMMITTER_EMAIL: AUTHOR.email,
      // A separate index: the fixing command may use git too, and finds nothing staged that it did not stage.
      GIT_INDEX_FILE: join(gitFolder, 'auto-fix-index'),
    },
  }
  // Filters would run programs on files, and perhaps from files, that tests wrote.
  const filters = await tryGit(['config', '--null', '--name-only', '--get-regexp', '^filter\\.'], options)
  const names = filters.kind === 'ok' ? filters.output.split('\0').filter((name) => name !== '') : []
  return { ...options, config: names.map((name) => `${name}=`) }
}
