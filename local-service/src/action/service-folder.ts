import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { readRegularFile, removeFolder } from '../machine/files.ts'
import { readIfPossible } from '../machine/processes.ts'

// Tests run as the user of the job. So what is read after they have begun is checked.

/** What the service should serve. */
export interface Order {
  /** The arguments of the command of the service. */
  readonly args: readonly string[]
  readonly key: string
  /** What the job has checked out. */
  readonly workspace: string
  readonly commit: string
}

export type Start =
  | {
      readonly kind: 'up'
      readonly url: string
      readonly projects: readonly StartedProject[]
      /** Lines for the log of main. */
      readonly log: readonly string[]
    }
  | { readonly kind: 'failed'; readonly reason: string }

interface StartedProject {
  readonly id: string
  readonly commit?: string | undefined
}

export interface FinishedRun {
  readonly runId: string
  readonly projectId: string
  readonly status: string
  /** Why the run as a whole did not pass. Absent if its test cases say everything. */
  readonly message?: string | undefined
}

/** The end of a file, or all of it. */
export interface FileTail {
  readonly text: string
  /** How much was left out before the text. */
  readonly leftOutBytes: number
}

/**
 * The private folder through which main, the service and post exchange files. The service ends when its order is gone.
 * Post withdraws the order. If post never runs, the runner removes the folder at the end of the job.
 */
export class ServiceFolder {
  readonly path: string
  /** The service keeps its runs here. They show what a killed service left. */
  readonly dataFolder: string
  /** The service writes the output of each run here, into a folder with the id of the run. */
  readonly outputFolder: string
  readonly #order: string
  readonly #start: string
  readonly #stopped: string
  readonly #finishedRuns: string
  readonly #shown: string
  readonly #log: string

  constructor(path: string) {
    this.path = path
    this.dataFolder = join(path, 'data')
    this.outputFolder = join(path, 'output')
    this.#order = join(path, 'order.json')
    this.#start = join(path, 'start.json')
    this.#stopped = join(path, 'stopped')
    this.#finishedRuns = join(path, 'finished-runs.jsonl')
    this.#shown = join(path, 'shown')
    this.#log = join(path, 'log')
  }

  static create(temporaryFolder: string): ServiceFolder {
    const folder = new ServiceFolder(mkdtempSync(join(temporaryFolder, 'test-run-service-')))
    mkdirSync(folder.outputFolder)
    mkdirSync(folder.#shown)
    return folder
  }

  exists(): boolean {
    return existsSync(this.path)
  }

  give(order: Order): void {
    writeFileSync(this.#order, JSON.stringify(order))
  }

  /** Undefined if the order was withdrawn or the job has ended. */
  readOrder(): Order | undefined {
    return this.hasOrder() ? JSON.parse(readFileSync(this.#order, 'utf8')) : undefined
  }

  hasOrder(): boolean {
    return existsSync(this.#order)
  }

  /** After this, the service ends. A service that begins later finds no order and ends too. */
  withdrawOrder(): void {
    rmSync(this.#order, { recursive: true, force: true })
  }

  /** The process id of the service while it lives. No file says it, because a test could write another id there. */
  livingProcess(): number | undefined {
    return findProcessWith(['index.js', this.path])
  }

  /** Whether the service has begun to use the machine, so that something of it may be left. */
  hasBegun(): boolean {
    return existsSync(this.dataFolder)
  }

  /** Main finds the whole file or no file. */
  writeStart(start: Start): void {
    const unfinished = `${this.#start}-unfinished`
    writeFileSync(unfinished, JSON.stringify(start))
    renameSync(unfinished, this.#start)
  }

  readStart(): Start | undefined {
    return existsSync(this.#start) ? JSON.parse(readFileSync(this.#start, 'utf8')) : undefined
  }

  /** Tells post that the service has left nothing behind. */
  writeStopped(): void {
    if (!this.hasStopped()) writeFileSync(this.#stopped, '')
  }

  hasStopped(): boolean {
    return existsSync(this.#stopped)
  }

  addFinishedRun(run: FinishedRun): void {
    const file = openToAppend(this.#finishedRuns)
    writeFileSync(file, `${JSON.stringify(run)}\n`)
    closeSync(file)
  }

  readFinishedRuns(): readonly FinishedRun[] {
    const lines = readRegularFile(this.#finishedRuns).split('\n')
    return lines.map(parseJson).filter(isFinishedRun)
  }

  /** A gate has read the output of a run up to this byte, and shows it in its log. */
  writeShownBytes(runId: string, bytes: number): void {
    writeFileSync(join(this.#shown, runId), String(bytes))
  }

  readShownBytes(runId: string): number {
    return Number(readRegularFile(join(this.#shown, runId))) || 0
  }

  /** The output from this byte on. The text is empty if the run wrote nothing there. */
  readOutput(runId: string, limitBytes: number, fromByte = 0): FileTail {
    const file = join(this.outputFolder, runId, 'output.txt')
    const bytes = Math.max(0, sizeOf(file) - fromByte)
    const { text } = readEnd(file, Math.min(limitBytes, bytes))
    return { text, leftOutBytes: Math.max(0, bytes - limitBytes) }
  }

  /** Opens the log for a process of the service. */
  openLog(): number {
    return openToAppend(this.#log)
  }

  readLog(limitBytes: number): FileTail {
    return readEnd(this.#log, limitBytes)
  }

  remove(): Promise<void> {
    return removeFolder(this.path)
  }
}

function isFinishedRun(value: unknown): value is FinishedRun {
  if (!isObject(value)) return false
  const { runId, projectId, status, message = '' } = value
  // The id is the name of a folder too.
  const areTexts = [runId, projectId, status, message].every((text) => typeof text === 'string')
  return areTexts && /^[\w-]+$/.test(String(runId))
}

function readEnd(file: string, limitBytes: number): FileTail {
  const text = readRegularFile(file, { limitBytes, readsEnd: true })
  return { text, leftOutBytes: Math.max(0, sizeOf(file) - limitBytes) }
}

function sizeOf(file: string): number {
  return lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** A write to a named pipe that nobody reads would never return. */
function openToAppend(file: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new Error(`${file} is not a regular file`)
}

/** The living process with these last arguments. On Linux, a container may have no `ps`. */
function findProcessWith(lastArguments: readonly string[]): number | undefined {
  if (process.platform === 'linux') {
    const end = lastArguments.map((argument) => `${argument}\0`).join('')
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const found = ids.find((id) => readIfPossible(`/proc/${id}/cmdline`).endsWith(end))
    return found === undefined ? undefined : Number(found)
  }
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], options).split('\n')
  const found = lines.find((line) => line.endsWith(lastArguments.join(' ')))
  return found === undefined ? undefined : Number.parseInt(found, 10)
}
