import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type Engine, removeContainers } from '../machine/container.ts'
import { removeFolder } from '../machine/files.ts'
import { killProcesses } from '../machine/processes.ts'

export type RunResources = ReturnType<typeof resourcesOf>

/** What a run has on the machine while it runs, besides processes. The names are known before anything is created. */
export function resourcesOf(runId: string, dataFolder: string, engine: Engine = 'none') {
  const folder = join(dataFolder, 'runs', runId)
  const frameworkFolder = join(folder, 'framework')
  return {
    /** Everything of the run but its output. */
    folder,
    /** What the framework and the service write for each other, such as the report. */
    frameworkFolder,
    /** The output folder of the framework. The report lies beside it, because Playwright empties this folder. */
    filesFolder: join(frameworkFolder, 'files'),
    /** The home of a user whom the image of a container does not know. */
    homeFolder: join(frameworkFolder, 'home'),
    /** The work tree that the run tests. Its name is unique, because Docker Compose, for example, names containers after the folder. */
    tree: join(folder, runId),
    /** It may have containers of the run. */
    engine,
  }
}

/**
 * Removes what this or an earlier process of the service has left of a run. If something cannot be removed, such as files of a
 * container that belong to root, the log says why, and the rest is removed. Returns whether everything is gone.
 */
export async function removeResources(
  runId: string,
  { folder, engine }: RunResources,
  { serviceEnv, logError }: { readonly serviceEnv: NodeJS.ProcessEnv; readonly logError: (text: string) => void },
): Promise<boolean> {
  const removals = [
    // The engine's program must be gone first, because it could create another container.
    () => killProcesses({ runId }),
    () => removeContainers(engine, runId, serviceEnv),
    // The folder comes last, because containers write to it.
    () => removeFolder(folder),
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
