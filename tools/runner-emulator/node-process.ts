import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { LineSplitter } from './text.ts'

/** How long the runner lets a cancelled process live after each signal. */
export const SIGINT_GRACE_MS = 7500
const SIGTERM_GRACE_MS = 2500
/** So long after its exit a process counts as finished, even if something else still holds its pipes. */
const PIPES_GRACE_MS = 5000

export interface GracePeriods {
  readonly sigintGraceMs?: number | undefined
  readonly sigtermGraceMs?: number | undefined
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>

export interface NodeProcessOptions {
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly onLine: (line: string) => void
  /** Real time unless given. */
  readonly sleep?: Sleep | undefined
  /** Nothing is read from its pipes before this. At once unless given. */
  readonly readLogAfter?: Promise<unknown> | undefined
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
  /** Settles when it has exited, even if its pipes are open. */
  readonly exited: Promise<unknown>
  /** Settles when it has exited and both pipes are closed, or PIPES_GRACE_MS after the exit. */
  readonly exit: Promise<ProcessExit>
  /** What was sent to it, in order. */
  readonly signalsSent: NodeJS.Signals[] = []

  readonly #child: ChildProcess | undefined
  readonly #sleep: Sleep
  #pipes: readonly Readable[] = []

  constructor({ script, cwd, env, onLine, sleep = realSleep, readLogAfter }: NodeProcessOptions) {
    this.#sleep = sleep
    reservePipes(2)
    // On Windows there are none.
    const pipes = unusedPipes.splice(0, 2)
    const [stdout, stderr] = pipes.map(({ writer }) => writer)
    const stdio: StdioOptions = ['ignore', stdout ?? 'pipe', stderr ?? 'pipe']
    try {
      // No `detached`: the step shares the runner's process group, and every signal goes to its one process id.
      const child = spawn(process.execPath, [script], { cwd, env, stdio, windowsHide: true })
      this.#child = child
      this.pid = child.pid
      this.exited = new Promise((resolve) => child.once('exit', () => resolve(undefined)).once('error', resolve))
      this.exit = this.#waitForExit(child, this.#readPipes(pipes, onLine, readLogAfter))
    } catch (error) {
      // An environment that the operating system refuses is thrown here, not emitted.
      for (const { reader } of pipes) closeSync(reader)
      this.exited = Promise.resolve(error)
      this.exit = Promise.resolve(exitWithoutStart(error))
    }
    for (const { writer } of pipes) closeSync(writer)
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends the signal to node's own process id only; false if no process was there to receive it. */
  signal(signal: NodeJS.Signals): boolean {
    if (!this.isRunning || this.#child?.kill(signal) !== true) return false
    this.signalsSent.push(signal)
    return true
  }

  /** SIGINT, then SIGTERM, then SIGKILL, with a grace period after the first two. */
  async cancel(graces: GracePeriods = {}): Promise<void> {
    this.signal('SIGINT')
    if (!(await this.#settlesWithin(graces.sigintGraceMs ?? SIGINT_GRACE_MS, this.exit))) await this.terminate(graces)
  }

  /** SIGTERM, then SIGKILL, with a grace period in between. */
  async terminate({ sigtermGraceMs = SIGTERM_GRACE_MS }: GracePeriods = {}): Promise<void> {
    this.signal('SIGTERM')
    if (!(await this.#settlesWithin(sigtermGraceMs, this.exit))) this.signal('SIGKILL')
  }

  /** Closes our end of the pipe: the next write there fails. */
  closePipe(stream: 'stdout' | 'stderr'): void {
    this.#pipes[stream === 'stdout' ? 0 : 1]?.destroy()
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

  /** Settles when both pipes are closed. */
  async #readPipes(
    pipes: readonly Pipe[],
    onLine: NodeProcessOptions['onLine'],
    after: Promise<unknown> | undefined,
  ): Promise<void> {
    if (after !== undefined) await after
    const { stdout, stderr } = this.#child ?? {}
    const own = [stdout, stderr].filter((pipe) => !!pipe)
    this.#pipes = own.length > 0 ? own : pipes.map(({ reader }) => new Socket({ fd: reader, writable: false }))
    await Promise.all(this.#pipes.map((pipe) => readLines(pipe, onLine)))
  }

  async #waitForExit(child: ChildProcess, pipesClosing: Promise<void>): Promise<ProcessExit> {
    const startError = await this.exited
    if (startError !== undefined) return exitWithoutStart(startError)
    const pipesClosed = await this.#settlesWithin(PIPES_GRACE_MS, pipesClosing)
    for (const pipe of this.#pipes) pipe.destroy()
    return { exitCode: child.exitCode, signal: child.signalCode, pipesClosed, signalsSent: this.signalsSent }
  }
}

export const realSleep: Sleep = (ms, signal) => delay(ms, undefined, { signal })

function exitWithoutStart(error: unknown): ProcessExit {
  const startError = error instanceof Error ? error.message : String(error)
  return { exitCode: null, signal: null, startError, pipesClosed: true, signalsSent: [] }
}

interface Pipe {
  /** File descriptors. */
  readonly reader: number
  readonly writer: number
}

const unusedPipes: Pipe[] = []

/** For a later process, so that its start takes no longer. Many at once: a call of mkfifo costs a third of a start of node. */
export function reservePipes(count = 4): void {
  if (process.platform !== 'win32' && unusedPipes.length < count) unusedPipes.push(...makePipes(16))
}

/** Real pipes, as the runner makes them: they hold 64 kB. What Node makes for a child are sockets, which hold more. */
function makePipes(count: number): readonly Pipe[] {
  const folder = mkdtempSync(join(tmpdir(), 'pipes-'))
  try {
    const paths = Array.from({ length: count }, (_, n) => join(folder, String(n)))
    execFileSync('mkfifo', paths)
    return paths.map((path) => {
      // The reader first: to open the other end waits for one.
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      return { reader, writer: openSync(path, 'w') }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readLines(pipe: Readable, onLine: NodeProcessOptions['onLine']): Promise<void> {
  const splitter = new LineSplitter(onLine)
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
export function killProcessesWith(variable: string): void {
  const pids = existsSync('/proc') ? readdirSync('/proc') : []
  for (const pid of pids.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It is somebody else's, or has exited in the meantime.
    }
  }
}
