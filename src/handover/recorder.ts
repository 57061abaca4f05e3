import type { Log, Recorder } from '../action/world.ts'
import { logLine } from '../text/safe-text.ts'
import type { MainRecord, Version } from './record.ts'

/** Thrown before a run is started, because post would not learn of the run. */
export class RecordNotWritten extends Error {
  override readonly name = 'RecordNotWritten'
}

/** An environment variable that is too long keeps post from starting at all. No real run id is near this limit. */
const LONGEST_RUN_ID = 4_096

export function recorder(record: Omit<MainRecord, 'isFolderEmptied'>, log: Pick<Log, 'warning' | 'debug'>): Recorder {
  let hasWarned = false
  let runId: string | undefined
  const logSaved = () => log.debug?.(logLine`Saved for post: ${record.latest()}`)
  // The first version was written before this was loaded.
  logSaved()

  /** Returns whether it was written. */
  function write(version: Version): boolean {
    const problem = record.write(version)
    if (problem === undefined) {
      logSaved()
      return true
    }
    const run = runId === undefined ? logLine`` : logLine` about run ${runId}`
    if (!hasWarned) {
      log.warning(
        logLine`The step could not save its record for the post step: ${problem}. So the post step may not know what is left to do${run}. Free some space on the runner, or check its temporary folder.`,
      )
    }
    hasWarned = true
    return false
  }

  return {
    starting() {
      const problem = record.write({ phase: 'starting' })
      if (problem !== undefined) throw new RecordNotWritten(problem)
      logSaved()
    },
    started(id, mayCancel) {
      runId = id
      if (id.length <= LONGEST_RUN_ID) write({ phase: 'started', runId: id, mayCancel })
    },
    done() {
      if (!write({ phase: 'done' })) record.emptyFile()
    },
    doneInStateOnly() {
      if (record.writeToStateOnly({ phase: 'done' }) === undefined) logSaved()
    },
  }
}
