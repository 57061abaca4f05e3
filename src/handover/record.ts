import { isObject, parseJson } from '../text/json.ts'
import { canSignal, isRunning, kill, type MainProcess } from './main-process.ts'
import { findStepFiles, hasHashOf, readStepFile, removeStepFile } from './step-file.ts'

// Main can be killed at any moment. So main writes a record of what is left to do for the step, and post reads it.
//
// - Main writes the record four times: when it begins, before it starts a run, when it knows the run's id, and when
//   nothing is left to do. Each time, the record has the next phase.
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

/** How far main has come, in the order in which main reaches them. */
const PHASES = ['nothing started', 'starting', 'started', 'done'] as const

export interface StepRecord extends MainProcess {
  /** The path of main's file. */
  readonly file: string
  readonly phase: (typeof PHASES)[number]
  /** Given in the phase "started". */
  readonly runId?: string | undefined
  /** Given in the phase "started": whether post should cancel the run if main is killed. */
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

/** A record that post finds, and the main that wrote it. */
export type FoundRecord = ReturnType<typeof foundRecord>

/** Finds the record in the runner's state. If the state is lost, finds the record in each file that has this step's hash. */
export function findRecords(env: NodeJS.ProcessEnv, recordOfState: StepRecord | undefined): FoundRecord[] {
  if (recordOfState !== undefined) return [foundRecord(recordOfState, hasHashOf(env, recordOfState.file))]
  return findStepFiles(env).flatMap((file) => {
    const record = lastRecord(readStepFile(file))
    if (record !== undefined) return [foundRecord({ ...record, file }, true)]
    removeStepFile(file)
    return []
  })
}

function foundRecord(first: StepRecord, hasSameInputs: boolean) {
  // All records of a main name the same process and the same file.
  return {
    /**
     * False if the inputs now may name another project or service. GitHub evaluates the inputs again for post, and a
     * later step may have changed a value, for example an environment variable.
     */
    hasSameInputs,
    /** The latest record of this main. */
    read: () => latestRecord(first, readStepFile(first.file)),
    isMainRunning: () => isRunning(first),
    canSignalMain: () => canSignal(first),
    signalMain: (signal: 'SIGHUP' | 'SIGKILL') => kill(first, signal),
    removeFile: () => removeStepFile(first.file),
  }
}

/**
 * The record with the later phase: the known record, or the last whole record in main's file. If both phases are equal,
 * so are the records. If the file is empty, main has emptied it, because nothing is left to do.
 */
export function latestRecord(known: StepRecord, fileText: string | undefined): StepRecord {
  if (fileText === '') return { ...known, phase: 'done' }
  const ofFile = lastRecord(fileText)
  if (ofFile === undefined) return known
  return PHASES.indexOf(known.phase) > PHASES.indexOf(ofFile.phase) ? known : ofFile
}

/** The last whole record in main's file. */
export function lastRecord(fileText = ''): StepRecord | undefined {
  const records = fileText.split('\n').map(parseRecord)
  return records.findLast((record) => record !== undefined)
}
