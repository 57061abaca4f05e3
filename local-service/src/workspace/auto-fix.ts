import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitOptions, git } from './git.ts'
import { gitIn, type Repository } from './work-tree.ts'

/** Files in which tests ran, and a command that fixes them. */
interface FixedTree {
  readonly repository: Repository
  readonly commit: string
  /** The folder with the files. */
  readonly tree: string
  /** No test can write to this folder. The service creates a git folder of its own in it. */
  readonly ownFolder: string
  readonly runId: string
}

const AUTHOR = { name: 'Local test run service', email: 'local-service@localhost' }

/** Records everything that is in the tree now, including what tests and setup left there. */
export async function takeSnapshot(tree: FixedTree): Promise<string> {
  const options = gitInTree(tree)
  const format = await git(['rev-parse', '--show-object-format'], gitIn(tree.repository))
  await git(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, gitFolderOf(tree)], {
    ...options,
    // In the tree, git could find a repository that a test made.
    folder: tree.ownFolder,
    gitFolder: undefined,
  })
  return snapshotBy(options)
}

/**
 * Commits only what was changed since the snapshot, to a new branch. Returns the branch's name, or undefined if nothing
 * was changed.
 */
export async function keepChangesSince(snapshot: string, tree: FixedTree): Promise<string | undefined> {
  const { commit, repository, runId } = tree
  const options = gitInTree(tree)
  const now = await snapshotBy(options)
  // The names of files need not be UTF-8. Latin-1 has a character for each byte.
  const encoding = 'latin1'
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', snapshot, now]
  const changedPaths = await git(diff, { ...options, encoding })
  if (changedPaths === '') return undefined

  // From here on, git writes its objects into the repository: those of the commit, and no others.
  const forGood = { ...options, env: { ...options.env, GIT_OBJECT_DIRECTORY: objectsOf(repository) } }
  await git(['read-tree', commit], forGood)
  await git(['update-index', '-z', '--add', '--remove', '--stdin'], { ...forGood, encoding, input: changedPaths })
  const fixed = await git(['write-tree'], forGood)
  const message = `Fix failing tests of run ${runId}`
  const fix = await git(['commit-tree', fixed, '-p', commit, '-m', message], forGood)
  const branch = `autofix/${runId}`
  await git(['update-ref', `refs/heads/${branch}`, fix], gitIn(repository))
  return branch
}

/**
 * If the index had a repository inside the tree, git would call itself there, with a configuration that tests may have
 * written. So each snapshot starts from an empty index.
 */
async function snapshotBy(options: GitOptions & { readonly gitFolder: string }): Promise<string> {
  await rm(join(options.gitFolder, 'index'), { force: true })
  await git(['add', '--all'], options)
  return git(['write-tree'], options)
}

function gitFolderOf({ ownFolder }: FixedTree): string {
  return join(ownFolder, 'git')
}

function objectsOf({ gitFolder }: Repository): string {
  return join(gitFolder, 'objects')
}

/**
 * Options for git in a folder that tests have written. The service's own git folder has no configuration, so no filter
 * runs a program on these files. This folder also gets the objects of the snapshots, because they have all that tests left.
 * git reads the objects of the repository.
 */
function gitInTree(tree: FixedTree) {
  const { env, signal } = tree.repository
  return {
    folder: tree.tree,
    gitFolder: gitFolderOf(tree),
    signal,
    env: {
      ...env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      // This is a list with colons. git reads a quoted path as one entry.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objectsOf(tree.repository).replace(/["\\]/g, '\\$&')}"`,
      GIT_AUTHOR_NAME: AUTHOR.name,
      GIT_AUTHOR_EMAIL: AUTHOR.email,
      GIT_COMMITTER_NAME: AUTHOR.name,
      GIT_COMMITTER_EMAIL: AUTHOR.email,
    },
  }
}
