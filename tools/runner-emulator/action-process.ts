import { setTimeout as delay } from 'node:timers/promises'
import { FILE_COMMANDS, type FileCommand, type FileCommandFiles } from './environment.ts'
import { parseKeyValueFile, parsePathFile, readSummary, SUMMARY_LIMIT_BYTES } from './file-commands.ts'
import type { SecretMasks } from './masks.ts'
import { type GracePeriods, NodeProcess, type ProcessExit, type Sleep } from './node-process.ts'
import type { Annotation, AnnotationLevel, StepLog } from './workflow-commands.ts'

/** The script of `action.yml` that a process runs. */
export type Phase = 'main' | 'post'

export type SkipReason = 'no post' | 'main never started' | 'post-if' | 'shutdown' | 'lost runner'

/** What one process of the step did, as GitHub would show it. */
export interface ProcessResult extends ProcessExit {
  readonly phase: Phase
  readonly conclusion: 'success' | 'failure' | 'cancelled' | 'skipped'
  /** Set if the conclusion is `skipped`. */
  readonly skippedBecause?: SkipReason | undefined
  /** The step failed and the action reported no error: nobody would learn why. */
  readonly failedSilently: boolean
  /** Of main alone: what post sets is dropped. */
  readonly outputs: Readonly<Record<string, string>>
  readonly state: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly path: readonly string[]
  /** The part of the job summary that GitHub shows: masked, and empty if GitHub drops it. */
  readonly summary: string
  /** The contents of the runner's files, before any masking. */
  readonly files: Readonly<Record<FileCommand, string>>
  /** As GitHub shows it. */
  readonly log: readonly string[]
  readonly rawLog: readonly RawLine[]
  /** The first ten of each level. */
  readonly annotations: readonly Annotation[]
  /** All of them, including those that GitHub does not keep. */
  readonly annotationCounts: Readonly<Record<AnnotationLevel, number>>
  /** The secrets that are masked by now. */
  readonly masks: readonly string[]
}

/** A line as the process wrote it. */
export interface RawLine {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** The result of a phase that a job does not run. */
export function skippedPhase(phase: Phase, skippedBecause: SkipReason, masks: SecretMasks): ProcessResult {
  return {
    phase,
    conclusion: 'skipped',
    skippedBecause,
    exitCode: null,
    signal: null,
    pipesClosed: true,
    signalsSent: [],
    failedSilently: false,
    outputs: {},
    state: {},
    env: {},
    path: [],
    summary: '',
    files: { OUTPUT: '', STATE: '', STEP_SUMMARY: '', ENV: '', PATH: '' },
    log: [],
    rawLog: [],
    annotations: [],
    annotationCounts: { error: 0, warning: 0, notice: 0 },
    masks: masks.secrets,
  }
}

export interface ActionProcessOptions {
  readonly phase: Phase
  readonly actionName: string
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly files: FileCommandFiles
  readonly log: StepLog
  readonly masks: SecretMasks
  readonly timeoutMs: number | undefined
  readonly sleep: Sleep | undefined
  readonly onResult: (result: ProcessResult) => void
}

/** Main or post, from its start to its result. */
export class ActionProcess {
  readonly #options: ActionProcessOptions
  readonly #process: NodeProcess
  readonly #rawLog: RawLine[] = []
  readonly #lineWaiters = new Set<() => void>()
  readonly #result: Promise<ProcessResult>
  /** Why the runner ended it. The first reason stands. */
  #endedBy: 'cancel' | 'timeout' | undefined

  constructor(options: ActionProcessOptions) {
    this.#options = options
    const { script, cwd, env, sleep } = options
    const onLine = (text: string, stream: RawLine['stream']): void => this.#read({ stream, text })
    this.#process = new NodeProcess({ script, cwd, env, sleep, onLine })
    this.#result = this.#process.exit.then((exit) => this.#finish(exit))
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

  /** Known when it has exited and both pipes are closed, or five seconds after the exit. */
  result(): Promise<ProcessResult> {
    return this.#result
  }

  /** The first line of the log that matches, now or later. Rejects if the process ends without one. */
  async waitForLine(pattern: RegExp, signal?: AbortSignal): Promise<string> {
    let hasResult = false
    void this.#result.then(() => {
      hasResult = true
      this.#wakeLineWaiters()
    })
    for (let from = 0; ; ) {
      const line = this.log.slice(from).find((candidate) => candidate.search(pattern) !== -1)
      if (line !== undefined) return line
      if (hasResult)
        throw new Error(`${this.#options.phase} ended without a line that matches ${pattern}:\n${this.log.join('\n')}`)
      signal?.throwIfAborted()
      from = this.log.length
      await this.#nextLine(signal)
    }
  }

  /** Sends one signal, as anybody could; false if nothing runs. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#process.signal(signal)
  }

  /** The workflow is cancelled: SIGINT, SIGTERM, SIGKILL with grace periods in between. */
  async cancel(graces: GracePeriods = {}): Promise<ProcessResult> {
    this.#endedBy ??= 'cancel'
    await this.#process.cancel(graces)
    return this.#result
  }

  /** SIGTERM comes first, as from a service manager that stops the runner's processes; SIGKILL follows. */
  async terminate(graces: GracePeriods = {}): Promise<ProcessResult> {
    this.#endedBy ??= 'cancel'
    await this.#process.terminate(graces)
    return this.#result
  }

  /** The step's own time limit has passed: the signals of a cancel, but it has failed. */
  async timeOut(graces: GracePeriods = {}): Promise<ProcessResult> {
    this.#endedBy ??= 'timeout'
    await this.#process.cancel(graces)
    return this.#result
  }

  /** Closes the runner's end of one pipe. */
  closePipe(stream: RawLine['stream']): void {
    this.#process.closePipe(stream)
  }

  #read(line: RawLine): void {
    this.#rawLog.push(line)
    this.#options.log.read(line.text)
    this.#wakeLineWaiters()
  }

  #wakeLineWaiters(): void {
    for (const wake of [...this.#lineWaiters]) wake()
  }

  #nextLine(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#lineWaiters.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#lineWaiters.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  async #timeOutAfter(ms: number): Promise<void> {
    const hasResult = new AbortController()
    void this.#result.then(() => hasResult.abort())
    await delay(ms, undefined, { signal: hasResult.signal }).catch(() => {})
    if (this.isRunning) await this.timeOut()
  }

  #finish(exit: ProcessExit): ProcessResult {
    const { actionName, files, log, masks, onResult, phase, timeoutMs = 0 } = this.#options
    if (exit.startError !== undefined)
      log.reportError(`An error occurred trying to start the process: ${exit.startError}`)
    // The files count however the process ended.
    const read = readFileCommands(files, log, masks)
    for (const [name, value] of log.outputs) read.outputs.set(name, value)
    for (const [name, value] of log.state) read.state.set(name, value)
    if (this.#endedBy === 'cancel') log.reportError('The operation was canceled.')
    if (this.#endedBy === 'timeout') {
      log.reportError(`The action '${actionName}' has timed out after ${timeoutMs / 60_000} minutes.`)
    }
    const conclusion = this.#conclude(exit)
    const result: ProcessResult = {
      ...exit,
      phase,
      conclusion,
      failedSilently: conclusion === 'failure' && !log.annotations.some(isErrorOfAction),
      outputs: phase === 'main' ? Object.fromEntries(read.outputs) : {},
      state: Object.fromEntries(read.state),
      env: Object.fromEntries(read.env),
      path: read.path,
      summary: read.summary,
      files: read.files,
      log: log.lines,
      rawLog: this.#rawLog,
      annotations: log.annotations,
      annotationCounts: log.annotationCounts,
      masks: masks.secrets,
    }
    onResult(result)
    return result
  }

  #conclude({ exitCode, startError }: ProcessExit): ProcessResult['conclusion'] {
    // The runner ignores the exit code of a cancelled step.
    if (this.#endedBy === 'cancel') return 'cancelled'
    const failed = this.#endedBy === 'timeout' || startError !== undefined || exitCode !== 0
    return failed || this.#options.log.commandFailed ? 'failure' : 'success'
  }
}

function isErrorOfAction({ level, source }: Annotation): boolean {
  return level === 'error' && source === 'action'
}

interface FileCommandResults {
  readonly outputs: Map<string, string>
  readonly state: Map<string, string>
  readonly env: ReadonlyMap<string, string>
  readonly path: readonly string[]
  readonly summary: string
  readonly files: Readonly<Record<FileCommand, string>>
}

function readFileCommands(files: FileCommandFiles, log: StepLog, masks: SecretMasks): FileCommandResults {
  const keyValues = (name: 'OUTPUT' | 'STATE' | 'ENV'): Map<string, string> => {
    const { entries, problem } = parseKeyValueFile(files.read(name).toString())
    if (problem !== undefined) {
      log.reportError(`Unable to process file command '${name.toLowerCase()}' successfully.`)
      log.reportError(problem)
      log.commandFailed = true
    }
    return new Map(entries)
  }
  const env = keyValues('ENV')
  if (env.delete('NODE_OPTIONS')) {
    log.reportError("Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.")
  }
  const summary = readSummary(files.read('STEP_SUMMARY'), masks)
  if (summary.kind === 'too-large') {
    const [limit, got] = [SUMMARY_LIMIT_BYTES, summary.bytes].map((bytes) => Math.floor(bytes / 1024))
    log.reportError(`$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of ${limit}k, got ${got}k.`)
  }
  return {
    outputs: keyValues('OUTPUT'),
    state: keyValues('STATE'),
    env,
    path: parsePathFile(files.read('PATH').toString()),
    summary: summary.kind === 'shown' ? summary.text : '',
    files: Object.fromEntries(
      FILE_COMMANDS.map((name) => [name, files.read(name).toString()]),
    ) as ProcessResult['files'],
  }
}
