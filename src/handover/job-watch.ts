import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { appendEntry } from '../github/runner-file.ts'
import type { AbortCause } from '../model/outcome.ts'
import { createMainFile, isMissing, type MainFile, STATE_NAME } from './main-file.ts'
import { StepRecorder } from './recorder.ts'

// main.ts loads this file before everything else, so it must load little. test/handover/main-file.test.ts tests it.

/** Notices why main has to stop if no signal of the runner says it: post asks main to stop, or the job has ended. */
export function createJobWatch(
  file: Pick<MainFile, 'answerStop'>,
  recorder: Pick<StepRecorder, 'warnIfRemoved'>,
  isRunnerTempEmptied: () => boolean,
  stop: (cause: AbortCause) => void,
) {
  return {
    /**
     * Call this four times a second, whatever main waits for, also while main stops. Post may ask then too, and waits for the
     * answer.
     */
    check(): void {
      if (file.answerStop() || isRunnerTempEmptied()) stop('job ended')
      else recorder.warnIfRemoved()
    },
    /** Call this if a line could not be written to the log. */
    onLogClosed(): void {
      stop('job ended')
    },
  }
}

/** Creates main's file, and writes its path to the runner's state. `stop` is called when main has to stop. */
export function openHandover(env: NodeJS.ProcessEnv, stop: (cause: AbortCause) => void) {
  const statePath = env.GITHUB_STATE ?? ''
  const didStateFileExist = existsSync(statePath)
  const file = createMainFile(env)
  try {
    appendEntry(statePath, STATE_NAME, file.path)
  } catch {
    // Nothing is lost, because post then finds the file by its name.
  }
  // The runner empties only its own folder. So if main's file lies elsewhere, only the state file counts. Otherwise both must
  // be gone, because another step may remove one of them.
  const isInRunnerTemp = dirname(file.path) === env.RUNNER_TEMP
  const isRunnerTempEmptied = () => didStateFileExist && isMissing(statePath) && (!isInRunnerTemp || file.isRemoved())
  const recorder = new StepRecorder(file)
  return { recorder, watch: createJobWatch(file, recorder, isRunnerTempEmptied, stop) }
}
