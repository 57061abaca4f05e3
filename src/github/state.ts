import { saveState } from '@actions/core'
import type { RunState } from '../action/world.ts'
import type { RunnerOutput } from './outputs.ts'

/** Post would not learn of a run. Thrown before there is one. */
export class StateNotSaved extends Error {
  override readonly name = 'StateNotSaved'
}

/** A state that the environment cannot carry keeps post from starting at all; no real run id is near this. */
const LONGEST_RUN_ID = 4_096

/**
 * What the runner hands from main to post, in `STATE_<name>`. Post's entry reads it without loading this file.
 *
 * @param mayCancel whether the run may be cancelled: if not, nothing is left for post once its id is known
 */
export function runnerState(mayCancel: boolean, warnOnError: RunnerOutput['warnOnError']): RunState {
  const done = () => warnOnError(() => saveState('done', 'yes'))
  return {
    // Before any request: if this fails, nothing has been started that post could not know of.
    startAttempted() {
      try {
        saveState('start', 'attempted')
      } catch (cause) {
        throw new StateNotSaved(String(cause), { cause })
      }
    },
    runStarted(runId) {
      // As JSON, because an unusable id may hold what an environment variable cannot.
      if (!mayCancel) done()
      else if (runId.length <= LONGEST_RUN_ID) warnOnError(() => saveState('run', JSON.stringify(runId)))
    },
    done,
  }
}
