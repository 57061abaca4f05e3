import { setTimeout as delay } from 'node:timers/promises'
import type { Ended, RawLine, StageName } from './ended.ts'
import { FILE_COMMANDS, type FileCommand, type FileCommandFiles } from './environment.ts'
import { parseKeyValueFile, parsePathFile, readSummary, SUMMARY_LIMIT_BYTES } from './file-commands.ts'
import type { SecretMasks } from './masks.ts'
import { type Graces, type ProcessEnd, StepProcess } from './process.ts'
import type { Annotation, StepLog } from './workflow-commands.ts'

export interface StageOptions {
  readonly stage: StageName
  readonly actionName: string
  readonly script: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly files: FileCommandFiles
  readonly log: StepLog
  readonly masks: SecretMasks
  readonly timeoutMs?: number
  readonly onEnd: (ended: Ended) => void
}

/** Main or post, from its start to its end. */
export class RunningStage {
  readonly #options: StageOptions
  readonly #process: StepProcess
  readonly #rawLog: RawLine[] = []
  readonly #waiting = new Set<() => void>()
  readonly #ended: Promise<Ended>
  /** Why the runner ended it. The first reason stands. */
  #endedFor: 'cancel' | 'timeout' | undefined

  constructor(options: StageOptions) {
    this.#options = options
    const { script, cwd, env } = options
    this.#process = new StepProcess({ script, cwd, env, onLine: (text, stream) => this.#read({ stream, text }) })
    this.#ended = this.#finish()
    if (options.timeoutMs !== undefined) void this.#timeOutAfter(options.timeoutMs)
  }

  /** Undefined where the operating system refused to start it. */
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

  /** Its end: exited and both pipes closed, or five seconds after the exit. */
  ended(): Promise<Ended> {
    return this.#ended
  }

  /** The first line of the log that matches, now or later. Rejects when the stage ends without one. */
  async waitForLine(pattern: RegExp, signal?: AbortSignal): Promise<string> {
    let over = false
    void this.#ended.then(() => {
      over = true
      this.#wake()
    })
    for (let from = 0; ; ) {
      const line = this.log.slice(from).find((candidate) => candidate.search(pattern) !== -1)
      if (line !== undefined) return line
      if (over)
        throw new Error(`${this.#options.stage} ended without a line that matches ${pattern}:\n${this.log.join('\n')}`)
      signal?.throwIfAborted()
      from = this.log.length
      await this.#nextLine(signal)
    }
  }

  /** A bare signal, from nobody in particular; false where nothing runs. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#process.signal(signal)
  }

  /** The workflow is cancelled: SIGINT, SIGTERM, SIGKILL with the runner's patience in between. */
  async cancel(graces: Graces = {}): Promise<Ended> {
    this.#endedFor ??= 'cancel'
    await this.#process.cancel(graces)
    return this.#ended
  }

  /** The step's own time limit has passed: the same signals, but it has failed. */
  async timeOut(graces: Graces = {}): Promise<Ended> {
    this.#endedFor ??= 'timeout'
    await this.#process.cancel(graces)
    return this.#ended
  }

  /** Closes the runner's end of one pipe. */
  closePipe(stream: RawLine['stream']): void {
    this.#process.closePipe(stream)
  }

  #read(line: RawLine): void {
    this.#rawLog.push(line)
    this.#options.log.read(line.text)
    this.#wake()
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #nextLine(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  async #timeOutAfter(ms: number): Promise<void> {
    const isOver = new AbortController()
    void this.#ended.then(() => isOver.abort())
    await delay(ms, undefined, { signal: isOver.signal }).catch(() => {})
    if (this.isRunning) await this.timeOut()
  }

  async #finish(): Promise<Ended> {
    const end = await this.#process.ended
    const { actionName, files, log, masks, onEnd, stage, timeoutMs = 0 } = this.#options
    if (end.startError !== undefined) log.complain(`An error occurred trying to start the process: ${end.startError}`)
    // However it died, its files count.
    const read = readFileCommands(files, log, masks)
    for (const [name, value] of log.outputs) read.outputs.set(name, value)
    for (const [name, value] of log.state) read.state.set(name, value)
    if (this.#endedFor === 'cancel') log.complain('The operation was canceled.')
    if (this.#endedFor === 'timeout') {
      log.complain(`The action '${actionName}' has timed out after ${timeoutMs / 60_000} minutes.`)
    }
    const conclusion = this.#conclude(end)
    const ended: Ended = {
      ...end,
      stage,
      conclusion,
      failedSilently: conclusion === 'failure' && !log.annotations.some(isErrorOfAction),
      outputs: stage === 'main' ? Object.fromEntries(read.outputs) : {},
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
    onEnd(ended)
    return ended
  }

  #conclude({ exitCode, startError }: ProcessEnd): Ended['conclusion'] {
    // Of a cancelled step the exit code says nothing.
    if (this.#endedFor === 'cancel') return 'cancelled'
    const failed = this.#endedFor === 'timeout' || startError !== undefined || exitCode !== 0
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
      log.complain(`Unable to process file command '${name.toLowerCase()}' successfully.`)
      log.complain(problem)
      log.commandFailed = true
    }
    return new Map(entries)
  }
  const env = keyValues('ENV')
  if (env.delete('NODE_OPTIONS')) log.complain("Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.")
  const summary = readSummary(files.read('STEP_SUMMARY'), masks)
  if (summary.kind === 'too-large') {
    const [limit, got] = [SUMMARY_LIMIT_BYTES, summary.bytes].map((bytes) => Math.floor(bytes / 1024))
    log.complain(`$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of ${limit}k, got ${got}k.`)
  }
  return {
    outputs: keyValues('OUTPUT'),
    state: keyValues('STATE'),
    env,
    path: parsePathFile(files.read('PATH').toString()),
    summary: summary.kind === 'shown' ? summary.text : '',
    files: Object.fromEntries(FILE_COMMANDS.map((name) => [name, files.read(name).toString()])) as Ended['files'],
  }
}
