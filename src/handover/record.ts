import { existsSync } from 'node:fs'
import type { Environment } from '../github/event.ts'
import { appendEntry } from '../runner/runner-file.ts'
import { isObject, parseJson } from '../text/json.ts'
import { messageOf } from '../text/untrusted.ts'
import { canSignal, isRunning, kill, type MainProcess, thisProcess } from './main-process.ts'
import { createStepFile, findStepFiles, hasIdentityOf, readStepFile, removeStepFile } from './step-file.ts'

// Main can be killed at any moment. So main writes a record of what is left to do for the step, and post reads it.
//
// - Main writes the record when it begins, before it starts a run, when it knows the run's id, and when nothing is left
//   to do. These are the four phases.
// - Each time, main writes it twice: to a file of its own, and to the runner's state.
// - The state alone is not enough, because in a container main may go on after the runner has read the state. Some
//   runners lose the state of a cancelled step.
// - The file alone is not enough, because another step may remove it.
// - Post reads the file and the state. The record with the later phase counts.
// - If the state is lost, post finds main's file by its name. The name has a hash of what main and post of a step share.
// - If main still runs, post first signals it and waits for its exit. Only main can receive the id of a start in flight.
// - Then post cancels the run, warns, or does nothing, as the record says.
//
// main.ts and post.ts load this first, so it imports only what it needs.

/** In their order. Of two records, the one with the later phase counts. */
const PHASES = ['nothing started', 'starting', 'started', 'done'] as const

export interface StepRecord extends MainProcess {
  /** The path of main's file. */
  readonly file: string
  readonly phase: (typeof PHASES)[number]
  /** This and `mayCancel` are known from the phase "started" on. */
  readonly runId?: string | undefined
  readonly mayCancel?: boolean | undefined
}

/** Where main writes the lines of its record. The first two methods throw if the line was not written. */
interface RecordStorage {
  appendToState(line: string): void
  appendToFile(line: string): void
  /** An empty file means "done". */
  emptyFile(): void
}

/** Main's side of the record. The tests in test/simulation have a storage in memory. */
export class RecordWriter {
  readonly #storage: RecordStorage
  #latest: StepRecord

  /** The file already contains the first record. */
  constructor(first: StepRecord, storage: RecordStorage) {
    this.#storage = storage
    this.#latest = first
    // A failure is ignored here. Before the start request, main writes to the state and to the file.
    problemOf('GITHUB_STATE', () => storage.appendToState(this.line))
  }

  /** The latest record, as it is written. */
  get line(): string {
    return JSON.stringify(this.#latest)
  }

  /** Writes the changed record to the state and to the file. If both fail, returns what went wrong. */
  save(change: Pick<StepRecord, 'phase' | 'runId' | 'mayCancel'>): string | undefined {
    this.#latest = { ...this.#latest, ...change }
    const problems = [
      problemOf('GITHUB_STATE', () => this.#storage.appendToState(this.line)),
      problemOf(this.#latest.file, () => this.#storage.appendToFile(this.line)),
    ].filter((problem) => problem !== undefined)
    return problems.length === 2 ? problems.join('; ') : undefined
  }

  emptyFile(): void {
    this.#storage.emptyFile()
  }
}

export function createRecordWriter(env: Environment) {
  const statePath = env.GITHUB_STATE ?? ''
  const hadState = existsSync(statePath)
  const nothingStarted = { ...thisProcess(), phase: 'nothing started' } as const
  const file = createStepFile(env, (path) => JSON.stringify({ ...nothingStarted, file: path }))
  const storage: RecordStorage = {
    appendToState: (line) => appendEntry(statePath, 'record', line),
    appendToFile: file.append,
    emptyFile: file.empty,
  }
  return {
    record: new RecordWriter({ ...nothingStarted, file: file.path }, storage),
    /**
     * Whether the runner has emptied its temporary folder, as it does at the end of a job and at a shutdown. Main checks
     * this, because in a container the runner's signals do not reach main.
     */
    isFolderEmptied(): boolean {
      const isStateRemoved = hadState && !existsSync(statePath)
      return isStateRemoved && !file.isInRunnerFolder()
    },
  }
}

/** Names the file, because not every error of Node does. Undefined if the file was written. */
function problemOf(file: string, write: () => void): string | undefined {
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
  if (phase === 'started' && (typeof runId !== 'string' || runId === '')) return undefined
  return {
    pid,
    startTime: textOrNone(startTime),
    bootId: textOrNone(bootId),
    file,
    phase,
    runId: textOrNone(runId),
    mayCancel: mayCancel === true,
  }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Post's side of the record: a main, as post finds it. */
export type FoundMain = ReturnType<typeof foundMain>

/**
 * Finds main by the record that the runner's state holds. If the state is lost, finds all mains of this step's
 * identity.
 */
export function findMains(env: Environment, saved: StepRecord | undefined): FoundMain[] {
  if (saved !== undefined) return [foundMain(saved.file, hasIdentityOf(env, saved.file), saved)]
  return findStepFiles(env).map((path) => foundMain(path, true))
}

function foundMain(path: string, hasOurIdentity: boolean, saved?: StepRecord) {
  const read = () => latestRecord(saved, readStepFile(path))
  return {
    /** False if the inputs have changed since main began. They may now name another project or service. */
    hasOurIdentity,
    /** The latest record. Undefined if main's file was removed, and the state is lost. */
    read,
    isRunning: () => isRunning(read()),
    canSignal: () => canSignal(read()),
    kill: (signal: 'SIGHUP' | 'SIGKILL') => kill(read(), signal),
    removeFile: () => removeStepFile(path),
  }
}

/**
 * Compares the record in the state with the last whole record in main's file. The later phase counts. If both phases are
 * equal, the file counts. An empty file means "done".
 */
export function latestRecord(ofState: StepRecord | undefined, file: string | undefined): StepRecord | undefined {
  if (file === '') return ofState && { ...ofState, phase: 'done' }
  const records = file?.split('\n').map(parseRecord)
  const ofFile = records?.findLast((record) => record !== undefined)
  if (ofState === undefined || ofFile === undefined) return ofFile ?? ofState
  return PHASES.indexOf(ofState.phase) > PHASES.indexOf(ofFile.phase) ? ofState : ofFile
}
