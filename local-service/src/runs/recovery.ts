import { messageOf } from '../../../src/text/untrusted.ts'
import { type RunResources, resourcesOf } from '../execution/resources.ts'
import { finishRun } from './run.ts'
import type { RunStore } from './store.ts'

/** How the resources of runs are removed. */
export interface Removal {
  readonly store: RunStore
  readonly log: (runId: string, text: string) => void
  /** Removes what a run has on the machine, and returns what it removed. */
  readonly removeResources: (runId: string, resources: RunResources) => Promise<readonly string[]>
}

const DIED = { status: 'INTERRUPTED', message: 'the service died during the run', testCases: [] } as const

/** Interrupts the runs that an earlier process of the service did not finish, and removes their resources. */
export async function recoverRuns(removal: Removal, temporaryFolder: string): Promise<void> {
  const { store, log } = removal
  for (const { run, left } of store.findUnfinished()) {
    const folders = { dataFolder: store.folder, temporaryFolder, gitFolder: left?.gitFolder }
    const resources = left && resourcesOf(run.runId, { ...folders, engine: left.engine && [left.engine] })
    // The removal comes first, because the run's files may be what fills the disk.
    const removed = resources && (await tryToRemove(removal, run.runId, resources))
    if (removed?.length) log(run.runId, `left this, now removed: ${removed.join(', ')}`)
    const before = run.phase.status
    if (!finishRun(run, DIED)) continue
    log(run.runId, `${run.phase.status}: it was ${before} when the service died`)
    store.save(run, removed === undefined ? resources : undefined)
  }
}

/** Returns what was removed. Undefined if something is still there, such as a container's files that belong to root. */
export async function tryToRemove(
  { store, log, removeResources }: Removal,
  runId: string,
  resources: RunResources,
): Promise<readonly string[] | undefined> {
  try {
    const removed = await removeResources(runId, resources)
    store.markRemoved(runId)
    return removed
  } catch (error) {
    log(runId, `error: could not remove its files: ${messageOf(error)}`)
    return undefined
  }
}
