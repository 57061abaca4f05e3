import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** How long the runner lets a cancelled process live after each signal. */
export const SIGINT_GRACE_MS = 7500
const SIGTERM_GRACE_MS = 2500
/** This long after its exit, a process counts as finished, even if another process still holds its pipes. */
const PIPES_GRACE_MS = 5000

export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>

const realSleep: Sleep = (ms, signal) => delay(ms, undefined, { signal })

export interface NodeProcessOptions {
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The default is real time. */
  readonly sleep?: Sleep | undefined
}

export interface ProcessExit {
  readonly exitCode: number | null
  /** The signal that ended it, if one did. */
  readonly signal: NodeJS.Signals | null
  /** What was sent to it, in order. */
  readonly signalsSent: readonly NodeJS.Signals[]
}

/** One node process, started and ended as the runner does it. */
export class NodeProcess {
  /** Settles when it has exited and both pipes are closed, or PIPES_GRACE_MS after the exit. */
  readonly exit: Promise<ProcessExit>
  /** What was sent to it, in order. */
  readonly signalsSent: NodeJS.Signals[] = []

  readonly #child: ChildProcess
  readonly #sleep: Sleep
  readonly #pipes: readonly Readable[]

  constructor(options: NodeProcessOptions, onLine: (line: string) => void) {
    const { script, cwd, env, sleep = realSleep } = options
    this.#sleep = sleep
    // No `detached`: the step shares the runner's process group, and every signal goes to its one process id.
    const child = spawn(process.execPath, [script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    this.#child = child
    this.#pipes = [child.stdout, child.stderr]
    this.exit = this.#waitForExit(Promise.all(this.#pipes.map((pipe) => readLines(pipe, onLine))))
  }

  /** Sends the signal only to node's own process id, if the process still runs. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.kill(signal)) this.signalsSent.push(signal)
  }

  /** Closes our ends of the pipes, so that the next write of the process fails. */
  closePipes(): void {
    for (const pipe of this.#pipes) pipe.destroy()
  }

  protected async sendSignals(): Promise<void> {
    for (const [signal, ms] of [['SIGINT', SIGINT_GRACE_MS] as const, ['SIGTERM', SIGTERM_GRACE_MS] as const]) {
      this.signal(signal)
      if (await this.#settlesWithin(ms, this.exit)) return
    }
    this.signal('SIGKILL')
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

  async #waitForExit(pipesClosing: Promise<unknown>): Promise<ProcessExit> {
    await once(this.#child, 'exit')
    await this.#settlesWithin(PIPES_GRACE_MS, pipesClosing)
    this.closePipes()
    return { exitCode: this.#child.exitCode, signal: this.#child.signalCode, signalsSent: this.signalsSent }
  }
}

function readLines(pipe: Readable, onLine: (line: string) => void): Promise<void> {
  let rest = ''
  pipe.setEncoding('utf8').on('data', (text: string) => {
    // A `\r` at the end may be the first half of `\r\n`.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
  // If we close a pipe, it emits "close" but no "end". Its last half line is lost, as in the runner.
  pipe.on('end', () => rest !== '' && onLine(rest.replace(/\r$/, '')))
  pipe.on('error', () => {})
  return new Promise((resolve) => pipe.once('close', () => resolve()))
}

/**
 * Kills the processes that a job left running, as the runner does at the end of a job. They have a variable that every
 * child inherits. Without /proc, only the step's own processes can be killed.
 */
export function killProcessesWith(variable: string): void {
  const pids = existsSync('/proc') ? readdirSync('/proc') : []
  for (const pid of pids.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // The process belongs to another user, or has exited in the meantime.
    }
  }
}
