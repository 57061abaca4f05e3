import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '../frameworks/framework.ts'
import { readIfPossible } from '../runs/processes.ts'
import type { FinalStatus } from '../runs/run.ts'

/** What the service should serve. */
export interface Order {
  /** The folder of the project, or the configuration file after `--config`. */
  readonly args: readonly string[]
  readonly key: string
  readonly runLimitMinutes: number | undefined
  /** What the job has checked out. */
  readonly workspace: string
  readonly commit: string
}

export type Start =
  | { readonly kind: 'up'; readonly url: string; readonly projects: readonly ServedProject[] }
  | { readonly kind: 'failed'; readonly reason: string }

interface ServedProject {
  readonly id: string
  readonly folder: string
  readonly framework: string
  readonly commit?: string | undefined
}

/** A finished run that did not pass. */
export interface FailedRun {
  readonly runId: string
  readonly projectId: string
  readonly status: FinalStatus
  readonly problem?: string | undefined
  readonly output?: string | undefined
}

/**
 * The private folder through which main, the service and post exchange files. The service ends when its order is gone.
 * Post withdraws the order. If post never runs, the runner removes the folder at the end of the job.
 */
export class ServiceFolder {
  readonly path: string
  readonly logFile: string
  /** The service keeps its runs here. They show what a killed service left. */
  readonly dataFolder: string

  constructor(path: string) {
    this.path = path
    this.logFile = join(path, 'log')
    this.dataFolder = join(path, 'data')
  }

  static create(temporaryFolder: string): ServiceFolder {
    return new ServiceFolder(mkdtempSync(join(temporaryFolder, 'test-run-service-')))
  }

  exists(): boolean {
    return existsSync(this.path)
  }

  give(order: Order): void {
    writeFileSync(this.#file('order'), JSON.stringify(order))
  }

  /** Undefined if the order was withdrawn or the job has ended. */
  readOrder(): Order | undefined {
    return this.#read('order')
  }

  hasOrder(): boolean {
    return existsSync(this.#file('order'))
  }

  /** After this, the service ends. A service that begins later finds no order and ends too. */
  withdrawOrder(): void {
    if (this.hasOrder()) renameSync(this.#file('order'), this.#file('withdrawn-order'))
  }

  writeProcessId(): void {
    this.#write('process-id', process.pid)
  }

  /** The process id of the service while it lives. Another process may have got the id, so the arguments are compared. */
  livingProcess(): number | undefined {
    const pid = this.#read<number>('process-id')
    return pid !== undefined && argumentsOf(pid).includes(this.path) ? pid : undefined
  }

  hasBegun(): boolean {
    return existsSync(this.#file('process-id'))
  }

  writeStart(start: Start): void {
    this.#write('start', start)
  }

  readStart(): Start | undefined {
    return this.#read('start')
  }

  /** Tells post that the service has left nothing behind. */
  writeStopped(): void {
    this.#write('stopped', true)
  }

  hasStopped(): boolean {
    return existsSync(this.#file('stopped'))
  }

  addFailedRun(run: FailedRun): void {
    appendFileSync(this.#file('failed-runs'), `${JSON.stringify(run)}\n`)
  }

  readFailedRuns(): readonly FailedRun[] {
    const lines = readIfPossible(this.#file('failed-runs')).split('\n')
    return lines.flatMap((line) => (parseJson(line) as FailedRun | undefined) ?? [])
  }

  readLog(): string {
    return readIfPossible(this.logFile)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 })
  }

  #file(name: string): string {
    return join(this.path, `${name}.json`)
  }

  #read<T>(name: string): T | undefined {
    return parseJson(readIfPossible(this.#file(name))) as T | undefined
  }

  /** A reader finds the whole file or no file. */
  #write(name: string, value: unknown): void {
    const unfinished = this.#file(`${name}-unfinished`)
    writeFileSync(unfinished, JSON.stringify(value))
    renameSync(unfinished, this.#file(name))
  }
}

/** Empty if no such process lives. On Linux, a container may have no `ps`. */
function argumentsOf(pid: number): string {
  if (process.platform === 'linux') return readIfPossible(`/proc/${pid}/cmdline`)
  try {
    return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}
