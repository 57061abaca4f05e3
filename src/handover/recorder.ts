import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { appendEntry } from '../github/runner-file.ts'
import type { Log } from '../text/log.ts'
import { fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { createMainFile, isRemoved, type MainFile, type MainRecord, STATE_NAME } from './main-file.ts'

// Main's side of main's file, which main-file.ts explains. main.ts loads this file before everything else, so it must load
// little. test/handover/main-file.test.ts tests both sides.

/** Writes down for post what is left to do for the step, because main may be killed at any moment. */
export interface Recorder {
  /** Main is about to start a run. Throws if this cannot be written, because post would not learn of the run. */
  starting(): void
  /** Main knows the run's id. Unless `done` follows, post cancels the run, provided that `mayCancel` is true. */
  knowsRun(runId: string, mayCancel: boolean): void
  /** Nothing is left to do. */
  done(): void
}

/** Thrown before a run is started. */
export class RecordNotWritten extends Error {
  override readonly name = 'RecordNotWritten'
}

/** Writes to main's file as the step goes on, and tells the user if that fails. The simulation has a file in memory. */
export class StepRecorder implements Recorder {
  readonly #file: MainFile
  readonly #isRunnerTempEmptied: () => boolean
  #record: MainRecord = { phase: 'nothing started' }
  #isDone = false
  #log: Pick<Log, 'warning' | 'debug'> | undefined
  #hasWarned = false

  constructor(file: MainFile, isRunnerTempEmptied: () => boolean) {
    this.#file = file
    this.#isRunnerTempEmptied = isRunnerTempEmptied
  }

  /** Main has no log yet when it creates its file. */
  attachLog(log: Pick<Log, 'warning' | 'debug'>): void {
    this.#log = log
    log.debug?.(fragment`Main's file for post: ${this.#file.path}`)
  }

  starting(): void {
    const problem = this.#append({ phase: 'starting' })
    if (problem !== undefined) throw new RecordNotWritten(problem)
    this.#record = { phase: 'starting' }
  }

  knowsRun(runId: string, mayCancel: boolean): void {
    this.#record = { phase: 'started', runId, mayCancel }
    const problem = this.#append(this.#record)
    if (problem !== undefined) this.#warnOnce(problem)
  }

  done(): void {
    this.#isDone = true
    this.#log?.debug?.(fragment`Nothing is left to do for post. Main removes its file.`)
    try {
      this.#file.remove()
    } catch {
      // On Windows, a program such as a virus scanner can keep a file from being removed for a moment.
      this.#append({ phase: 'nothing started', hasEnded: true })
    }
  }

  /** Called when main exits, for whatever reason. */
  exit(): void {
    if (this.#isDone) return
    if (this.#record.phase === 'nothing started') this.done()
    else this.#append({ ...this.#record, hasEnded: true })
  }

  /**
   * Called four times a second, whatever main waits for. Returns why main has to stop. If main is stopping already, post may
   * still ask, and waits for the answer.
   */
  reasonToStop(): 'asked by post' | 'RUNNER_TEMP emptied' | undefined {
    if (this.#file.answerStop()) return 'asked by post'
    if (this.#isRunnerTempEmptied()) return 'RUNNER_TEMP emptied'
    if (!this.#isDone && this.#record.phase !== 'nothing started' && this.#file.isRemoved())
      this.#warnOnce(`${this.#file.path} was removed`)
    return undefined
  }

  /** If the record could not be written, returns why. */
  #append(record: MainRecord): string | undefined {
    try {
      this.#file.append(record)
      this.#log?.debug?.(fragment`Saved for post: ${JSON.stringify(record)}`)
      return undefined
    } catch (cause) {
      return messageOf(cause)
    }
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { runId } = this.#record
    const aboutRun = runId === undefined ? fragment`` : fragment` about run ${runId}`
    this.#log?.warning(
      fragment`The post step will not know what is left to do${aboutRun}, because the file that tells it cannot be written: ${problem}. Free some space on the runner, or check whether another step empties its temporary folder.`,
    )
  }
}

export function openRecorder(env: NodeJS.ProcessEnv) {
  const statePath = env.GITHUB_STATE ?? ''
  const didStateFileExist = existsSync(statePath)
  const file = createMainFile(env)
  try {
    appendEntry(statePath, STATE_NAME, file.path)
  } catch {
    // Nothing is lost, because post then finds the file by its name.
  }
  // The runner empties only its own folder, and main checks two files, because another step may remove one of them.
  const isInRunnerTemp = dirname(file.path) === env.RUNNER_TEMP
  const isRunnerTempEmptied = () => didStateFileExist && isRemoved(statePath) && (!isInRunnerTemp || file.isRemoved())
  return { recorder: new StepRecorder(file, isRunnerTempEmptied), isRunnerTempEmptied }
}
