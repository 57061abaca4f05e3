import { appendEntry } from '../github/runner-file.ts'
import { fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { createMainFile, type MainFile, type MainRecord, STATE_NAME } from './main-file.ts'

// Main's side of main's file. main.ts loads this module before everything else, so it must load little.

export type Recorder = Pick<StepRecorder, 'starting' | 'started' | 'done'>

export class RecordNotWritten extends Error {
  override readonly name = 'RecordNotWritten'
}

export function openRecorder(env: NodeJS.ProcessEnv): StepRecorder {
  const file = createMainFile(env)
  try {
    appendEntry(env.GITHUB_STATE, STATE_NAME, file.path)
  } catch {
    // Nothing is lost, because post then finds the file by its name.
  }
  return new StepRecorder(file)
}

/** Writes to main's file, and notices why main has to stop. The simulation has a file in memory. */
export class StepRecorder {
  readonly #file: MainFile
  /** False if the file could not be created, and when nothing is left to do. Then a missing file has no meaning. */
  #isWatching: boolean
  #log: Pick<Log, 'warning' | 'debug'> | undefined

  constructor(file: MainFile) {
    this.#file = file
    this.#isWatching = !file.isGone()
  }

  /** Main has no log yet when it creates its file. */
  attachLog(log: Pick<Log, 'warning' | 'debug'>): void {
    this.#log = log
    log.debug?.(fragment`Main's file for post: ${this.#file.path}`)
  }

  /** Main is about to start a run. Throws if this cannot be written, because post would not learn of the run. */
  starting(): void {
    const problem = this.#append({ phase: 'starting' })
    if (problem !== undefined) throw new RecordNotWritten(problem)
  }

  /** Unless `done` follows, post cancels the run, provided that `mayCancel` is true. */
  started(runId: string, mayCancel: boolean): void {
    this.#appendOrWarn({ phase: 'started', runId, mayCancel }, fragment` about run ${runId}`)
  }

  /** Nothing is left to do. */
  done(): void {
    this.#isWatching = false
    this.#log?.debug?.(fragment`Nothing is left to do for post. Main removes its file.`)
    try {
      this.#file.remove()
    } catch {
      // On Windows, a program such as a virus scanner can keep a file from being removed for a moment.
      this.#appendOrWarn({ phase: 'nothing started' })
    }
  }

  /** Whether post asks main to stop, or the job has ended. Call this four times a second, also while main stops. */
  mustStop(): boolean {
    return this.#isWatching && (this.#file.answerStop() || this.#file.isGone())
  }

  #appendOrWarn(record: MainRecord, about = fragment``): void {
    const problem = this.#append(record)
    if (problem === undefined) return
    this.#log?.warning(
      fragment`The post step will not know what is left to do${about}, because this step could not write its file: ${problem}. Free some space on the runner, or check its temporary folder.`,
    )
  }

  /** If the line could not be written, returns why. */
  #append(record: MainRecord): string | undefined {
    try {
      this.#file.append(record)
      this.#log?.debug?.(fragment`Saved for post: ${JSON.stringify(record)}`)
      return undefined
    } catch (cause) {
      return messageOf(cause)
    }
  }
}
