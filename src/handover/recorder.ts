import type { Log, Recorder } from '../action/world.ts'
import { fragment } from '../text/safe-text.ts'
import type { RecordWriter } from './record.ts'

/** Thrown before a run is started. */
export class RecordNotWritten extends Error {
  override readonly name = 'RecordNotWritten'
}

/**
 * The runner gives post the record as an environment variable. If the variable were too long, post could not start. Only
 * an id that main refuses can be so long.
 */
const LONGEST_RUN_ID_CHARS = 4_096

/** Saves the record as the step goes on, and tells the user if it cannot be saved. */
export function createRecorder(writer: RecordWriter, log: Pick<Log, 'warning' | 'debug'>): Recorder {
  let hasWarned = false
  let aboutRun = fragment``
  // main.ts had no log when it wrote the first record. This line does not say whether that write succeeded.
  log.debug?.(fragment`First record for post: ${writer.line}`)

  function save(progress: Parameters<RecordWriter['save']>[0]): string | undefined {
    const problem = writer.save(progress)
    if (problem === undefined) log.debug?.(fragment`Saved for post: ${writer.line}`)
    return problem
  }

  function warnOnce(problem: string): void {
    if (hasWarned) return
    hasWarned = true
    log.warning(
      fragment`The step could not save its record for the post step: ${problem}. So the post step may not know what is left to do${aboutRun}. Free some space on the runner, or check its temporary folder.`,
    )
  }

  return {
    starting() {
      const problem = save({ phase: 'starting' })
      if (problem !== undefined) throw new RecordNotWritten(problem)
    },
    started(runId, mayCancel) {
      aboutRun = fragment` about run ${runId}`
      const problem = runId.length > LONGEST_RUN_ID_CHARS ? undefined : save({ phase: 'started', runId, mayCancel })
      if (problem !== undefined) warnOnce(problem)
    },
    done() {
      const problem = save({ phase: 'done' })
      if (problem === undefined) return
      warnOnce(problem)
      writer.emptyFile()
    },
  }
}
