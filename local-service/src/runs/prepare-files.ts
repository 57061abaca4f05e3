import { constants } from 'node:fs'
import { cp, lstat, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Mount } from '../containers/container.ts'
import { REPORTERS_FOLDER } from '../frameworks/framework.ts'
import { linkedPackages, linkPackages } from '../workspace/packages.ts'
import { addWorkTree, type Place, type Repository, removeWorkTree } from '../workspace/work-tree.ts'
import { killProcesses, MARKER_VARIABLE } from './processes.ts'
import type { TestRun } from './test-run.ts'

/** The files that a run tests. */
export interface Source extends Place {
  /** Whether "setup" has to install the packages for these files. */
  readonly needsSetup: boolean
  /** The folders and files of this machine that its containers get. */
  readonly mounts: readonly Mount[]
}

/** Makes the work tree or the copy that a run tests, if it needs one. Undefined if the run was stopped. */
export async function prepareFiles(run: TestRun, stop: AbortSignal): Promise<Source | undefined> {
  const { checkout, engine, project, resources } = run
  const { place } = checkout
  if (checkout.kind === 'in-place') return { ...place, needsSetup: false, mounts: [] }
  const { tree } = resources
  try {
    if (checkout.kind === 'copy') await copyFolder(place.root, tree, stop)
    else await checkOut(run, checkout.place, checkout.commit, stop)
  } catch (error) {
    if (stop.aborted) return undefined
    throw error
  }
  // `.git` leads to the repository, which no container has.
  if (engine !== undefined) await rm(join(tree, '.git'), { force: true })
  // A setup installs its own packages. Through links, it would change the packages of the project's folder.
  const needsSetup = project.setup !== undefined
  if (!needsSetup) await linkPackages(place, tree)
  const { folder } = place
  return { root: tree, folder, needsSetup, mounts: engine === undefined ? [] : mountsOf(run, needsSetup) }
}

/** These are not copied. Packages are linked or installed, and git must not find a repository among the tested files. */
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** A link is copied as a link. In a container, a link that leads out of the copy leads nowhere. */
async function copyFolder(from: string, to: string, stop: AbortSignal): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    async filter(path) {
      stop.throwIfAborted()
      if (NOT_COPIED.has(basename(path)) && path !== from) return false
      const found = await lstat(path)
      // Sockets and named pipes cannot be copied.
      return found.isFile() || found.isDirectory() || found.isSymbolicLink()
    },
  })
}

async function checkOut(run: TestRun, place: Repository, commit: string, stop: AbortSignal): Promise<void> {
  const { resources, runExclusive, runId } = run
  const repository = repositoryOf(run, place, stop)
  await runExclusive(repository.gitFolder, async () => {
    try {
      await addWorkTree(repository, commit, resources.tree)
    } catch (error) {
      // The unfinished work tree is removed before another run calls git, because git would fail on it.
      await killProcesses({ runId })
      await removeWorkTree(resources.tree, repository.gitFolder)
      throw error
    }
  })
}

/**
 * If the run is stopped, its git commands end. After a kill of the service, the next service finds them by the marker.
 */
export function repositoryOf({ runId }: TestRun, repository: Repository, signal: AbortSignal): Repository {
  return { ...repository, env: { ...repository.env, [MARKER_VARIABLE]: runId }, signal }
}

/** A container can write only to folders that no other run, no git and no person uses. */
function mountsOf({ resources, checkout }: TestRun, needsSetup: boolean): Mount[] {
  const writable = [resources.tree, resources.outputFolder, resources.temporaryFolder]
  const readOnly = [...(needsSetup ? [] : linkedPackages(checkout.place)), REPORTERS_FOLDER]
  return [
    ...writable.map((path) => ({ path, isReadOnly: false })),
    ...readOnly.map((path) => ({ path, isReadOnly: true })),
  ]
}
