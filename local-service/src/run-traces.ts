import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunExclusive } from './keyed-mutex.ts'
import { killProcesses } from './processes.ts'
import { removeWorkTree, type WorkTreePlace } from './work-tree.ts'

/** Everything that a run leaves on the machine while it runs. It is known before any of it exists. */
export interface RunTraces {
  /** Reports and whatever else the service and the framework write. */
  readonly runFolder: string
  /** The `TMPDIR` of the run's processes. Its path is short, because sockets are created in it. */
  readonly temporaryFolder: string
  readonly workTree?: WorkTreePlace | undefined
}

export function tracesOf(
  runId: string,
  folders: { readonly data: string; readonly temporary: string },
  gitFolder: string | undefined,
): RunTraces {
  return {
    runFolder: join(folders.data, 'runs', runId),
    temporaryFolder: join(folders.temporary, `test-run-${runId.slice(0, 8)}`),
    // git names its own record of a work tree by the last part of the path.
    workTree: gitFolder === undefined ? undefined : { path: join(folders.data, 'trees', runId), gitFolder },
  }
}

export async function createRunFolders({ runFolder, temporaryFolder }: RunTraces): Promise<void> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 })
  // It must be new: in the machine's temporary folder, somebody else could have created it.
  await mkdir(temporaryFolder, { mode: 0o700 })
}

/** Kills what is left of a run's processes and removes its folders, in this life of the service or in a later one. */
export async function removeTraces(
  runId: string,
  { runFolder, temporaryFolder, workTree }: RunTraces,
  runExclusive: RunExclusive,
): Promise<void> {
  await killProcesses({ runId })
  if (workTree !== undefined) await runExclusive(workTree.gitFolder, () => removeWorkTree(workTree))
  for (const folder of [runFolder, temporaryFolder]) {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
