import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { removeContainers } from '../machine/container.ts'
import { removeFolder } from '../machine/files.ts'
import { killProcesses } from '../machine/processes.ts'

export type RunResources = ReturnType<typeof resourcesOf>

/** What the store keeps of the resources of a run. All others follow from the run's id and the data folder. */
export interface KeptResources {
  /** The machine's temporary folder. The store keeps it, because the next process of the service may have another one. */
  readonly temporaryFolder?: string | undefined
  /** It is `unknown` if an earlier process of the service had the run, and the store does not give its engine back. */
  readonly engine?: readonly string[] | 'unknown' | undefined
}

/** What only the process of the service that starts a run knows. */
interface EngineOfRun {
  /** Where the engine runs. The store does not keep it, because it gives back only engines without arguments. */
  readonly engineFolder?: string | undefined
  /** False until the run starts its engine. After a restart, nobody knows whether it did. */
  readonly mayHaveContainers?: boolean
}

/** What a run has on the machine while it runs, besides processes. The names are known before anything is created. */
export function resourcesOf(
  runId: string,
  dataFolder: string,
  kept: KeptResources,
  { engineFolder, mayHaveContainers = true }: EngineOfRun = {},
) {
  const { temporaryFolder = realpathSync(tmpdir()) } = kept
  const folder = join(dataFolder, 'runs', runId)
  const frameworkFolder = join(folder, 'framework')
  return {
    /** Everything of the run but its output. */
    folder,
    /** What the framework and the service write for each other, such as the report. */
    frameworkFolder,
    /** The output folder of the framework. The report lies beside it, because Playwright empties this folder. */
    filesFolder: join(frameworkFolder, 'files'),
    /** The work tree that the run tests. Its name is unique, because Docker Compose, for example, names containers after the folder. */
    tree: join(folder, runId),
    /** The `TMPDIR` of the run's processes. Its path is short, because sockets are created in it. */
    tmpdir: join(temporaryFolder, `test-run-${runId.slice(0, 8)}`),
    ...kept,
    temporaryFolder,
    engineFolder,
    mayHaveContainers,
  }
}

export async function createRunFolders(resources: RunResources): Promise<void> {
  await mkdir(resources.frameworkFolder, { recursive: true, mode: 0o700 })
  // The folder must be new. In the machine's temporary folder, somebody else could have created it.
  await mkdir(resources.tmpdir, { mode: 0o700 })
}

/**
 * Removes what this or an earlier process of the service has left of a run. If something cannot be removed, such as files of a
 * container that belong to root, the log says why, and the rest is removed. Returns whether everything is gone.
 */
export async function removeResources(
  runId: string,
  resources: RunResources,
  { personEnv, logError }: { readonly personEnv: NodeJS.ProcessEnv; readonly logError: (text: string) => void },
): Promise<boolean> {
  const { folder, tmpdir, engine, engineFolder, mayHaveContainers } = resources
  const removals = [
    // The engine's program must be gone first, because it could create another container.
    () => killProcesses({ runId }),
    // The folders come last, because containers write to them.
    async () => engine && mayHaveContainers && removeContainers(engine, runId, { env: personEnv, cwd: engineFolder }),
    () => removeFolder(folder),
    () => removeFolder(tmpdir),
  ]
  let isGone = true
  for (const remove of removals) {
    try {
      await remove()
    } catch (error) {
      isGone = false
      logError(`run ${runId}: could not remove everything that it left: ${messageOf(error)}`)
    }
  }
  return isGone
}
