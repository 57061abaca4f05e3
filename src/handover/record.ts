import { existsSync } from 'node:fs'
import type { Environment } from '../github/event.ts'
import { appendEntry } from '../runner/runner-file.ts'
import { isObject, parseJson } from '../text/json.ts'
import { isAlive, type MainProcess, signalMain, thisProcess } from './main-process.ts'
import { createStepFile, findStepFiles, hasIdentityOf, readStepFile, removeStepFile } from './step-file.ts'

// The record of what is left to do for the step. Main writes it to two places: its own file, and the runner's state.
// The entries load this before anything else, so it imports next to nothing.

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

export type Version = Pick<StepRecord, 'phase' | 'runId' | 'mayCancel'>

/** The record as main writes it. */
export interface MainRecord {
  /** Returns what went wrong if neither place could be written. */
  write(version: Version): string | undefined
  /** Returns what went wrong. */
  writeToStateOnly(version: Version): string | undefined
  /** The latest version, as it is written. */
  latest(): string
  emptyFile(): void
  /**
   * Whether the runner has emptied its temporary folder, as it does at the end of a job and at a shutdown. Main checks
   * this, because in a container the runner's signals do not reach main.
   */
  isFolderEmptied(): boolean
}

export function createMainRecord(env: Environment): MainRecord {
  const statePath = env.GITHUB_STATE ?? ''
  const hadState = existsSync(statePath)
  const nothingStarted = { ...thisProcess(), phase: 'nothing started' } as const
  const file = createStepFile(env, (path) => JSON.stringify({ ...nothingStarted, file: path }))
  const writeToState = (line: string) => problemOf('GITHUB_STATE', () => appendEntry(statePath, 'record', line))
  const writeToFile = (line: string) => problemOf(file.path, () => file.append(line))
  return {
    ...recordInTwoPlaces({ ...nothingStarted, file: file.path }, writeToState, writeToFile),
    emptyFile: file.empty,
    isFolderEmptied: () => hadState && !existsSync(statePath) && !(file.isInRunnerFolder && file.isThere()),
  }
}

/** Writes a line to one place. Returns what went wrong. */
type WriteLine = (line: string) => string | undefined

/** The file already contains the first version. Exported for the simulation, which keeps both places in memory. */
export function recordInTwoPlaces(
  first: StepRecord,
  writeToState: WriteLine,
  writeToFile: WriteLine,
): Pick<MainRecord, 'write' | 'writeToStateOnly' | 'latest'> {
  let latest = first
  const latestLine = () => JSON.stringify(latest)
  // If this fails, nothing is lost, because main writes again before there is something to do for post.
  writeToState(latestLine())
  return {
    write(version) {
      latest = { ...latest, ...version }
      const problems = [writeToState(latestLine()), writeToFile(latestLine())].filter(
        (problem) => problem !== undefined,
      )
      return problems.length === 2 ? problems.join('; ') : undefined
    },
    writeToStateOnly(version) {
      latest = { ...latest, ...version }
      return writeToState(latestLine())
    },
    latest: latestLine,
  }
}

/** Names the place, because not every error of Node does. Undefined if the place was written. */
function problemOf(place: string, write: () => void): string | undefined {
  try {
    write()
    return undefined
  } catch (cause) {
    return `${place}: ${cause instanceof Error ? cause.message : String(cause)}`
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

/** A main, as post finds it by its record. */
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
  return {
    /** False if the inputs have changed since main began. They may now name another project or service. */
    hasOurIdentity,
    read: () => latestRecord(saved, readStepFile(path)),
    isAlive,
    signal: signalMain,
    removeFile: () => removeStepFile(path),
  }
}

/**
 * Compares the record in the state with the latest whole version in main's file. The later phase counts. If both phases
 * are equal, the file counts. An empty file means "done".
 */
export function latestRecord(ofState: StepRecord | undefined, file: string | undefined): StepRecord | undefined {
  if (file === '') return ofState && { ...ofState, phase: 'done' }
  const versions = file?.split('\n').map(parseRecord)
  const ofFile = versions?.findLast((version) => version !== undefined)
  if (ofState === undefined || ofFile === undefined) return ofFile ?? ofState
  return PHASES.indexOf(ofState.phase) > PHASES.indexOf(ofFile.phase) ? ofState : ofFile
}
