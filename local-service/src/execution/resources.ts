import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { removeWorkTree } from '../checkout/repository.ts'
import { removeContainers } from '../machine/container.ts'
import { removeFolder } from '../machine/files.ts'
import { killProcesses } from '../machine/processes.ts'

/** What a run has on the machine while it runs, besides processes. The names are known before anything is created. */
export interface RunResources {
  /** Everything of the run but its output: the report, the files of the framework, the work tree. It has the run's id as its name. */
  readonly folder: string
  /** The `TMPDIR` of the run's processes. Its path is short, because sockets are created in it. */
  readonly temporaryFolder: string
  /** The `.git` folder of the repository, which has a record of the work tree. */
  readonly gitFolder?: string | undefined
  readonly engine?: readonly string[] | undefined
}

export function resourcesOf(
  runId: string,
  dataFolder: string,
  temporaryFolder: string,
  others: Pick<RunResources, 'gitFolder' | 'engine'> = {},
): RunResources {
  return {
    folder: join(dataFolder, 'runs', runId),
    temporaryFolder: join(temporaryFolder, `test-run-${runId.slice(0, 8)}`),
    ...others,
  }
}

export function frameworkFolderOf({ folder }: RunResources): string {
  return join(folder, 'framework')
}

/** The output folder of the framework. The report lies beside it, because Playwright empties this folder. */
export function filesFolderOf(resources: RunResources): string {
  return join(frameworkFolderOf(resources), 'files')
}

/** The work tree that the run tests. git names its own record of a work tree by the last part of the path. */
export function treeOf({ folder }: RunResources): string {
  return join(folder, basename(folder))
}

export async function createRunFolders(resources: RunResources): Promise<void> {
  await mkdir(frameworkFolderOf(resources), { recursive: true, mode: 0o700 })
  // The folder must be new. In the machine's temporary folder, somebody else could have created it.
  await mkdir(resources.temporaryFolder, { mode: 0o700 })
}

/**
 * Removes what this or an earlier process of the service has left of a run. If something cannot be removed, such as files of a
 * container that belong to root, the log says why, and the rest is removed. Returns whether everything is gone.
 */
export async function removeResources(
  runId: string,
  resources: RunResources,
  { personEnv, log }: { readonly personEnv: NodeJS.ProcessEnv; readonly log: (text: string) => void },
): Promise<boolean> {
  const { folder, temporaryFolder, gitFolder, engine } = resources
  const removals = [
    // The engine's program must be gone first, because it could create another container.
    () => killProcesses({ runId }),
    // The folders come last, because containers write to them.
    async () => engine && removeContainers(engine, runId, personEnv),
    async () => gitFolder && removeWorkTree(treeOf(resources), gitFolder),
    () => removeFolder(folder),
    () => removeFolder(temporaryFolder),
  ]
  let isGone = true
  for (const remove of removals) {
    try {
      await remove()
    } catch (error) {
      isGone = false
      log(`run ${runId}: error: could not remove its files: ${messageOf(error)}`)
    }
  }
  return isGone
}
