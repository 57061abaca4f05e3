import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ActionProcess, type Phase, type ProcessResult, type SkipReason, skippedPhase } from './action-process.ts'
import { contextsOf, type GithubContext, githubContext, type WorkflowEvent } from './contexts.ts'
import {
  FileCommandFiles,
  type JobFolders,
  makeJobFolders,
  type ProxySettings,
  processEnvironment,
  runnerContext,
} from './environment.ts'
import { type Contexts, conditionHolds, type JobStatus } from './expressions.ts'
import { type ActionManifest, readManifest, resolveInputs } from './manifest.ts'
import { SecretMasks } from './masks.ts'
import { type GracePeriods, killProcessesWith, type Sleep } from './node-process.ts'
import { StepLog } from './workflow-commands.ts'

export interface StepOptions {
  /** The folder of `action.yml`; this repository unless given. */
  readonly actionDir?: string | undefined
  /** The step's `with`, after its expressions were evaluated. */
  readonly inputs?: Readonly<Record<string, string>> | undefined
  /** The step's `env`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** A push to the default branch unless given. */
  readonly event?: WorkflowEvent | undefined
  /** Fields of the `github` context that differ from what the event implies. */
  readonly github?: GithubContext | undefined
  /** Fields of the `job` context that differ from the usual ones. */
  readonly job?: Contexts | undefined
  readonly matrix?: Readonly<Record<string, unknown>> | undefined
  /** Masked from the start, as the repository's secrets are. The token of the `github` context always is. */
  readonly secrets?: readonly string[] | undefined
  /** The runner's own proxy. A proxy in the step's `env` is not copied to the other case of letters. */
  readonly proxy?: ProxySettings | undefined
  readonly workspace?: string | undefined
  readonly tempDir?: string | undefined
  /** The step's `timeout-minutes`, for main and again for post. */
  readonly timeoutMs?: number | undefined
  /** Step debug logging: RUNNER_DEBUG, `::debug::` in the log, commands echoed. */
  readonly debug?: boolean | undefined
  /** Called with every line of the log as GitHub shows it. */
  readonly onLogLine?: ((line: string, phase: Phase) => void) | undefined
  /** How the runner waits for the end of its grace periods; real time unless given. */
  readonly sleep?: Sleep | undefined
}

/** What happens to a running step. */
export interface Interruption extends GracePeriods {
  /** When: at a line of the log, so many milliseconds after the start, or when something else has happened. */
  readonly on: RegExp | number | Promise<unknown>
  readonly by:
    | 'cancel'
    /** SIGTERM comes first, and no SIGINT. */
    | 'terminate'
    /** The step's `timeout-minutes`: the same signals, but the step has failed. */
    | 'timeout'
    /** The workflow is cancelled, but the step's own `if` is still true: it gets no signal. */
    | 'cancel without signal'
    /** The runner is stopped: the signals, then no post. */
    | 'shutdown'
    /** The step's process alone is killed, as the kernel does when memory is short. */
    | 'kill'
    /** The machine is gone: the process ends and nothing comes after it. */
    | 'lost runner'
    /** The runner's end of standard output is closed; the step may go on. */
    | 'close stdout'
}

export interface JobResult {
  readonly main: ProcessResult
  readonly post: ProcessResult
  /** False if main had exited before the interruption came. */
  readonly interrupted: boolean
  readonly jobStatus: JobStatus
  /** What the job's page shows of this step: main's summary, then post's. */
  readonly summary: string
}

/** Prepares a step. Its processes start with `startMain`, `startPost` or `run`; `dispose` must follow in the end. */
export function prepareStep(options: StepOptions = {}): Step {
  return new Step(options)
}

/** A step of a job that consists of it alone. Usable with `await using`. */
export class Step {
  readonly manifest: ActionManifest
  readonly workspace: string
  readonly tempDir: string
  readonly masks = new SecretMasks()

  readonly #options: StepOptions
  readonly #folders: JobFolders
  readonly #github: GithubContext
  readonly #trackingId = `github_${randomUUID()}`
  readonly #jobEnv = new Map<string, string>()
  #jobPath: readonly string[] = []
  #jobStatus: JobStatus = 'success'
  #endOfRunner: 'shutdown' | 'lost runner' | undefined
  #main: ActionProcess | undefined
  #post: ActionProcess | undefined

  constructor(options: StepOptions) {
    this.#options = options
    this.manifest = readManifest(options.actionDir ?? REPOSITORY)
    const event = options.event ?? { name: 'push' }
    this.#folders = makeJobFolders(options, event.payload)
    this.workspace = this.#folders.workspace
    this.tempDir = this.#folders.tempDir
    this.#github = githubContext(event, {
      event_path: this.#folders.eventPath,
      workspace: this.workspace,
      ...options.github,
    })
    for (const secret of [this.#github.token, ...(options.secrets ?? [])]) {
      if (typeof secret === 'string') this.masks.add(secret)
    }
  }

  get jobStatus(): JobStatus {
    return this.#jobStatus
  }

  /** The values that a process started now would get, by input. */
  get inputs(): ReadonlyMap<string, string> {
    return resolveInputs(this.manifest, this.#options.inputs ?? {}, this.#contexts()).values
  }

  startMain(): ActionProcess {
    if (this.#main !== undefined) throw new Error('This step has run: prepare another one.')
    this.#main = this.#start('main', this.manifest.main, new Map())
    return this.#main
  }

  /** Starts post, whatever `post-if` says; `runPost` asks it first. */
  async startPost(): Promise<ActionProcess> {
    if (this.#main === undefined) throw new Error('Post is registered when main starts, and main was not started.')
    if (this.manifest.post === undefined) throw new Error(`${this.manifest.name}: action.yml names no "runs.post".`)
    const { state } = await this.#main.result()
    this.#post = this.#start('post', this.manifest.post, new Map(Object.entries(state)))
    return this.#post
  }

  /** Post, if a job would run it now; otherwise a result with the conclusion `skipped`. */
  async runPost(): Promise<ProcessResult> {
    await this.#main?.result()
    const skippedBecause = this.#whyNoPost()
    if (skippedBecause !== undefined) return skippedPhase('post', skippedBecause, this.masks)
    const post = await this.startPost()
    return post.result()
  }

  /** Main, what happens to it, and then post: as a job runs them. */
  async run(interruption?: Interruption): Promise<JobResult> {
    const process = this.startMain()
    const interrupted = interruption !== undefined && (await this.#interrupt(process, interruption))
    const main = await process.result()
    const post = await this.runPost()
    return { main, post, interrupted, jobStatus: this.#jobStatus, summary: main.summary + post.summary }
  }

  /** The workflow is cancelled, but this step's own `if` stays true: no signal comes, only post sees it. */
  cancelWithoutSignal(): void {
    this.#jobStatus = 'cancelled'
  }

  /** The runner is being stopped: main gets its signals, post never runs. */
  async shutDown(graces: GracePeriods = {}): Promise<ProcessResult> {
    if (this.#main === undefined) throw new Error('There is nothing to shut down: main was not started.')
    this.#endOfRunner = 'shutdown'
    return this.#main.cancel(graces)
  }

  /** The machine is gone. */
  async loseRunner(): Promise<void> {
    this.#endOfRunner = 'lost runner'
    this.#main?.signal('SIGKILL')
    await this.#main?.result()
  }

  /** Ends every process that the step left and removes the folders that were made for it. */
  async dispose(): Promise<void> {
    for (const process of [this.#main, this.#post]) process?.signal('SIGKILL')
    await killProcessesWith(`RUNNER_TRACKING_ID=${this.#trackingId}`)
    await Promise.all([this.#main?.result(), this.#post?.result()])
    this.#folders.remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }

  /** Does what the interruption says when its moment comes; false if main exited before. */
  async #interrupt(main: ActionProcess, { on, by, ...graces }: Interruption): Promise<boolean> {
    const hasResult = new AbortController()
    const isInTime = await Promise.race([
      waitUntil(on, main, hasResult.signal).then(
        () => true,
        () => false,
      ),
      main.result().then(() => false),
    ])
    hasResult.abort()
    if (!isInTime) return false
    switch (by) {
      case 'cancel':
        await main.cancel(graces)
        break
      case 'terminate':
        await main.terminate(graces)
        break
      case 'timeout':
        await main.timeOut(graces)
        break
      case 'cancel without signal':
        this.cancelWithoutSignal()
        break
      case 'shutdown':
        await this.shutDown(graces)
        break
      case 'kill':
        main.signal('SIGKILL')
        break
      case 'lost runner':
        await this.loseRunner()
        break
      case 'close stdout':
        main.closePipe('stdout')
        break
    }
    return true
  }

  #start(phase: Phase, script: string, state: ReadonlyMap<string, string>): ActionProcess {
    const options = this.#options
    const inputs = resolveInputs(this.manifest, options.inputs ?? {}, this.#contexts())
    const files = new FileCommandFiles(this.tempDir)
    const log = new StepLog(this.masks, options.debug === true, (line) => options.onLogLine?.(line, phase))
    for (const message of inputs.warnings) log.annotate({ level: 'warning', title: '', message, source: 'runner' })
    const env = processEnvironment({
      inputs: inputs.values,
      state,
      stepEnv: options.env ?? {},
      jobEnv: this.#jobEnv,
      jobPath: this.#jobPath,
      github: this.#github,
      runner: this.#runner(),
      files,
      trackingId: this.#trackingId,
      proxy: options.proxy ?? {},
    })
    return new ActionProcess({
      phase,
      actionName: this.manifest.name,
      script,
      cwd: this.workspace,
      env,
      files,
      log,
      masks: this.masks,
      timeoutMs: options.timeoutMs,
      sleep: options.sleep,
      onResult: (result) => this.#remember(result),
    })
  }

  #remember({ env, path, conclusion }: ProcessResult): void {
    for (const [name, value] of Object.entries(env)) this.#jobEnv.set(name, value)
    this.#jobPath = [...this.#jobPath.filter((folder) => !path.includes(folder)), ...path]
    if (this.#jobStatus === 'success' && conclusion === 'failure') this.#jobStatus = 'failure'
    if (conclusion === 'cancelled') this.#jobStatus = 'cancelled'
  }

  #whyNoPost(): SkipReason | undefined {
    if (this.#main === undefined) return 'main never started'
    if (this.manifest.post === undefined) return 'no post'
    if (this.#endOfRunner !== undefined) return this.#endOfRunner
    return conditionHolds(this.manifest.postIf, this.#contexts(), this.#jobStatus) ? undefined : 'post-if'
  }

  #contexts(): Contexts {
    const { job, matrix } = this.#options
    return contextsOf({ github: this.#github, job, matrix, status: this.#jobStatus, runner: this.#runner() })
  }

  #runner(): Record<string, string> {
    return runnerContext(this.tempDir, this.#options.debug === true)
  }
}

async function waitUntil(on: Interruption['on'], main: ActionProcess, signal: AbortSignal): Promise<void> {
  if (on instanceof RegExp) await main.waitForLine(on, signal)
  else if (typeof on === 'number') await delay(on, undefined, { signal })
  else await on
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

export type { ActionProcess, Phase, ProcessResult } from './action-process.ts'
export type { WorkflowEvent } from './contexts.ts'
export type { JobStatus } from './expressions.ts'
export { placesThatShow } from './masks.ts'
export type { GracePeriods } from './node-process.ts'
export type { Annotation } from './workflow-commands.ts'
