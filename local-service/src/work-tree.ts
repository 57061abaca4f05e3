import { existsSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { askGit, git } from './git.ts'

/** A git repository as seen from a project's folder in it. */
export interface Repository {
  readonly root: string
  /** The project's folder, relative to the root; empty where it is the root. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

/** Finds the repository that a folder belongs to; otherwise git's reason why there is none. */
export async function openRepository(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ kind: 'found'; repository: Repository } | { kind: 'none'; reason: string }> {
  const answer = await askGit(['rev-parse', '--show-toplevel', '--show-prefix'], { folder, env })
  if (answer.kind === 'failed') return { kind: 'none', reason: answer.reason.split('\n', 1)[0] ?? '' }
  const [root = '', prefix = ''] = answer.output.split('\n')
  return { kind: 'found', repository: { root, folder: prefix.replace(/\/$/, ''), env } }
}

/**
 * The commit at the tip of a branch, a local one or else a remote's; undefined where there is none. The name is only
 * ever looked up as a whole ref, so that `main~1` or an option is no branch.
 */
export async function findBranch(repository: Repository, branch: string): Promise<string | undefined> {
  const where = { folder: repository.root, env: repository.env }
  // Process arguments cannot hold it, and no branch's name does.
  if (branch.includes('\0')) return undefined
  const remotes = (await git(['remote'], where)).split('\n').filter((remote) => remote !== '')
  remotes.sort((a, b) => Number(b === 'origin') - Number(a === 'origin'))
  for (const ref of [`refs/heads/${branch}`, ...remotes.map((remote) => `refs/remotes/${remote}/${branch}`)]) {
    const answer = await askGit(['show-ref', '--verify', '--hash', '--', ref], where)
    if (answer.kind === 'ok') return answer.output
  }
  return undefined
}

/** What is checked out in the project's folder: absent on a detached head, or before the first commit. */
export async function readHead(repository: Repository): Promise<{ branch?: string; commit?: string }> {
  const where = { folder: repository.root, env: repository.env }
  const branch = await askGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], where)
  const commit = await askGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], where)
  return {
    ...(branch.kind === 'ok' ? { branch: branch.output } : {}),
    ...(commit.kind === 'ok' ? { commit: commit.output } : {}),
  }
}

/** Whether the project's folder exists in a commit. */
export async function hasProjectFolder(repository: Repository, commit: string): Promise<boolean> {
  if (repository.folder === '') return true
  const answer = await askGit(['cat-file', '-t', `${commit}:${repository.folder}`], {
    folder: repository.root,
    env: repository.env,
  })
  return answer.kind === 'ok' && answer.output === 'tree'
}

/** Checks a commit out into a work tree of its own and gives the project's folder there. */
export async function addWorkTree(repository: Repository, commit: string, at: string): Promise<string> {
  await mkdir(dirname(at), { recursive: true })
  await git(['worktree', 'add', '--quiet', '--detach', at, commit], { folder: repository.root, env: repository.env })
  return join(at, repository.folder)
}

/**
 * Gives a work tree the packages that are installed in the repository's own folder: `node_modules`, which git does not
 * hold, from the root down to the project.
 */
export async function linkPackages(repository: Repository, workTree: string): Promise<void> {
  const steps = repository.folder === '' ? [] : repository.folder.split('/')
  for (let depth = 0; depth <= steps.length; depth++) {
    const packages = join(...steps.slice(0, depth), 'node_modules')
    const link = join(workTree, packages)
    if (existsSync(join(repository.root, packages)) && !existsSync(link)) {
      await symlink(join(repository.root, packages), link, 'dir')
    }
  }
}

export async function removeWorkTree(repository: Repository, at: string): Promise<void> {
  const where = { folder: repository.root, env: repository.env }
  // Twice forced: also where a test left it locked or changed.
  const answer = await askGit(['worktree', 'remove', '--force', '--force', at], where)
  if (answer.kind === 'ok') return
  try {
    await rm(at, { recursive: true, force: true })
  } finally {
    await askGit(['worktree', 'prune'], where)
  }
}
