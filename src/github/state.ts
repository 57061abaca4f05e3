import { existsSync } from 'node:fs'
import type { RunState } from '../action/world.ts'
import type { Environment } from './event.ts'
import type { RunnerOutput } from './outputs.ts'
import { appendEntry } from './runner-file.ts'
import { createStepFile, type StepFile } from './step-file.ts'

// What main leaves for post: the runner's state, which arrives in `STATE_<name>`, and a file of its own in case that the
// state is lost. Main's entry loads this before anything else, so it imports next to nothing.

export type MainState = ReturnType<typeof createMainState>

export function createMainState(env: Environment, endWithJob: () => void) {
  const path = env.GITHUB_STATE ?? ''
  const file = createStepFile(env)
  const wasThere = existsSync(path)
  /** Throws if the runner's state cannot be written. */
  const save = (name: 'file' | 'start' | 'run' | 'done', value: string) => appendEntry(path, name, value)
  try {
    // First of all: with it post knows which file is its own.
    if (file !== undefined) save('file', file.name)
  } catch {
    // Post then looks for the file by what main and post have in common.
  }
  return {
    file,
    save,
    endWithJob,
    /**
     * Whether the runner has emptied its temporary folder, as it does at the end of a job and at a shutdown. Main looks
     * at it because in a container nobody may tell main.
     */
    isJobOver: () => wasThere && !existsSync(path) && !(file?.isInRunnerFolder && file.isThere()),
  }
}

/** Post would not learn of a run. Thrown before there is one. */
export class StateNotSaved extends Error {
  override readonly name = 'StateNotSaved'
}

/** A state that the environment cannot carry keeps post from starting at all; no real run id is near this. */
const LONGEST_RUN_ID = 4_096

export function runState({ file, save, endWithJob }: MainState, warnOnError: RunnerOutput['warnOnError']): RunState {
  function updateFile(version: Parameters<StepFile['update']>[0]): boolean {
    // Main never makes it a second time.
    if (file?.isThere() === false) endWithJob()
    return file?.update(version) === true
  }
  const saveDone = () => warnOnError(() => save('done', 'yes'))
  function done(): void {
    file?.remove()
    saveDone()
  }
  return {
    startAttempted() {
      const saveStart = () => save('start', 'attempted')
      if (updateFile({ phase: 'starting' })) return warnOnError(saveStart)
      try {
        saveStart()
      } catch (cause) {
        throw new StateNotSaved(String(cause), { cause })
      }
    },
    runStarted(runId, mayCancel) {
      if (!mayCancel) return done()
      if (runId.length > LONGEST_RUN_ID) return
      updateFile({ phase: 'started', runId, mayCancel })
      // As JSON, because an unusable id may hold what an environment variable cannot.
      warnOnError(() => save('run', JSON.stringify(runId)))
    },
    done,
    // The runner does not read this any more if main has outlived its step. Then the file, which stays, tells post.
    manualCleanupLogged: saveDone,
  }
}
