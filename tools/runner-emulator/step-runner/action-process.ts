import { EventEmitter, once } from 'node:events'
import type { FileCommandFiles, FileCommandResults } from './file-commands.ts'
import type { SecretMasks } from './masks.ts'
import { NodeProcess, type NodeProcessOptions, type ProcessExit } from './node-process.ts'
import type { Annotation, StepLog } from './workflow-commands.ts'

/** The kind of container in which the steps run: one of Docker, or one that hooks without a volume make (Actions Runner Controller). */
export type Container = 'docker' | 'hooks without volume'

/**
 * Why the runner ends a process. After a time-out, the step has failed. After a shutdown of the runner, post does not run. A process gets
 * the same signals in all cases, also post.
 */
export type EndedBy = 'cancel' | 'timeout' | 'shutdown'

/** What one process of the step did, as GitHub would show it. */
export interface ProcessResult extends ProcessExit, FileCommandResults {
  readonly conclusion: 'success' | 'failure' | 'cancelled' | 'skipped'
  /** If there are several reasons, the first counts. */
  readonly endedBy?: EndedBy | undefined
  readonly log: readonly string[]
  /** The first ten of each level. */
  readonly annotations: readonly Annotation[]
}

const NOTHING_READ: FileCommandResults = {
  outputs: {},
  state: {},
  env: {},
  summary: '',
  files: { OUTPUT: '', STATE: '', STEP_SUMMARY: '', ENV: '' },
}

/** The result of a process that a job does not start. */
export const SKIPPED: ProcessResult = {
  ...NOTHING_READ,
  conclusion: 'skipped',
  exitCode: null,
  signal: null,
  signalsSent: [],
  log: [],
  annotations: [],
}

export interface ActionProcessOptions extends NodeProcessOptions {
  readonly actionName: string
  readonly files: FileCommandFiles
  readonly log: StepLog
  readonly masks: SecretMasks
  readonly container?: Container | undefined
  readonly onResult: (result: ProcessResult) => void
}

/** Main or post, from its start to its result. */
export class ActionProcess extends NodeProcess {
  readonly #options: ActionProcessOptions
  readonly #lines = new EventEmitter().setMaxListeners(0)
  readonly #result: Promise<ProcessResult>
  /** Settles if the client of `docker exec` exits while the process lives. */
  readonly #left = Promise.withResolvers<ProcessExit>()
  #isLeft = false
  #endedBy: EndedBy | undefined
  #hasResult = false

  constructor(options: ActionProcessOptions) {
    super(options, (line) => this.#read(line))
    this.#options = options
    this.#result = Promise.race([this.exit, this.#left.promise])
      .then((exit) => this.#finish(exit))
      .finally(() => {
        this.#hasResult = true
        this.#lines.emit('line')
      })
    // A caller of result() gets the error. If nobody calls it, the rejection must not end the tests.
    this.#result.catch(() => {})
  }

  get log(): readonly string[] {
    return this.#options.log.lines
  }

  /**
   * What the runner knows at the step's end. The end is when the process has exited and both pipes are closed, or five seconds
   * after the exit. Rejects if a message would have made the runner's worker abort.
   */
  result(): Promise<ProcessResult> {
    return this.#result
  }

  /** The first line of the log that matches, now or later. Rejects if the process ends without one. */
  async waitForLine(pattern: RegExp): Promise<string> {
    for (;;) {
      const line = this.log.find((candidate) => pattern.test(candidate))
      if (line !== undefined) return line
      if (this.#hasResult)
        throw new Error(`The process ended without a line that matches ${pattern}:\n${this.log.join('\n')}`)
      await once(this.#lines, 'line')
    }
  }

  /**
   * Sends SIGINT, SIGTERM and SIGKILL, with grace periods. In a container, they reach only the client of `docker exec`. It forwards no
   * signal and exits. The process may live on. Its pipes are read, but the result ignores what comes from them.
   */
  async end(by: EndedBy): Promise<ProcessResult> {
    this.#endedBy ??= by
    if (this.#options.container === undefined) await this.sendSignals()
    else {
      this.#isLeft = true
      this.#left.resolve({ exitCode: null, signal: null, signalsSent: [...this.signalsSent] })
    }
    return this.#result
  }

  #read(line: string): void {
    if (this.#isLeft) return
    this.#options.log.read(line)
    this.#lines.emit('line')
  }

  #finish(exit: ProcessExit): ProcessResult {
    const { actionName, container, files, log, masks, onResult } = this.#options
    const ended = this.#conclude(exit)
    // If the files exist, they count, whatever ended the process. Hooks without a volume bring them back only after a success.
    const isLost = container === 'hooks without volume' && ended !== 'success'
    const read = isLost ? NOTHING_READ : files.read(log, masks)
    const conclusion = ended === 'success' && log.commandFailed ? 'failure' : ended
    if (this.#endedBy === 'timeout') log.reportError(`The action '${actionName}' has timed out.`)
    else if (this.#endedBy !== undefined) log.reportError('The operation was canceled.')
    const result: ProcessResult = {
      ...exit,
      ...read,
      endedBy: this.#endedBy,
      conclusion,
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

  #conclude({ exitCode }: ProcessExit): ProcessResult['conclusion'] {
    const { container } = this.#options
    if (this.#endedBy === 'timeout') return 'failure'
    // The runner ignores the exit code of a cancelled step. With hooks, it counts the end of the client as a failure.
    if (this.#endedBy !== undefined) return container === 'hooks without volume' ? 'failure' : 'cancelled'
    return exitCode === 0 ? 'success' : 'failure'
  }
}
