import { existsSync } from 'node:fs'
import type { Environment } from '../github/event.ts'
import { appendEntry } from '../runner/runner-file.ts'
import { isObject, parseJson } from '../text/json.ts'
import { messageOf } from '../text/untrusted.ts'
import { canSignal, isRunning, kill, type MainProcess, thisProcess } from './main-process.ts'
import { createStepFile, findStepFiles, hasHashOf, readStepFile, removeStepFile } from './step-file.ts'

// Main can be killed at any moment. So main writes a record of what is left to do for the step, and post reads it.
//
// - Main writes the record when it begins, before it starts a run, when it knows the run's id, and when nothing is left
//   to do. These are the four phases.
// - Each time, main writes the record twice: to a file of its own, and to the runner's state.
// - The state alone is not enough, because in a container main may go on after the runner has read the state. Some
//   runners lose the state of a cancelled step.
// - The file alone is not enough, because another step may remove it.
// - Post reads the file and the state. The record with the later phase counts.
// - If the state is lost, post finds main's file by its name. The name has a hash of what main and post of a step share.
//   If two steps of a job have the same service and the same target, their files have the same hash, and post finds both.
// - If main still runs, post first signals it and waits for its exit. Only main can receive the id of a start in flight.
// - Then post cancels the run, warns, or does nothing, as the record says.
//
// main.ts and post.ts load this file before everything else, so it must load little.

/** In their order. */
const PHASES = ['nothing started', 'starting', 'started', 'done'] as const

/** How far main has come. */
type Progress =
  | { readonly phase: Exclude<(typeof PHASES)[number], 'started'>; readonly runId?: undefined }
  /** `mayCancel`: whether post should cancel the run if main is killed. */
  | { readonly phase: 'started'; readonly runId: string; readonly mayCancel: boolean }

interface MainOfStep extends MainProcess {
  /** The path of main's file. */
  readonly file: string
}

export type StepRecord = MainOfStep & Progress

const NOTHING_STARTED = { phase: 'nothing started' } as const

/** Where main writes the lines of its record. The first two methods throw if the line was not written. */
interface RecordStorage {
  appendToState(line: string): void
  appendToFile(line: string): void
  /** An empty file means "done". On a full disk, main cannot append to the file, but main can empty it. */
  emptyFile(): void
}

/**
 * Main's side of the record. It has no log, because main.ts loads it first. `createRecorder` adds the log. The tests in
 * test/simulation have a storage in memory.
 */
export class RecordWriter {
  readonly #main: MainOfStep
  readonly #storage: RecordStorage
  #latest: StepRecord

  /** If the file could be created, it already contains the first record. So the constructor writes only to the state. */
  constructor(main: MainOfStep, storage: RecordStorage) {
    this.#main = main
    this.#storage = storage
    this.#latest = { ...main, ...NOTHING_STARTED }
    // A failure does not matter yet, because main saves the record again before it starts a run.
    tryToWrite('GITHUB_STATE', () => storage.appendToState(this.line))
  }

  /** The latest record, as it is written. */
  get line(): string {
    return JSON.stringify(this.#latest)
  }

  /** Writes the changed record to the state and to the file. If both fail, returns why. */
  save(progress: Progress): string | undefined {
    this.#latest = { ...this.#main, ...progress }
    const problems = [
      tryToWrite('GITHUB_STATE', () => this.#storage.appendToState(this.line)),
      tryToWrite(this.#latest.file, () => this.#storage.appendToFile(this.line)),
    ].filter((problem) => problem !== undefined)
    return problems.length === 2 ? problems.join('; ') : undefined
  }

  emptyFile(): void {
    this.#storage.emptyFile()
  }
}

export function openHandover(env: Environment) {
  const statePath = env.GITHUB_STATE ?? ''
  const hadState = existsSync(statePath)
  const main = thisProcess()
  const stepFile = createStepFile(env, (path) => JSON.stringify({ ...main, file: path, ...NOTHING_STARTED }))
  const storage: RecordStorage = {
    appendToState: (line) => appendEntry(statePath, 'record', line),
    appendToFile: stepFile.append,
    emptyFile: stepFile.empty,
  }
  return {
    writer: new RecordWriter({ ...main, file: stepFile.path }, storage),
    /**
     * Whether the runner has emptied its temporary folder, as it does at the end of a job and at a shutdown. Main checks
     * this, because in a container the runner's signals do not reach main. It checks two files, because a step may
     * remove one of them.
     */
    isRunnerTempEmptied(): boolean {
      const isStateRemoved = hadState && !existsSync(statePath)
      return isStateRemoved && !stepFile.isInRunnerFolder()
    },
  }
}

/** Writes. If that throws, returns why. The text names the file, because not every error of Node does. */
function tryToWrite(file: string, write: () => void): string | undefined {
  try {
    write()
    return undefined
  } catch (cause) {
    return `${file}: ${messageOf(cause)}`
  }
}

/** Undefined if the text is not a whole record. */
export function parseRecord(text: string): StepRecord | undefined {
  const json = parseJson(text)
  if (!isObject(json)) return undefined
  const { pid, startTime, bootId, file, phase: name, runId, mayCancel } = json
  const phase = PHASES.find((known) => known === name)
  // Zero and negative process ids stand for groups of processes.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (phase === undefined || typeof file !== 'string') return undefined
  const main = { pid, startTime: textOrNone(startTime), bootId: textOrNone(bootId), file }
  if (phase !== 'started') return { ...main, phase }
  if (typeof runId !== 'string' || runId === '') return undefined
  return { ...main, phase, runId, mayCancel: mayCancel === true }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Post's side of the record: a main, as post finds it. */
export type FoundMain = ReturnType<typeof foundMain>

/** Finds main by the record in the runner's state. If the state is lost, finds each main whose file has this step's hash. */
export function findMains(env: Environment, recordOfState: StepRecord | undefined): FoundMain[] {
  if (recordOfState !== undefined)
    return [foundMain(recordOfState.file, hasHashOf(env, recordOfState.file), recordOfState)]
  return findStepFiles(env).map((path) => foundMain(path, true))
}

function foundMain(path: string, hasSameInputs: boolean, recordOfState?: StepRecord) {
  const read = () => latestRecord(recordOfState, readStepFile(path))
  // The process stays the same in every record of a main.
  const firstRead = read()
  return {
    /**
     * False if the inputs now may name another project or service. GitHub evaluates the inputs again for post, and a
     * later step may have changed a value, for example an environment variable.
     */
    hasSameInputs,
    /** The latest record. Undefined if the state is lost, and the file was removed or holds no whole record. */
    read,
    isRunning: () => isRunning(firstRead),
    canSignal: () => canSignal(firstRead),
    kill: (signal: 'SIGHUP' | 'SIGKILL') => kill(firstRead, signal),
    removeFile: () => removeStepFile(path),
  }
}

function mainOf({ pid, startTime, bootId, file }: StepRecord): MainOfStep {
  return { pid, startTime, bootId, file }
}

/**
 * The record with the later phase: the record in the state, or the last whole record in main's file. If both phases are
 * equal, so are the records. If the file is empty, main has emptied it, because nothing is left to do.
 */
export function latestRecord(
  recordOfState: StepRecord | undefined,
  fileText: string | undefined,
): StepRecord | undefined {
  if (fileText === '' && recordOfState !== undefined) return { ...mainOf(recordOfState), phase: 'done' }
  const records = fileText?.split('\n').map(parseRecord)
  const ofFile = records?.findLast((record) => record !== undefined)
  if (recordOfState === undefined || ofFile === undefined) return ofFile ?? recordOfState
  return PHASES.indexOf(recordOfState.phase) > PHASES.indexOf(ofFile.phase) ? recordOfState : ofFile
}
