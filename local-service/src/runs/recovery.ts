import { removeResources, resourcesOf } from '../execution/resources.ts'
import { finishRun } from './run.ts'
import type { CommonContext } from './store.ts'

const DIED = { status: 'INTERRUPTED', message: 'the service died during the run', testCases: [] } as const

/** Interrupts the runs that an earlier process of the service did not finish, and removes their resources. */
export async function recoverRuns(service: CommonContext & { readonly temporaryFolder: string }): Promise<void> {
  const { store, temporaryFolder, log, logError } = service
  for (const unfinished of store.findUnfinished()) {
    if (unfinished === undefined) {
      logError(`an unfinished run in ${store.folder} cannot be read, so what it left may still be on this machine`)
      continue
    }
    const { run, left } = unfinished
    const resources = left && resourcesOf(run.runId, store.folder, temporaryFolder, left)
    // The removal comes first, because the run's files may be what fills the disk.
    const isGone = resources === undefined || (await removeResources(run.runId, resources, service))
    const before = run.phase.status
    if (finishRun(run, DIED)) log(`run ${run.runId}: ${run.phase.status}: it was ${before} when the service died`)
    store.save(run, isGone ? undefined : resources)
  }
}
