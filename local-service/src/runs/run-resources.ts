import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type ContainerEngine, removeContainers } from '../containers/container.ts'
import type { EngineName } from '../project.ts'
import { count } from '../text.ts'
import { removeFolder } from '../workspace/files.ts'
import type { RunExclusive } from '../workspace/keyed-mutex.ts'
import { removeWorkTree, type WorkTreePlace } from '../workspace/work-tree.ts'
import { killProcesses } from './processes.ts'

/** What a run has on the machine while it runs, besides processes. It is known before any of it exists. */
export interface RunResources {
  /** Reports and whatever else the service and the framework write. */
  readonly runFolder: string
  /** The `TMPDIR` of the run's processes. Its path is short, because sockets are created in it. */
  readonly temporaryFolder: string
  readonly workTree?: WorkTreePlace | undefined
  /** The engine of the run's containers. */
  readonly engine?: EngineName | undefined
  /** Folders in which its containers could make a repository that the next start of the service would use. */
  readonly foldersWithoutGit?: readonly string[] | undefined
}

interface ResourceOptions extends Pick<RunResources, 'temporaryFolder' | 'engine' | 'foldersWithoutGit'> {
  readonly dataFolder: string
  /** Of the repository, if the run needs a work tree. */
  readonly gitFolder?: string | undefined
}

export function resourcesOf(
  runId: string,
  { dataFolder, temporaryFolder, gitFolder, ...others }: ResourceOptions,
): RunResources {
  return {
    runFolder: join(dataFolder, 'runs', runId),
    temporaryFolder: join(temporaryFolder, `test-run-${runId.slice(0, 8)}`),
    // git names its own record of a work tree by the last part of the path.
    workTree: gitFolder === undefined ? undefined : { path: join(dataFolder, 'trees', runId), gitFolder },
    ...others,
  }
}

export async function createRunFolders({ runFolder, temporaryFolder }: RunResources): Promise<void> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 })
  // It must be new: in the machine's temporary folder, somebody else could have created it.
  await mkdir(temporaryFolder, { mode: 0o700 })
}

interface Machine extends Omit<ContainerEngine, 'name'> {
  readonly runExclusive: RunExclusive
}

/**
 * Kills what is left of a run's processes and removes the rest, by this process of the service or an earlier one. Returns what
 * there was, for the log.
 */
export async function removeResources(
  runId: string,
  { runFolder, temporaryFolder, workTree, engine, foldersWithoutGit = [] }: RunResources,
  { runExclusive, ...machine }: Machine,
): Promise<string[]> {
  const processes = await killProcesses({ runId })
  // After the engine's client is gone, because it could create another container, and before the folders that it writes to.
  const [containers] = await Promise.allSettled([
    engine === undefined ? 0 : removeContainers({ ...machine, name: engine }, runId),
  ])
  const folders = [runFolder, temporaryFolder].filter((folder) => existsSync(folder))
  const trees = workTree !== undefined && existsSync(workTree.path) ? [workTree.path] : []
  const removals = [runFolder, temporaryFolder].map(removeFolder)
  if (workTree !== undefined) removals.push(runExclusive(workTree.gitFolder, () => removeWorkTree(workTree)))
  for (const folder of foldersWithoutGit) removals.push(setGitAside(folder, runId))
  // One that fails must not keep the others from being finished.
  const results = [containers, ...(await Promise.allSettled(removals))]
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return [
    ...(processes > 0 ? [count(processes, 'process', 'processes')] : []),
    ...(containers.status === 'fulfilled' && containers.value > 0 ? [count(containers.value, 'container')] : []),
    ...trees,
    ...folders,
  ]
}

/** Not removed: it may be a person's. */
async function setGitAside(folder: string, runId: string): Promise<void> {
  const made = join(folder, '.git')
  await rename(made, `${made}-made-during-run-${runId.slice(0, 8)}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
