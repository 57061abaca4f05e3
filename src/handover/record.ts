import { isObject, parseJson } from '../text/json.ts'
import { canSignal, isRunning, type MainProcess, sendSignal } from './main-process.ts'
import { findStepFiles, isNamedFor, readStepFile, removeStepFile } from './step-file.ts'

// Main can be killed at any moment. So main writes a record of what is left to do for the step, and post reads it.
//
// - Main writes the record when its phase changes: when main begins, before it starts a run, when it knows the run's id,
//   and when nothing is left to do. A step may skip a phase, but never goes back.
// - Each time, main writes the record to two places: to a file of its own, and to the runner's state.
// - The state alone is not enough, because in a container main may go on after the runner has read the state. Some
//   runners lose the state of a cancelled step.
// - The file alone is not enough, because another step may remove it.
// - Post reads the file and the state. The record with the later phase counts.
// - If the state is lost, post finds main's file by its name. The name has a hash of what main and post of a step share.
//   If two steps of a job have the same service and the same target, their files have the same hash, and post finds both.
// - If main still runs, post first signals it and waits for its exit. Only main can receive the id of a start in flight.
// - Then post cancels the run, warns, or does nothing, as the record says.
//
// post.ts loads this file before everything else, so it must load little. recorder.ts is main's side of the record.

/** The phases of main, in their order. */
const PHASES = ['nothing started', 'starting', 'started', 'done'] as const

export interface StepRecord extends MainProcess {
  /** The path of main's file. */
  readonly file: string
  readonly phase: (typeof PHASES)[number]
  /** Given in the phase "started". */
  readonly runId?: string | undefined
  /** Given in the phase "started": whether post may cancel the run. */
  readonly mayCancel?: boolean | undefined
}

/** Undefined if the text is not a whole record. */
export function parseRecord(text: string): StepRecord | undefined {
  const json = parseJson(text)
  if (!isObject(json)) return undefined
  const { pid, startTime, bootId, file, runId, mayCancel } = json
  const phase = PHASES.find((known) => known === json.phase)
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

/** What one main left for post: its record, its file, and perhaps its process. */
export type Handover = ReturnType<typeof handover>

/**
 * Finds the handover of the record in the runner's state. If the state is lost, finds the handover of each file that has
 * this step's hash, and removes each file without a whole record.
 */
export function findHandovers(env: NodeJS.ProcessEnv, recordOfState: StepRecord | undefined): Handover[] {
  if (recordOfState !== undefined) return [handover(recordOfState, isNamedFor(env, recordOfState.file))]
  return findStepFiles(env).flatMap((file) => {
    const text = readStepFile(file)
    const record = lastRecord(text)
    // Post reads and removes the file that it found, whatever path stands in it.
    if (record !== undefined) return [handover({ ...record, file }, true)]
    if (text !== undefined) removeStepFile(file)
    return []
  })
}

function handover(firstFound: StepRecord, hasSameInputs: boolean) {
  // `firstFound` may be out of date. Its process and its file are still right, because they are the same in all records of a
  // main. Only `readRecord` reads the file again.
  return {
    /**
     * False if the inputs now may name another project or service. GitHub evaluates the inputs again for post, and a
     * later step may have changed a value, for example an environment variable.
     */
    hasSameInputs,
    /** The latest record of this main. */
    readRecord: () => latestRecord(firstFound, readStepFile(firstFound.file)),
    isMainRunning: () => isRunning(firstFound),
    canSignalMain: () => canSignal(firstFound),
    signalMain: (signal: 'SIGHUP' | 'SIGKILL') => sendSignal(firstFound, signal),
    removeFile: () => removeStepFile(firstFound.file),
  }
}

/**
 * `firstFound` is a record of the runner's state or of main's file. Returns `firstFound` or the last whole record that is
 * in the file now, whichever has the later phase. If both phases are equal, so are the records. If the file is empty, main
 * has emptied it, because nothing is left to do.
 */
export function latestRecord(firstFound: StepRecord, fileText: string | undefined): StepRecord {
  if (fileText === '') return { ...firstFound, phase: 'done' }
  const ofFile = lastRecord(fileText)
  if (ofFile === undefined) return firstFound
  return PHASES.indexOf(firstFound.phase) > PHASES.indexOf(ofFile.phase) ? firstFound : ofFile
}

/** The last whole record in main's file. */
export function lastRecord(fileText = ''): StepRecord | undefined {
  const records = fileText.split('\n').map(parseRecord)
  return records.findLast((record) => record !== undefined)
}
