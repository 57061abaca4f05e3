import { existsSync } from 'node:fs'
import type { Log, Recorder } from '../action/world.ts'
import { appendEntry } from '../runner/runner-file.ts'
import { fragment } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'
import { thisProcess } from './main-process.ts'
import type { StepRecord } from './record.ts'
import { createStepFile, isRemoved } from './step-file.ts'

// Main's side of the record that record.ts explains. main.ts loads this file before everything else, so it must load
// little.

/** Where main writes the lines of its record. */
interface RecordStorage {
  /** Throws if the line was not written. */
  readonly appendToState: (line: string) => void
  /** Throws if the line was not written, or if the file was removed. */
  readonly appendToFile: (line: string) => void
  /** An empty file means "done". On a full disk, main cannot append to the file, but main can empty it. */
  readonly emptyFile: () => void
}

/** Thrown before a run is started. */
export class RecordNotWritten extends Error {
  override readonly name = 'RecordNotWritten'
}

/**
 * The runner gives post the record as an environment variable. If the variable were too long, post could not start. Only
 * an id that main refuses can be so long.
 */
const LONGEST_RUN_ID_CHARS = 4_096

/**
 * Writes the record as the step goes on, and tells the user if it cannot be written. The tests in test/simulation have a
 * storage in memory.
 */
export class StepRecorder implements Recorder {
  readonly #storage: RecordStorage
  #record: StepRecord
  #log: Pick<Log, 'warning' | 'debug'> | undefined
  #hasWarned = false

  /** If the file could be created, it already contains the first record. So the constructor writes only to the state. */
  constructor(first: StepRecord, storage: RecordStorage) {
    this.#storage = storage
    this.#record = first
    // A failure does not matter yet, because main saves the record again before it starts a run.
    this.#tryToAppend('GITHUB_STATE', storage.appendToState)
  }

  /** Main has no log yet when it writes the first record. */
  attachLog(log: Pick<Log, 'warning' | 'debug'>): void {
    this.#log = log
    log.debug?.(fragment`First record for post: ${this.#line}`)
  }

  starting(): void {
    const problem = this.#save({ ...this.#record, phase: 'starting' })
    if (problem !== undefined) throw new RecordNotWritten(problem)
  }

  started(runId: string, mayCancel: boolean): void {
    // If the id is too long, the phase stays "starting". Post then warns without an id.
    if (runId.length > LONGEST_RUN_ID_CHARS) return
    const problem = this.#save({ ...this.#record, phase: 'started', runId, mayCancel })
    if (problem !== undefined) this.#warnOnce(problem)
  }

  done(): void {
    const problem = this.#save({ ...this.#record, phase: 'done' })
    if (problem === undefined) return
    this.#warnOnce(problem)
    this.#storage.emptyFile()
  }

  get #line(): string {
    return JSON.stringify(this.#record)
  }

  /** Writes the record to the state and to the file. If both fail, returns why. */
  #save(record: StepRecord): string | undefined {
    this.#record = record
    const problems = [
      this.#tryToAppend('GITHUB_STATE', this.#storage.appendToState),
      this.#tryToAppend(record.file, this.#storage.appendToFile),
    ].filter((problem) => problem !== undefined)
    if (problems.length === 2) return problems.join('; ')
    this.#log?.debug?.(fragment`Saved for post: ${this.#line}`)
    return undefined
  }

  /** If the line could not be written, returns why. The text names the file, because not every error of Node does. */
  #tryToAppend(file: string, append: (line: string) => void): string | undefined {
    try {
      append(this.#line)
      return undefined
    } catch (cause) {
      return `${file}: ${messageOf(cause)}`
    }
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { runId } = this.#record
    const aboutRun = runId === undefined ? fragment`` : fragment` about run ${runId}`
    this.#log?.warning(
      fragment`The step could not save its record for the post step: ${problem}. So the post step may not know what is left to do${aboutRun}. Free some space on the runner, or check its temporary folder.`,
    )
  }
}

export function openRecorder(env: NodeJS.ProcessEnv) {
  const statePath = env.GITHUB_STATE ?? ''
  const didStateFileExist = existsSync(statePath)
  const main = thisProcess()
  const firstRecord = (file: string): StepRecord => ({ ...main, file, phase: 'nothing started' })
  const stepFile = createStepFile(env, (path) => JSON.stringify(firstRecord(path)))
  const storage: RecordStorage = {
    appendToState: (line) => appendEntry(statePath, 'record', line),
    appendToFile: stepFile.append,
    emptyFile: stepFile.empty,
  }
  return {
    recorder: new StepRecorder(firstRecord(stepFile.path), storage),
    /**
     * Whether the runner has emptied its temporary folder, as it does at the end of a job and at a shutdown. Main checks
     * this, because in a container the runner's signals do not reach main. It checks two files, because another
     * step may remove one of them.
     */
    isRunnerTempEmptied: () => didStateFileExist && isRemoved(statePath) && !stepFile.existsInRunnerFolder(),
  }
}
