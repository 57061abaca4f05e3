import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { FileCommandFiles, FileCommandResults } from './file-commands.ts'
import type { SecretMasks } from './masks.ts'
import { type GracePeriods, NodeProcess, type NodeProcessOptions, type ProcessExit } from './node-process.ts'
import type { Annotation, StepLog } from './workflow-commands.ts'

/** The script of `action.yml` that a process runs. */
export type Phase = 'main' | 'post'

/**
 * Where the steps run, unless on the machine itself: in a container of Docker, or in one that container hooks made, as
 * Actions Runner Controller has them, with or without a volume.
 */
export type Container = 'docker' | 'hooks' | 'hooks without volume'

export type SkipReason = 'no post' | 'main never started' | 'post-if' | EndOfRunner

/** The runner is stopped; its worker is killed; its machine is gone. Post never runs. */
export type EndOfRunner = 'shutdown' | 'killed worker' | 'lost runner'

/** Why the runner ended a process. */
export type EndedBy = 'cancel' | 'timeout' | 'shutdown'

/** What one process of the step did, as GitHub would show it. */
export interface ProcessResult extends ProcessExit, FileCommandResults {
  readonly phase: Phase
  readonly conclusion: 'success' | 'failure' | 'cancelled' | 'skipped'
  /** Set if the conclusion is `skipped`. */
  readonly skippedBecause?: SkipReason | undefined
  /** The first reason stands. */
  readonly endedBy?: EndedBy | undefined
  /** The step failed and the action reported no error: nobody would learn why. */
  readonly failedSilently: boolean
  /** As GitHub shows it. */
  readonly log: readonly string[]
  /** The first ten of each level. */
  readonly annotations: readonly Annotation[]
}

const NOTHING_READ: FileCommandResults = {
  outputs: {},
  state: {},
  env: {},
  summary: '',
  files: { OUTPUT: '', STATE: '', STEP_SUMMARY: '', ENV: '', PATH: '' },
}

/** The result of a phase that a job does not run. */
export function skippedPhase(phase: Phase, skippedBecause: SkipReason): ProcessResult {
  const exit = { exitCode: null, signal: null, pipesClosed: true, signalsSent: [], failedSilently: false }
  return { phase, conclusion: 'skipped', skippedBecause, ...exit, ...NOTHING_READ, log: [], annotations: [] }
}

export interface ActionProcessOptions extends Omit<NodeProcessOptions, 'onLine'> {
  readonly phase: Phase
  readonly actionName: string
  readonly files: FileCommandFiles
  readonly log: StepLog
  readonly masks: SecretMasks
  readonly timeoutMs: number | undefined
  readonly container: Container | undefined
  readonly onResult: (result: ProcessResult) => void
}

/** Main or post, from its start to its result. */
export class ActionProcess {
  readonly #options: ActionProcessOptions
  readonly #process: NodeProcess
  readonly #lines = new EventEmitter().setMaxListeners(0)
  readonly #result: Promise<ProcessResult>
  /** Settles if the runner goes on while the process lives. */
  readonly #left = Promise.withResolvers<ProcessExit>()
  #isLeft: 'by its client' | 'for good' | undefined
  #endedBy: EndedBy | undefined

  constructor(options: ActionProcessOptions) {
    this.#options = options
    this.#process = new NodeProcess({ ...options, onLine: (line) => this.#read(line) })
    this.#result = Promise.race([this.#process.exit, this.#left.promise]).then((exit) => this.#finish(exit))
    // Whoever asks for the result meets its error; nobody need ask.
    this.#result.catch(() => {})
    if (options.timeoutMs !== undefined) void this.#timeOutAfter(options.timeoutMs)
  }

  /** Undefined if the operating system refused to start it. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  get isRunning(): boolean {
    return this.#process.isRunning
  }

  /** The log so far. */
  get log(): readonly string[] {
    return this.#options.log.lines
  }

  /** Settles when it has exited, even if its pipes are open. */
  get exited(): Promise<unknown> {
    return this.#process.exited
  }

  /** How the process itself ended. In a container that can be long after the step's end. */
  get exit(): Promise<ProcessExit> {
    return this.#process.exit
  }

  /**
   * What the runner knows at the step's end: when it has exited and both pipes are closed, or five seconds after the
   * exit. Rejects if a message would have made the runner's worker abort.
   */
  result(): Promise<ProcessResult> {
    return this.#result
  }

  /** The first line of the log that matches, now or later. Rejects if the process ends without one. */
  async waitForLine(pattern: RegExp, signal?: AbortSignal): Promise<string> {
    const ended = this.#result.then(
      () => true,
      () => true,
    )
    for (let from = 0, hasEnded = false; ; ) {
      const line = this.log.slice(from).find((candidate) => candidate.search(pattern) !== -1)
      if (line !== undefined) return line
      if (hasEnded)
        throw new Error(`${this.#options.phase} ended without a line that matches ${pattern}:\n${this.log.join('\n')}`)
      from = this.log.length
      hasEnded = await Promise.race([ended, once(this.#lines, 'line', { signal }).then(() => false)])
    }
  }

  /** Sends one signal, as anybody could; false if nothing runs. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#process.signal(signal)
  }

  /** The workflow is cancelled: SIGINT, SIGTERM, SIGKILL with grace periods in between; in a container no signal. */
  cancel(graces: GracePeriods = {}): Promise<ProcessResult> {
    return this.#end('cancel', () => this.#process.cancel(graces))
  }

  /** SIGTERM comes first, as from a service manager that stops the runner's processes; SIGKILL follows. */
  terminate(graces: GracePeriods = {}): Promise<ProcessResult> {
    return this.#end('cancel', () => this.#process.terminate(graces))
  }

  /** The step's own time limit has passed: as with a cancel, but it has failed. */
  timeOut(graces: GracePeriods = {}): Promise<ProcessResult> {
    return this.#end('timeout', () => this.#process.cancel(graces))
  }

  /** The runner is being stopped: as with a cancel, also for post. */
  shutDown(graces: GracePeriods = {}): Promise<ProcessResult> {
    return this.#end('shutdown', () => this.#process.cancel(graces))
  }

  /** Closes the runner's end of one pipe. */
  closePipe(stream: 'stdout' | 'stderr'): void {
    this.#process.closePipe(stream)
  }

  /** The runner goes on without it, and learns nothing of it any more. It may live. */
  giveUp(): void {
    this.#leave('for good')
  }

  /** The process may live, and its pipes are read, but nobody hears of it any more. */
  #leave(how: 'by its client' | 'for good'): void {
    this.#isLeft ??= how
    const { signalsSent } = this.#process
    this.#left.resolve({ exitCode: null, signal: null, pipesClosed: false, signalsSent: [...signalsSent] })
  }

  /** In a container the signals reach only the client of `docker exec`, which forwards none and exits. */
  async #end(by: EndedBy, sendSignals: () => Promise<void>): Promise<ProcessResult> {
    this.#endedBy ??= by
    if (this.#options.container === undefined) await sendSignals()
    else this.#leave('by its client')
    return this.#result
  }

  #read(line: string): void {
    if (this.#isLeft !== undefined) return
    this.#options.log.read(line)
    this.#lines.emit('line')
  }

  async #timeOutAfter(ms: number): Promise<void> {
    const hasResult = new AbortController()
    const abort = (): void => hasResult.abort()
    void this.#result.then(abort, abort)
    await delay(ms, undefined, { signal: hasResult.signal }).catch(() => {})
    if (!hasResult.signal.aborted && this.isRunning) await this.timeOut().catch(() => {})
  }

  #finish(exit: ProcessExit): ProcessResult {
    const { actionName, files, log, masks, onResult, phase, timeoutMs = 0 } = this.#options
    if (exit.startError !== undefined)
      log.reportError(`An error occurred trying to start the process: ${exit.startError}`)
    const ended = this.#conclude(exit)
    // The files count however the process ended, if they are there.
    const read = this.#isLost(ended) ? NOTHING_READ : files.read(log, masks)
    const conclusion = ended === 'success' && log.commandFailed ? 'failure' : ended
    if (this.#endedBy === 'timeout') {
      log.reportError(`The action '${actionName}' has timed out after ${timeoutMs / 60_000} minutes.`)
    } else if (this.#endedBy !== undefined) log.reportError('The operation was canceled.')
    const result: ProcessResult = {
      ...exit,
      ...read,
      phase,
      endedBy: this.#endedBy,
      conclusion,
      failedSilently: conclusion === 'failure' && !log.annotations.some(isErrorOfAction),
      // What post sets is dropped.
      outputs: phase === 'main' ? read.outputs : {},
      log: log.lines,
      annotations: log.annotations,
    }
    onResult(result)
    if (log.fatalMessage !== undefined) {
      throw new Error(
        `The runner's worker would abort, because it cuts this message between the halves of a surrogate pair: ${JSON.stringify(log.fatalMessage)}`,
      )
    }
    return result
  }

  #conclude({ exitCode, startError }: ProcessExit): ProcessResult['conclusion'] {
    const { container } = this.#options
    if (this.#endedBy === 'timeout') return 'failure'
    // The runner ignores the exit code of a cancelled step; with hooks it takes the client's end for a failure.
    if (this.#endedBy !== undefined) return container === undefined || container === 'docker' ? 'cancelled' : 'failure'
    return startError !== undefined || exitCode !== 0 ? 'failure' : 'success'
  }

  /** Hooks without a volume bring the files back after a success alone. */
  #isLost(conclusion: ProcessResult['conclusion']): boolean {
    if (this.#isLeft === 'for good') return true
    return this.#options.container === 'hooks without volume' && conclusion !== 'success'
  }
}

function isErrorOfAction({ level, source }: Annotation): boolean {
  return level === 'error' && source === 'action'
}
