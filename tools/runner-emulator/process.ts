import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { LineSplitter } from './lines.ts'

/** The runner's own patience with a step it cancels. */
export const SIGINT_GRACE_MS = 7500
export const SIGTERM_GRACE_MS = 2500
/** A process that is gone counts as ended after so long, whoever still holds its pipes. */
const PIPES_GRACE_MS = 5000

export interface Graces {
  readonly sigintGraceMs?: number
  readonly sigtermGraceMs?: number
}

export interface StepProcessOptions {
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly onLine: (line: string, stream: 'stdout' | 'stderr') => void
}

export interface ProcessEnd {
  readonly exitCode: number | null
  /** The signal that ended it, where one did. */
  readonly signal: NodeJS.Signals | null
  /** Why there never was a process, such as an environment that is too large. */
  readonly startError?: string
  /** False where something else held a pipe open and the runner stopped waiting. */
  readonly pipesClosed: boolean
  readonly durationMs: number
  /** What was sent to it, in order. */
  readonly signalsSent: readonly NodeJS.Signals[]
}

/** One node process, started and ended as the runner does it. */
export class StepProcess {
  readonly pid: number | undefined
  readonly ended: Promise<ProcessEnd>

  readonly #child: ChildProcess | undefined
  readonly #signalsSent: NodeJS.Signals[] = []
  readonly #startedAtMs = performance.now()

  constructor({ script, cwd, env, onLine }: StepProcessOptions) {
    try {
      // No `detached`: the step shares the runner's process group, and every signal goes to its one process id.
      this.#child = spawn(process.execPath, [script], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
    } catch (error) {
      // An environment that the operating system refuses is thrown here, not emitted.
      this.ended = Promise.resolve(this.#endWithoutStart(error))
      return
    }
    this.pid = this.#child.pid
    this.#child.stdin?.on('error', () => {}).end()
    this.ended = this.#waitForEnd(this.#child, onLine)
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends the signal to node's own process id only; false where there was nobody to send it to. */
  signal(signal: NodeJS.Signals): boolean {
    if (!this.isRunning || this.#child?.kill(signal) !== true) return false
    this.#signalsSent.push(signal)
    return true
  }

  /** SIGINT, then SIGTERM, then SIGKILL, each with its time to end in between. */
  async cancel({
    sigintGraceMs = SIGINT_GRACE_MS,
    sigtermGraceMs = SIGTERM_GRACE_MS,
  }: Graces = {}): Promise<ProcessEnd> {
    this.signal('SIGINT')
    if (await this.#endsWithin(sigintGraceMs)) return this.ended
    this.signal('SIGTERM')
    if (await this.#endsWithin(sigtermGraceMs)) return this.ended
    this.signal('SIGKILL')
    return this.ended
  }

  /** Closes our end of the pipe: the next write there fails. */
  closePipe(stream: 'stdout' | 'stderr'): void {
    this.#child?.[stream]?.destroy()
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController()
    const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
    const inTime = await Promise.race([this.ended.then(() => true), late])
    timer.abort()
    return inTime
  }

  async #waitForEnd(child: ChildProcess, onLine: StepProcessOptions['onLine']): Promise<ProcessEnd> {
    const pipesClosed = Promise.all([readPipe(child, 'stdout', onLine), readPipe(child, 'stderr', onLine)])
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const failed = new Promise<Error>((resolve) => child.once('error', resolve))
    const startError = await Promise.race([exited, failed])
    if (startError !== undefined && child.pid === undefined) return this.#endWithoutStart(startError)
    await exited
    const timer = new AbortController()
    const late = delay(PIPES_GRACE_MS, false, { signal: timer.signal }).catch(() => false)
    const closedInTime = await Promise.race([pipesClosed.then(() => true), late])
    timer.abort()
    child.stdout?.destroy()
    child.stderr?.destroy()
    return {
      exitCode: child.exitCode,
      signal: child.signalCode,
      pipesClosed: closedInTime,
      durationMs: performance.now() - this.#startedAtMs,
      signalsSent: this.#signalsSent,
    }
  }

  #endWithoutStart(error: unknown): ProcessEnd {
    return {
      exitCode: null,
      signal: null,
      startError: error instanceof Error ? error.message : String(error),
      pipesClosed: true,
      durationMs: performance.now() - this.#startedAtMs,
      signalsSent: [],
    }
  }
}

function readPipe(child: ChildProcess, name: 'stdout' | 'stderr', onLine: StepProcessOptions['onLine']): Promise<void> {
  const pipe = child[name]
  if (pipe === null) return Promise.resolve()
  const splitter = new LineSplitter((line) => onLine(line, name))
  pipe.on('data', (chunk: Buffer) => splitter.write(chunk))
  // A pipe that we closed ourselves never ends, it only closes: its last half line is lost, as with the runner.
  pipe.on('end', () => splitter.end())
  pipe.on('error', () => {})
  return new Promise((resolve) => pipe.once('close', () => resolve()))
}

/**
 * Ends what a job left running, as the runner does when a job is over: it knows its own by a variable that every
 * process inherits. Where there is no /proc, only the step's own processes can be ended.
 */
export async function endProcessesWith(variable: string): Promise<void> {
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
          // It ended in the meantime.
        }
      }),
  )
}
