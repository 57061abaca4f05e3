import { appendEntry } from '../github/runner-file.ts'
import { fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { createMainFile, type LeftToDo, type MainFile, STATE_NAME } from './main-file.ts'

// Main's side of main's file. main.ts loads this module before everything else, so it must load little.

export class MainFileNotWritten extends Error {}

export function openMainFile(env: NodeJS.ProcessEnv): MainFileWriter {
  const file = createMainFile(env)
  try {
    appendEntry(env.GITHUB_STATE, STATE_NAME, file.path)
  } catch {
    // Nothing is lost, because post then finds the file by its name.
  }
  return new MainFileWriter(file)
}

/** Writes to main's file, and notices why main has to stop. Tests may give it a file in memory. */
export class MainFileWriter {
  readonly #file: MainFile
  /** False if the file could not be created, and when nothing is left to do. Then a missing file has no meaning. */
  #isWatching: boolean
  #log: Pick<Log, 'warning' | 'debug'> | undefined

  constructor(file: MainFile) {
    this.#file = file
    this.#isWatching = file.exists()
  }

  /** Main has no log yet when it creates its file. */
  attachLog(log: Pick<Log, 'warning' | 'debug'>): void {
    this.#log = log
    log.debug?.(fragment`Main's file for post: ${this.#file.path}`)
  }

  /** Main is about to start a run. Throws if this cannot be written, because post would not learn of the run. */
  starting(): void {
    const problem = this.#append({ phase: 'starting' })
    if (problem !== undefined) throw new MainFileNotWritten(problem)
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
      // On Windows, a program such as a virus scanner can keep a file from being removed for a moment. Then post reads the last line. The phase
      // `nothing started` makes it do nothing, also after a run that has finished.
      this.#appendOrWarn({ phase: 'nothing started' })
    }
  }

  /** Answers post if post asks main to stop. Returns whether main must stop: because of that, or because its file was removed. */
  answerPostAndCheckStop(): boolean {
    return this.#isWatching && (this.#file.answerStopRequest() || !this.#file.exists())
  }

  #appendOrWarn(left: LeftToDo, about = fragment``): void {
    const problem = this.#append(left)
    if (problem === undefined) return
    this.#log?.warning(
      fragment`The post step will not know what is left to do${about}, because this step could not write its file: ${problem}. Free some space on the runner, or check its temporary folder.`,
    )
  }

  /** If the line could not be written, returns why. */
  #append(left: LeftToDo): string | undefined {
    try {
      this.#file.append(left)
      this.#log?.debug?.(fragment`Saved for post: ${JSON.stringify(left)}`)
      return undefined
    } catch (cause) {
      return messageOf(cause)
    }
  }
}
