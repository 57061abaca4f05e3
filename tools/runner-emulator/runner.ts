import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { contextsOf, type GithubContext, githubContext, type WorkflowEvent } from './contexts.ts'
import { type Ended, type SkipReason, type StageName, skipped } from './ended.ts'
import {
  FileCommandFiles,
  type JobFolders,
  makeJobFolders,
  type ProxySettings,
  processEnvironment,
  runnerContext,
} from './environment.ts'
import { type Contexts, conditionHolds, type JobStatus } from './expressions.ts'
import { type Interruption, interrupt } from './interruption.ts'
import { type ActionManifest, readManifest, resolveInputs } from './manifest.ts'
import { SecretMasks } from './masks.ts'
import { endProcessesWith, type Graces } from './process.ts'
import { RunningStage } from './stage.ts'
import { StepLog } from './workflow-commands.ts'

// A test runner that keeps GitHub's contract with an action: its environment, files, commands, signals and order.

export interface StepOptions {
  /** The folder of `action.yml`; this repository unless given. */
  readonly actionDir?: string
  /** The step's `with`, after its expressions were evaluated. */
  readonly inputs?: Readonly<Record<string, string>>
  /** The step's `env`. */
  readonly env?: Readonly<Record<string, string>>
  /** A push to the default branch unless given. */
  readonly event?: WorkflowEvent
  /** Fields of the `github` context that the event does not decide as wanted. */
  readonly github?: GithubContext
  readonly matrix?: Readonly<Record<string, unknown>>
  /** Masked from the start, as the repository's secrets are. The token of the `github` context always is. */
  readonly secrets?: readonly string[]
  /** The runner's own proxy. A proxy in the step's `env` is not copied to the other case of letters. */
  readonly proxy?: ProxySettings
  readonly workspace?: string
  readonly tempDir?: string
  /** The step's `timeout-minutes`, for main and again for post. */
  readonly timeoutMs?: number
  /** Step debug logging: RUNNER_DEBUG, `::debug::` in the log, commands echoed. */
  readonly debug?: boolean
  /** Called with every line of the log as GitHub shows it. */
  readonly onLogLine?: (line: string, stage: StageName) => void
}

export interface JobEnd {
  readonly main: Ended
  readonly post: Ended
  /** False where main was over before the interruption came. */
  readonly interrupted: boolean
  readonly jobStatus: JobStatus
  /** What the job's page shows of this step: main's summary, then post's. */
  readonly summary: string
}

/** Gets a step ready. Its processes start with `startMain`, `startPost` or `run`; `dispose` must follow in the end. */
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
  #noMore: 'shutdown' | 'lost runner' | undefined
  #main: RunningStage | undefined
  #post: RunningStage | undefined

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

  /** The values that a process started now is given, by input. */
  get inputs(): ReadonlyMap<string, string> {
    return resolveInputs(this.manifest, this.#options.inputs ?? {}, this.#contexts()).values
  }

  startMain(): RunningStage {
    if (this.#main !== undefined) throw new Error('This step has run: prepare another one.')
    this.#main = this.#start('main', this.manifest.main, new Map())
    return this.#main
  }

  /** Starts post, whatever `post-if` says; `runPost` asks it first. */
  async startPost(): Promise<RunningStage> {
    if (this.#main === undefined) throw new Error('Post is registered when main starts, and main was not started.')
    if (this.manifest.post === undefined) throw new Error(`${this.manifest.name}: action.yml names no "runs.post".`)
    const { state } = await this.#main.ended()
    this.#post = this.#start('post', this.manifest.post, new Map(Object.entries(state)))
    return this.#post
  }

  /** Post, if a job would run it now; otherwise an end with the conclusion `skipped`. */
  async runPost(): Promise<Ended> {
    await this.#main?.ended()
    const why = this.#whyNoPost()
    if (why !== undefined) return skipped('post', why, this.masks)
    const post = await this.startPost()
    return post.ended()
  }

  /** Main, what happens to it, and then post: as a job runs them. */
  async run(interruption?: Interruption): Promise<JobEnd> {
    const main = this.startMain()
    const interrupted = interruption !== undefined && (await interrupt(this, main, interruption))
    const mainEnd = await main.ended()
    const postEnd = await this.runPost()
    return {
      main: mainEnd,
      post: postEnd,
      interrupted,
      jobStatus: this.#jobStatus,
      summary: mainEnd.summary + postEnd.summary,
    }
  }

  /** The workflow is cancelled, but this step's own `if` stays true: no signal comes, only post sees it. */
  cancelWithoutSignal(): void {
    this.#jobStatus = 'cancelled'
  }

  /** The runner is being stopped: main gets its signals, post never runs. */
  async shutDown(graces: Graces = {}): Promise<Ended> {
    if (this.#main === undefined) throw new Error('There is nothing to shut down: main was not started.')
    this.#noMore = 'shutdown'
    return this.#main.cancel(graces)
  }

  /** The machine is gone. */
  async loseRunner(): Promise<void> {
    this.#noMore = 'lost runner'
    this.#main?.signal('SIGKILL')
    await this.#main?.ended()
  }

  /** Ends every process that the step left and removes the folders that were made for it. */
  async dispose(): Promise<void> {
    for (const stage of [this.#main, this.#post]) {
      stage?.signal('SIGKILL')
    }
    await endProcessesWith(`RUNNER_TRACKING_ID=${this.#trackingId}`)
    await Promise.all([this.#main?.ended(), this.#post?.ended()])
    this.#folders.remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }

  #start(stage: StageName, script: string, state: ReadonlyMap<string, string>): RunningStage {
    const options = this.#options
    const inputs = resolveInputs(this.manifest, options.inputs ?? {}, this.#contexts())
    const files = new FileCommandFiles(this.tempDir)
    const log = new StepLog(this.masks, options.debug === true, (line) => options.onLogLine?.(line, stage))
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
    return new RunningStage({
      stage,
      actionName: this.manifest.name,
      script,
      cwd: this.workspace,
      env,
      files,
      log,
      masks: this.masks,
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      onEnd: (ended) => this.#remember(ended),
    })
  }

  #remember(ended: Ended): void {
    for (const [name, value] of Object.entries(ended.env)) this.#jobEnv.set(name, value)
    this.#jobPath = [...this.#jobPath.filter((folder) => !ended.path.includes(folder)), ...ended.path]
    if (this.#jobStatus === 'success' && ended.conclusion === 'failure') this.#jobStatus = 'failure'
    if (ended.conclusion === 'cancelled') this.#jobStatus = 'cancelled'
  }

  #whyNoPost(): SkipReason | undefined {
    if (this.#main === undefined) return 'main never started'
    if (this.manifest.post === undefined) return 'no post'
    if (this.#noMore !== undefined) return this.#noMore
    return conditionHolds(this.manifest.postIf, this.#contexts(), this.#jobStatus) ? undefined : 'post-if'
  }

  #contexts(): Contexts {
    return contextsOf({
      github: this.#github,
      ...(this.#options.matrix !== undefined && { matrix: this.#options.matrix }),
      status: this.#jobStatus,
      runner: this.#runner(),
    })
  }

  #runner(): Record<string, string> {
    return runnerContext(this.tempDir, this.#options.debug === true)
  }
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

export type { WorkflowEvent } from './contexts.ts'
export type { Ended, StageName } from './ended.ts'
export type { JobStatus } from './expressions.ts'
export type { Interruption } from './interruption.ts'
export { placesThatShow } from './masks.ts'
export type { Graces } from './process.ts'
export type { RunningStage } from './stage.ts'
export type { Annotation } from './workflow-commands.ts'
