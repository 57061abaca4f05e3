import { removeResources, resourcesOf } from '../execution/resources.ts'
import { finishRun, isFinished } from './run.ts'
import type { CommonContext } from './store.ts'

/** Interrupts the runs that an earlier process of the service did not finish, and removes their resources. */
export async function recoverRuns(service: CommonContext): Promise<void> {
  const { store, log, logError } = service
  for (const unfinished of store.findToRecover()) {
    if (unfinished === undefined) {
      logError(`an unfinished run in ${store.folder} cannot be read, so what it left may still be on this machine`)
      continue
    }
    const { run, engine } = unfinished
    const resources = engine === undefined ? undefined : resourcesOf(run.runId, store.folder, engine)
    // The removal comes first, because the run's files may be what fills the disk.
    const isGone = resources === undefined || (await removeResources(run.runId, resources, service))
    if (!isFinished(run)) {
      log(`run ${run.runId}: INTERRUPTED: it was ${run.phase.status} when the service died`)
      const when = run.phase.status === 'QUEUED' ? 'before the run started' : 'during the run'
      finishRun(run, { status: 'INTERRUPTED', message: `the service died ${when}`, testCases: [] })
    }
    // The containers of an unknown engine cannot be found, so the next start does not say again that one may be left.
    const kept = engine === 'unknown' ? resourcesOf(run.runId, store.folder, 'none') : resources
    store.save(run, isGone ? undefined : kept)
  }
}
