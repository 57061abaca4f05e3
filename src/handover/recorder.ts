import type { Log } from '../text/log.ts'
import { fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import type { MainFile, MainRecord } from './main-file.ts'

// Main writes main's file here. main-file.ts explains this file. main.ts loads this module before everything else, so it must load
// little. test/handover/main-file.test.ts tests it.

/** Writes down for post what is left to do for the step, because main may be killed at any moment. */
export interface Recorder {
  /** Main is about to start a run. Throws if this cannot be written, because post would not learn of the run. */
  starting(): void
  /** Main knows the run's id. Unless `done` follows, post cancels the run, provided that `mayCancel` is true. */
  started(runId: string, mayCancel: boolean): void
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
  #record: MainRecord = { phase: 'nothing started' }
  #isDone = false
  #log: Pick<Log, 'warning' | 'debug'> | undefined
  #hasWarned = false

  constructor(file: MainFile) {
    this.#file = file
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

  started(runId: string, mayCancel: boolean): void {
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
  onExit(): void {
    if (this.#isDone) return
    if (this.#record.phase === 'nothing started') this.done()
    else this.#append({ ...this.#record, hasEnded: true })
  }

  /** Warns if another step has removed main's file while something may be left to do. */
  warnIfRemoved(): void {
    if (!this.#isDone && this.#record.phase !== 'nothing started' && this.#file.isRemoved()) this.#warnOnce()
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

  /** `problem` says why the file could not be written. It matters only if the file is still there. */
  #warnOnce(problem = ''): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const aboutRun = this.#record.phase === 'started' ? fragment` about run ${this.#record.runId}` : fragment``
    const { path } = this.#file
    const why = this.#file.isRemoved()
      ? fragment`the file ${path} was removed. Check whether another step empties its temporary folder`
      : fragment`the file ${path} could not be written: ${problem}. Free some space on the runner`
    this.#log?.warning(fragment`The post step will not know what is left to do${aboutRun}, because ${why}.`)
  }
}
