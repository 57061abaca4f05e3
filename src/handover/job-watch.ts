import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { appendEntry } from '../github/runner-file.ts'
import { createMainFile, isRemoved, type MainFile, STATE_NAME } from './main-file.ts'
import { StepRecorder } from './recorder.ts'

// main.ts loads this file before everything else, so it must load little. test/handover/main-file.test.ts tests it.

type ReasonToStop = 'asked by post' | 'RUNNER_TEMP emptied' | 'log closed'

/** Notices why main has to stop if no signal of the runner says it: post asks main to stop, or the job is over. */
export class JobWatch {
  readonly #file: Pick<MainFile, 'answerStop'>
  readonly #recorder: Pick<StepRecorder, 'warnIfRemoved'>
  readonly #isRunnerTempEmptied: () => boolean
  readonly #stop: (cause: ReasonToStop) => void
  #isLogClosed = false

  constructor(
    file: Pick<MainFile, 'answerStop'>,
    recorder: Pick<StepRecorder, 'warnIfRemoved'>,
    isRunnerTempEmptied: () => boolean,
    stop: (cause: ReasonToStop) => void,
  ) {
    this.#file = file
    this.#recorder = recorder
    this.#isRunnerTempEmptied = isRunnerTempEmptied
    this.#stop = stop
  }

  /**
   * Call this four times a second, whatever main waits for, also while main stops. Post may ask then too, and waits for the
   * answer.
   */
  look(): void {
    if (this.#file.answerStop()) this.#stop('asked by post')
    else if (this.#isRunnerTempEmptied()) this.#stop('RUNNER_TEMP emptied')
    else this.#recorder.warnIfRemoved()
  }

  /** Call this if a line could not be written to the log. */
  onLogClosed(): void {
    this.#isLogClosed = true
    this.#stop('log closed')
  }

  /** Whether the job has ended, so that the next job may already use the runner's folders. */
  isJobOver(): boolean {
    return this.#isLogClosed || this.#isRunnerTempEmptied()
  }
}

/** Creates main's file, and writes its path to the runner's state. `stop` is called when main has to stop. */
export function openHandover(env: NodeJS.ProcessEnv, stop: (cause: ReasonToStop) => void) {
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
  const isRunnerTempEmptied = () => didStateFileExist && isRemoved(statePath) && (!isInRunnerTemp || file.isRemoved())
  const recorder = new StepRecorder(file)
  return { recorder, watch: new JobWatch(file, recorder, isRunnerTempEmptied, stop) }
}
