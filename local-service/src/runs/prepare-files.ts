import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readlink, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mount } from '../containers/create-arguments.ts'
import type { ContainerEngine } from '../containers/engine.ts'
import { REPORTERS_FOLDER } from '../frameworks/framework.ts'
import type { Project } from '../project.ts'
import type { Checkout } from '../workspace/checkout.ts'
import type { RunExclusive } from '../workspace/keyed-mutex.ts'
import { linkedPackages, linkPackages } from '../workspace/packages.ts'
import { addWorkTree, type Place, type Repository, removeWorkTree } from '../workspace/work-tree.ts'
import { killProcesses, MARKER_VARIABLE } from './processes.ts'
import type { RunResources } from './run-resources.ts'

/** The files that a run tests. */
export interface Source extends Place {
  /** Whether "setup" has to install the packages for these files. */
  readonly needsSetup: boolean
  /** The folders and files of this machine that its containers get. */
  readonly mounts: readonly Mount[]
}

/** The part of a run that decides which files it tests. */
interface RunWithFiles {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  readonly engine?: ContainerEngine | undefined
  readonly resources: RunResources
  readonly runExclusive: RunExclusive
}

/** Makes the work tree or the copy that a run tests, if it needs one. Undefined if the run was stopped. */
export async function prepareFiles(run: RunWithFiles, stop: AbortSignal): Promise<Source | undefined> {
  const { checkout, engine, project, resources } = run
  const { place } = checkout
  if (checkout.kind === 'in-place') return { ...place, needsSetup: false, mounts: [] }
  const { tree } = resources
  try {
    if (checkout.kind === 'copy') await copyFolder(Buffer.from(place.root), Buffer.from(tree), stop)
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
  return { root: tree, folder, needsSetup, mounts: engine === undefined ? [] : mountsFor(run, needsSetup) }
}

const SLASH = Buffer.from('/')
/** These are not copied. Packages are linked or installed, and git must not find a repository among the tested files. */
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * Copies a folder. Paths are bytes here, because the names of files need not be UTF-8. A link is copied as a link. In a
 * container, a link that leads out of the copy leads nowhere.
 */
async function copyFolder(from: Buffer, to: Buffer, stop: AbortSignal): Promise<void> {
  await mkdir(to)
  for (const entry of await readdir(from, { encoding: 'buffer', withFileTypes: true })) {
    stop.throwIfAborted()
    if (NOT_COPIED.has(entry.name.toString())) continue
    const source = Buffer.concat([from, SLASH, entry.name])
    const target = Buffer.concat([to, SLASH, entry.name])
    // Sockets and named pipes cannot be copied.
    if (entry.isDirectory()) await copyFolder(source, target, stop)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source, 'buffer'), target)
    else if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE)
  }
  // The folder may allow no writing, so this comes last.
  await chmod(to, (await stat(from)).mode)
}

async function checkOut(run: RunWithFiles, place: Repository, commit: string, stop: AbortSignal): Promise<void> {
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
export function repositoryOf(
  { runId }: Pick<RunWithFiles, 'runId'>,
  repository: Repository,
  signal: AbortSignal,
): Repository {
  return { ...repository, env: { ...repository.env, [MARKER_VARIABLE]: runId }, signal }
}

/** A container can write only to folders that no other run, no git and no person uses. */
function mountsFor({ resources, checkout }: RunWithFiles, needsSetup: boolean): Mount[] {
  const writable = [resources.tree, resources.outputFolder, resources.testsTemporaryFolder]
  const readOnly = [...(needsSetup ? [] : linkedPackages(checkout.place)), REPORTERS_FOLDER]
  return [
    ...writable.map((path) => ({ path, isReadOnly: false })),
    ...readOnly.map((path) => ({ path, isReadOnly: true })),
  ]
}
