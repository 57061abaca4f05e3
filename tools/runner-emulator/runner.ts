import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  ActionProcess,
  type Container,
  type EndOfRunner,
  type Phase,
  type ProcessResult,
  type SkipReason,
  skippedPhase,
} from './action-process.ts'
import { contextsOf, type GithubContext, githubContext, type WorkflowEvent } from './contexts.ts'
import {
  type JobFolders,
  makeJobFolders,
  type ProxySettings,
  processEnvironment,
  RUNTIME_TOKEN,
  runnerContext,
} from './environment.ts'
import { type Contexts, type JobStatus, postConditionHolds } from './expressions.ts'
import { FileCommandFiles } from './file-commands.ts'
import { type ActionManifest, readManifest, resolveInputs } from './manifest.ts'
import { SecretMasks, secretForms } from './masks.ts'
import { type GracePeriods, killProcessesWith, type ProcessExit, reservePipes, type Sleep } from './node-process.ts'
import { setNamed } from './text.ts'
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
  /** Nothing is read from a process's pipes before this: they hold 64 kB each. */
  readonly readLogAfter?: Promise<unknown> | undefined
  /** The job has a container: signals of the runner end the step, but reach no process. */
  readonly container?: Container | undefined
}

/** What happens to a running step. */
export interface Interruption extends GracePeriods {
  /** When: at a line of the log, so many milliseconds after the start, or when something else has happened. */
  readonly on: RegExp | number | Promise<unknown>
  /** README.md says what each does. */
  readonly by:
    | 'cancel'
    | 'cancel without signal'
    | 'kill'
    | 'killed worker'
    | 'lost runner'
    | 'shutdown'
    | 'terminate'
    | 'timeout'
}

export interface JobResult {
  readonly main: ProcessResult
  /** How main's process itself ends: in a container long after its result, and after a shutdown there only by itself. */
  readonly mainExit: Promise<ProcessExit>
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
  jobStatus: JobStatus = 'success'

  readonly #options: StepOptions
  readonly #folders: JobFolders
  readonly #github: GithubContext
  readonly #trackingId = `github_${randomUUID()}`
  readonly #jobEnv = new Map<string, string>()
  #endOfRunner: EndOfRunner | undefined
  #main: ActionProcess | undefined
  #mainResult: ProcessResult | undefined
  #post: ActionProcess | undefined

  constructor(options: StepOptions) {
    reservePipes()
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
    for (const secret of [this.#github.token, RUNTIME_TOKEN, ...(options.secrets ?? [])]) {
      if (typeof secret === 'string') this.masks.add(secret)
    }
  }

  /** The values that a process started now would get, by input. */
  get inputs(): ReadonlyMap<string, string> {
    return resolveInputs(this.manifest, this.#options.inputs ?? {}, this.#contexts()).values
  }

  startMain(): ActionProcess {
    if (this.#main !== undefined) throw new Error('This step has run: prepare another one.')
    this.#main = this.#start('main', this.manifest.main, {})
    return this.#main
  }

  /** Starts post, whatever `post-if` says; `runPost` asks it first. */
  async startPost(): Promise<ActionProcess> {
    if (this.#main === undefined) throw new Error('Post is registered when main starts, and main was not started.')
    if (this.manifest.post === undefined) throw new Error(`${this.manifest.name}: action.yml names no "runs.post".`)
    const { state } = await this.#main.result()
    this.#post = this.#start('post', this.manifest.post, state)
    return this.#post
  }

  /** Post, if a job would run it now; otherwise a result with the conclusion `skipped`. */
  async runPost(): Promise<ProcessResult> {
    await this.#main?.result()
    const skippedBecause = this.#whyNoPost()
    if (skippedBecause !== undefined) return skippedPhase('post', skippedBecause)
    const post = await this.startPost()
    return post.result()
  }

  /** Main, what happens to it, and then post: as a job runs them. */
  async run(interruption?: Interruption): Promise<JobResult> {
    const process = this.startMain()
    const interrupted = interruption !== undefined && (await this.#interrupt(process, interruption))
    const main = await process.result()
    const post = await this.runPost()
    if (this.#endOfRunner === undefined) await this.stopContainer()
    const summary = main.summary + post.summary
    return { main, mainExit: process.exit, post, interrupted, jobStatus: this.jobStatus, summary }
  }

  /**
   * The runner is being stopped: main gets its signals, post never runs, the temporary folder is emptied. In a
   * container main lives on until `stopContainer`.
   */
  async shutDown(graces: GracePeriods = {}): Promise<ProcessResult> {
    if (this.#main === undefined) throw new Error('There is nothing to shut down: main was not started.')
    this.#endOfRunner = 'shutdown'
    const result = await this.#main.shutDown(graces)
    for (const name of readdirSync(this.tempDir)) rmSync(join(this.tempDir, name), { recursive: true, force: true })
    return result
  }

  /** The runner's worker is killed: nobody reads the log any more. A container's engine still does. */
  killWorker(): void {
    this.#endOfRunner = 'killed worker'
    if (this.#options.container !== undefined) this.#main?.giveUp()
    else for (const stream of ['stdout', 'stderr'] as const) this.#main?.closePipe(stream)
  }

  /** The machine is gone. */
  async loseRunner(): Promise<void> {
    this.#endOfRunner = 'lost runner'
    this.#main?.signal('SIGKILL')
    await this.#main?.result()
  }

  /** The container is removed, after the last post: whatever still runs in it is killed. */
  async stopContainer(): Promise<void> {
    if (this.#options.container !== undefined) await this.#killAll()
  }

  /** Ends every process that the step left and removes the folders that were made for it. */
  async dispose(): Promise<void> {
    await this.#killAll()
    await Promise.allSettled([this.#main?.result(), this.#post?.result()])
    this.#folders.remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }

  /** A process knows its event by this file, which every child inherits, and which is this step's alone. */
  async #killAll(): Promise<void> {
    for (const process of [this.#main, this.#post]) process?.signal('SIGKILL')
    killProcessesWith(`GITHUB_EVENT_PATH=${this.#github.event_path}`)
    await Promise.all([this.#main?.exit, this.#post?.exit])
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
    const endings: Readonly<Record<Interruption['by'], () => unknown>> = {
      cancel: () => main.cancel(graces),
      terminate: () => main.terminate(graces),
      timeout: () => main.timeOut(graces),
      'cancel without signal': () => {
        this.jobStatus = 'cancelled'
      },
      shutdown: () => this.shutDown(graces),
      kill: () => main.signal('SIGKILL'),
      'lost runner': () => this.loseRunner(),
      'killed worker': () => this.killWorker(),
    }
    await endings[by]()
    return true
  }

  #start(phase: Phase, script: string, state: Readonly<Record<string, string>>): ActionProcess {
    const options = this.#options
    const inputs = resolveInputs(this.manifest, options.inputs ?? {}, this.#contexts())
    const files = new FileCommandFiles(this.tempDir)
    const log = new StepLog(this.masks, options.debug === true, (line) => options.onLogLine?.(line, phase))
    for (const message of inputs.warnings) log.warn(message)
    const env = processEnvironment({
      inputs: inputs.values,
      state,
      stepEnv: options.env ?? {},
      jobEnv: this.#jobEnv,
      github: this.#github,
      runner: this.#runner(),
      files,
      trackingId: options.container === undefined ? this.#trackingId : undefined,
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
      readLogAfter: options.readLogAfter,
      container: options.container,
      onResult: (result) => this.#remember(result),
    })
  }

  #remember(result: ProcessResult): void {
    const { conclusion, endedBy, env } = result
    this.#mainResult ??= result
    for (const [name, value] of Object.entries(env)) setNamed(this.#jobEnv, name, value)
    if (endedBy === 'cancel') this.jobStatus = 'cancelled'
    else if (this.jobStatus === 'success' && conclusion !== 'success') this.jobStatus = 'failure'
  }

  #whyNoPost(): SkipReason | undefined {
    if (this.#main === undefined) return 'main never started'
    if (this.manifest.post === undefined) return 'no post'
    if (this.#endOfRunner !== undefined) return this.#endOfRunner
    return postConditionHolds(this.manifest.postIf, this.#postContexts(), this.jobStatus) ? undefined : 'post-if'
  }

  #contexts(): Contexts {
    const { job, matrix } = this.#options
    return contextsOf({ github: this.#github, job, matrix, status: this.jobStatus, runner: this.#runner() })
  }

  /** What `post-if` may use besides. The inputs are the workflow's own, of which there are none here. */
  #postContexts(): Contexts {
    const { outputs = {}, conclusion = '' } = this.#mainResult ?? {}
    return {
      ...this.#contexts(),
      env: { ...Object.fromEntries(this.#jobEnv), ...this.#options.env },
      steps: { [String(this.#github.action)]: { outputs: { ...outputs }, outcome: conclusion, conclusion } },
      inputs: null,
      secrets: null,
    }
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

/** Where the secret can be read, in any usual form, masked by the runner or not; empty if it is safe. */
export function placesThatShow(secret: string, { log, files, outputs, annotations }: ProcessResult): readonly string[] {
  const places: readonly (readonly [place: string, text: string])[] = [
    ...log.map((line, index) => [`log line ${index + 1}`, line] as const),
    ['summary', files.STEP_SUMMARY],
    ['state', files.STATE],
    ['env', files.ENV],
    ...Object.entries(outputs).map(([name, value]) => [`output ${name}`, value] as const),
    ...annotations.flatMap(({ title, message }, index) => [
      [`title of annotation ${index + 1}`, title] as const,
      [`message of annotation ${index + 1}`, message] as const,
    ]),
  ]
  const bytes = Buffer.from(secret)
  // Whole groups of three bytes: neither padding nor what follows changes them.
  const groups = [0, 1, 2].map((offset) => bytes.subarray(offset, bytes.length - ((bytes.length - offset) % 3)))
  const unmasked = [
    bytes.toString('hex'),
    ...groups.flatMap((group) => [group.toString('base64'), group.toString('base64url')]),
  ]
  const forms = [...secretForms(secret), ...unmasked]
  return places.filter(([, text]) => forms.some((form) => text.includes(form))).map(([place]) => place)
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

export type { ActionProcess, Container, Phase, ProcessResult } from './action-process.ts'
export type { WorkflowEvent } from './contexts.ts'
export type { JobStatus } from './expressions.ts'
export type { GracePeriods } from './node-process.ts'
export type { Annotation } from './workflow-commands.ts'
