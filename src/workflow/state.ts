import { saveState } from '@actions/core'
import type { RunState } from '../action/world.ts'

/** What the runner hands from main to post, in `STATE_<name>`. Post's entry reads it without loading this file. */
export type SavedState = 'start' | 'run' | 'settled'

/** A state that the environment cannot carry keeps post from starting at all; no real run id is near this. */
const LONGEST_RUN_ID = 4_096

export const runnerState: RunState = {
  startAttempted: () => save('start', 'attempted'),
  runGoing(runId) {
    // As JSON, since an unusable id may hold what an environment variable cannot.
    if (runId.length <= LONGEST_RUN_ID) save('run', JSON.stringify(runId))
  },
  settled: () => save('settled', 'yes'),
}

function save(name: SavedState, value: string): void {
  saveState(name, value)
}
