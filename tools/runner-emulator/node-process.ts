import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { LineSplitter } from './line-splitter.ts'

/** How long the runner lets a cancelled process live after each signal. */
export const SIGINT_GRACE_MS = 7500
export const SIGTERM_GRACE_MS = 2500
/** So long after its exit a process counts as finished, even if something else still holds its pipes. */
export const PIPES_GRACE_MS = 5000

export interface GracePeriods {
  readonly sigintGraceMs?: number | undefined
  readonly sigtermGraceMs?: number | undefined
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>

export interface NodeProcessOptions {
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly onLine: (line: string, stream: 'stdout' | 'stderr') => void
  /** Real time unless given. */
  readonly sleep?: Sleep | undefined
}

export interface ProcessExit {
  readonly exitCode: number | null
  /** The signal that ended it, if one did. */
  readonly signal: NodeJS.Signals | null
  /** Why there never was a process, such as an environment that is too large. */
  readonly startError?: string | undefined
  /** False if something else held a pipe open and the runner stopped waiting. */
  readonly pipesClosed: boolean
  /** What was sent to it, in order. */
  readonly signalsSent: readonly NodeJS.Signals[]
}

/** One node process, started and ended as the runner does it. */
export class NodeProcess {
  readonly pid: number | undefined
  /** Settles when it has exited and both pipes are closed, or PIPES_GRACE_MS after the exit. */
  readonly exit: Promise<ProcessExit>

  readonly #child: ChildProcess | undefined
  readonly #sleep: Sleep
  readonly #signalsSent: NodeJS.Signals[] = []

  constructor({ script, cwd, env, onLine, sleep = realSleep }: NodeProcessOptions) {
    this.#sleep = sleep
    try {
      // No `detached`: the step shares the runner's process group, and every signal goes to its one process id.
      this.#child = spawn(process.execPath, [script], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
    } catch (error) {
      // An environment that the operating system refuses is thrown here, not emitted.
      this.exit = Promise.resolve(exitWithoutStart(error))
      return
    }
    this.pid = this.#child.pid
    this.#child.stdin?.on('error', () => {}).end()
    this.exit = this.#waitForExit(this.#child, onLine)
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends the signal to node's own process id only; false if no process was there to receive it. */
  signal(signal: NodeJS.Signals): boolean {
    if (!this.isRunning || this.#child?.kill(signal) !== true) return false
    this.#signalsSent.push(signal)
    return true
  }

  /** SIGINT, then SIGTERM, then SIGKILL, with a grace period after the first two. */
  async cancel(graces: GracePeriods = {}): Promise<ProcessExit> {
    this.signal('SIGINT')
    if (await this.#settlesWithin(graces.sigintGraceMs ?? SIGINT_GRACE_MS, this.exit)) return this.exit
    return this.terminate(graces)
  }

  /** SIGTERM, then SIGKILL, with a grace period in between. */
  async terminate({ sigtermGraceMs = SIGTERM_GRACE_MS }: GracePeriods = {}): Promise<ProcessExit> {
    this.signal('SIGTERM')
    if (await this.#settlesWithin(sigtermGraceMs, this.exit)) return this.exit
    this.signal('SIGKILL')
    return this.exit
  }

  /** Closes our end of the pipe: the next write there fails. */
  closePipe(stream: 'stdout' | 'stderr'): void {
    this.#child?.[stream]?.destroy()
  }

  async #settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
    const timer = new AbortController()
    const isLate = this.#sleep(ms, timer.signal).then(
      () => false,
      () => false,
    )
    const isInTime = await Promise.race([promise.then(() => true), isLate])
    timer.abort()
    return isInTime
  }

  async #waitForExit(child: ChildProcess, onLine: NodeProcessOptions['onLine']): Promise<ProcessExit> {
    const allClosed = Promise.all([readPipe(child, 'stdout', onLine), readPipe(child, 'stderr', onLine)])
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const failed = new Promise<Error>((resolve) => child.once('error', resolve))
    const startError = await Promise.race([exited, failed])
    if (startError !== undefined && child.pid === undefined) return exitWithoutStart(startError)
    await exited
    const pipesClosed = await this.#settlesWithin(PIPES_GRACE_MS, allClosed)
    child.stdout?.destroy()
    child.stderr?.destroy()
    return { exitCode: child.exitCode, signal: child.signalCode, pipesClosed, signalsSent: this.#signalsSent }
  }
}

const realSleep: Sleep = (ms, signal) => delay(ms, undefined, { signal })

function exitWithoutStart(error: unknown): ProcessExit {
  const startError = error instanceof Error ? error.message : String(error)
  return { exitCode: null, signal: null, startError, pipesClosed: true, signalsSent: [] }
}

function readPipe(child: ChildProcess, name: 'stdout' | 'stderr', onLine: NodeProcessOptions['onLine']): Promise<void> {
  const pipe = child[name]
  if (pipe === null) return Promise.resolve()
  const splitter = new LineSplitter((line) => onLine(line, name))
  pipe.on('data', (chunk: Buffer) => splitter.write(chunk))
  // A pipe that we closed ourselves has no end, only a close: its last half line is lost, as with the runner.
  pipe.on('end', () => splitter.end())
  pipe.on('error', () => {})
  return new Promise((resolve) => pipe.once('close', () => resolve()))
}

/**
 * Kills what a job left running, as the runner does at the end of a job: it knows its own by a variable that every
 * process inherits. Without /proc, only the step's own processes can be killed.
 */
export async function killProcessesWith(variable: string): Promise<void> {
  const pids = await readdir('/proc').catch(() => [])
  await Promise.all(
    pids
      .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
      .map(async (pid) => {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
        if (!environment.split('\0').includes(variable)) return
        try {
          process.kill(Number(pid), 'SIGKILL')
        } catch {
          // It exited in the meantime.
        }
      }),
  )
}
