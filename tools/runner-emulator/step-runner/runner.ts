import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ActionProcess, type Container, type ProcessResult, SKIPPED } from './action-process.ts'
import { contextsOf, type GithubContext, githubContext, githubVariables, type WorkflowEvent } from './contexts.ts'
import type { JobStatus } from './expressions.ts'
import { FileCommandFiles } from './file-commands.ts'
import { type ActionManifest, inputVariable, readManifest, resolveInputs } from './manifest.ts'
import { SecretMasks, secretForms } from './masks.ts'
import { killProcessesWith, type ProcessExit, type Sleep } from './node-process.ts'
import { StepLog } from './workflow-commands.ts'

export interface StepOptions {
  /** The folder of `action.yml`. The default is this repository. */
  readonly actionDir?: string | undefined
  /** The step's `with`, after its expressions were evaluated. */
  readonly inputs?: Readonly<Record<string, string>> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The default is a push to the default branch. */
  readonly event?: WorkflowEvent | undefined
  /** Fields of the `github` context that differ from what the event implies. */
  readonly github?: GithubContext | undefined
  readonly matrix?: Readonly<Record<string, unknown>> | undefined
  /** Masked from the start, like the secrets of a repository. The token of the `github` context is always masked. */
  readonly secrets?: readonly string[] | undefined
  readonly workspace?: string | undefined
  readonly tempDir?: string | undefined
  /** Step debug logging: RUNNER_DEBUG, and `::debug::` in the log. */
  readonly debug?: boolean | undefined
  readonly onLogLine?: ((line: string) => void) | undefined
  /** How the runner waits for the end of its grace periods. The default is real time. */
  readonly sleep?: Sleep | undefined
  /** If given, the job has a container. Signals of the runner end the step, but reach no process. */
  readonly container?: Container | undefined
}

/** What happens to a running step. */
export interface Interruption {
  /** When it happens: at a line of the log, a number of milliseconds after the start, or when a promise settles. */
  readonly on: RegExp | number | Promise<unknown>
  readonly by: 'cancel' | 'kill' | 'shutdown'
}

export interface JobResult {
  readonly main: ProcessResult
  /** How main's process ends. In a container, this is long after its result. After a shutdown, main ends only by itself. */
  readonly mainExit: Promise<ProcessExit>
  readonly post: ProcessResult
  readonly jobStatus: JobStatus
  /** What the job's page shows of this step: main's summary, then post's. */
  readonly summary: string
}

export const prepareStep = (options: StepOptions = {}) => new Step(options)

/** The only step of a job. Usable with `await using`. */
export class Step {
  readonly workspace: string
  readonly tempDir: string
  readonly masks = new SecretMasks()
  jobStatus: JobStatus = 'success'

  readonly #options: StepOptions
  readonly #manifest: ActionManifest
  /** Without links, because a process sees the real path of its current folder. */
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-')))
  readonly #github: GithubContext
  #jobEnv: Readonly<Record<string, string>> = {}
  #isShutDown = false
  #main: ActionProcess | undefined
  #post: ActionProcess | undefined

  constructor(options: StepOptions) {
    this.#options = options
    this.#manifest = readManifest(options.actionDir ?? REPOSITORY)
    this.workspace = options.workspace ?? join(this.#folder, 'work')
    this.tempDir = options.tempDir ?? join(this.#folder, 'temp')
    for (const folder of [this.workspace, this.tempDir]) mkdirSync(folder, { recursive: true })
    const event_path = join(this.#folder, 'event.json')
    writeFileSync(event_path, JSON.stringify(options.event?.payload ?? {}))
    this.#github = githubContext(options.event, { event_path, workspace: this.workspace, ...options.github })
    for (const secret of [String(this.#github.token), ...(options.secrets ?? [])]) this.masks.add(secret)
  }

  /** The values that a process started now would get, by input. */
  get inputs(): Readonly<Record<string, string>> {
    return this.#resolveInputs().values
  }

  startMain(): ActionProcess {
    this.#main = this.#start(this.#manifest.main, {})
    return this.#main
  }

  /** Starts post, also after a shutdown. */
  async startPost(): Promise<ActionProcess> {
    const { state = {} } = (await this.#main?.result()) ?? {}
    this.#post = this.#start(this.#manifest.post ?? '', state)
    return this.#post
  }

  /** Runs post if a job would run it now. Otherwise, the result has the conclusion `skipped`. */
  async runPost(): Promise<ProcessResult> {
    await this.#main?.result()
    if (this.#main === undefined || this.#manifest.post === undefined || this.#isShutDown) return SKIPPED
    const post = await this.startPost()
    return post.result()
  }

  /** Runs main, lets the interruption happen, and then runs post, as a job does. */
  async run(interruption?: Interruption): Promise<JobResult> {
    const process = this.startMain()
    if (interruption !== undefined) await this.#interrupt(process, interruption)
    const main = await process.result()
    if (this.#options.container !== undefined && interruption !== undefined) await delay(CONTAINER_PAUSE_MS)
    const post = await this.runPost()
    // After the last post, the container is removed, and the processes in it are killed.
    if (this.#options.container !== undefined && !this.#isShutDown) await this.#killAll()
    return { main, mainExit: process.exit, post, jobStatus: this.jobStatus, summary: main.summary + post.summary }
  }

  /** Ends every process that the step left and removes the folders that were made for it. */
  async dispose(): Promise<void> {
    await this.#killAll()
    await Promise.allSettled([this.#main?.result(), this.#post?.result()])
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }

  /** Every child of a process inherits the path of this file. Only processes of this step have it. */
  async #killAll(): Promise<void> {
    for (const process of [this.#main, this.#post]) process?.signal('SIGKILL')
    killProcessesWith(`GITHUB_EVENT_PATH=${this.#github.event_path}`)
    await Promise.all([this.#main?.exit, this.#post?.exit])
  }

  /** Does what the interruption says at its time. If main exits before, this changes nothing. */
  async #interrupt(main: ActionProcess, { on, by }: Interruption): Promise<void> {
    const isDue =
      on instanceof RegExp ? main.waitForLine(on) : typeof on === 'number' ? delay(on, undefined, { ref: false }) : on
    await Promise.race([isDue, main.result()]).catch(() => {})
    if (by === 'kill') main.signal('SIGKILL')
    else if (by === 'shutdown') await this.#shutDown(main)
    else await main.end(by)
  }

  /** The runner is stopped: main gets the signals, post does not run, and the temporary folder is emptied. */
  async #shutDown(main: ActionProcess): Promise<void> {
    this.#isShutDown = true
    await main.end('shutdown')
    for (const name of readdirSync(this.tempDir))
      rmSync(join(this.tempDir, name), { recursive: true, force: true, maxRetries: 20 })
  }

  #start(script: string, state: Values): ActionProcess {
    const { debug = false, onLogLine = () => {}, ...options } = this.#options
    const inputs = this.#resolveInputs()
    const files = new FileCommandFiles(this.tempDir)
    const log = new StepLog(this.masks, debug, onLogLine)
    for (const message of inputs.warnings) log.warn(message)
    return new ActionProcess({
      ...options,
      actionName: this.#manifest.name,
      script,
      cwd: this.workspace,
      env: this.#environment(inputs.values, state, files),
      files,
      log,
      masks: this.masks,
      onResult: (result) => this.#remember(result),
    })
  }

  /**
   * The whole environment of a process. It takes from this machine only what node needs, so that no proxy, locale or
   * NODE_OPTIONS of the developer decides a test. If a name is in several groups, the last group wins, as in the runner.
   */
  #environment(inputs: Values, state: Values, { paths }: FileCommandFiles): Record<string, string> {
    const { env, debug } = this.#options
    const ofStep = {
      ...Object.fromEntries(OF_THE_MACHINE.map((name) => [name, process.env[name]])),
      PATH: dirname(process.execPath) + delimiter + process.env.PATH,
      CI: 'true',
      ...this.#jobEnv,
      ...env,
      ...renamed(state, (name) => `STATE_${name}`),
      ...renamed(inputs, inputVariable),
      ...githubVariables(this.#github),
      RUNNER_NAME: 'GitHub Actions 1',
      RUNNER_TEMP: this.tempDir,
      RUNNER_DEBUG: debug === true ? '1' : undefined,
      ...renamed(paths, (name) => `GITHUB_${name}`),
      GITHUB_ACTIONS: 'true',
    }
    const isSet = (entry: [string, unknown]): entry is [string, string] => entry[1] !== undefined
    return Object.fromEntries(Object.entries(ofStep).filter(isSet))
  }

  #remember(result: ProcessResult): void {
    const { conclusion, endedBy, env } = result
    this.#jobEnv = { ...this.#jobEnv, ...env }
    if (endedBy === 'cancel') this.jobStatus = 'cancelled'
    else if (this.jobStatus === 'success' && conclusion !== 'success') this.jobStatus = 'failure'
  }

  #resolveInputs() {
    const { inputs = {}, matrix } = this.#options
    return resolveInputs(this.#manifest, inputs, contextsOf(matrix, this.jobStatus))
  }
}

// With a cache of compiled code, which our tests have, the processes of a job take two thirds of the time.
const OF_THE_MACHINE = ['HOME', 'USERPROFILE', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE']

type Values = Readonly<Record<string, string>>

function renamed(values: Values, rename: (name: string) => string): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [rename(name), value]))
}

/** In a container, post begins 0.3 to 0.6 s after a cancel. */
const CONTAINER_PAUSE_MS = 300

/** The places in which the secret can be read, in any usual form. Empty if there is no such place. */
export function placesThatShow(secret: string, { log, files, outputs, annotations }: ProcessResult): readonly string[] {
  const places: Readonly<Record<string, readonly string[]>> = {
    log,
    summary: [files.STEP_SUMMARY],
    state: [files.STATE],
    env: [files.ENV],
    outputs: Object.values(outputs),
    titles: annotations.map(({ title }) => title),
    messages: annotations.map(({ message }) => message),
  }
  const bytes = Buffer.from(secret)
  // Takes only whole groups of three bytes, because padding and the following text do not change these.
  const groups = [0, 1, 2].map((offset) => bytes.subarray(offset, bytes.length - ((bytes.length - offset) % 3)))
  const unmasked = [
    bytes.toString('hex'),
    ...groups.flatMap((group) => [group.toString('base64'), group.toString('base64url')]),
  ]
  const forms = [...secretForms(secret), ...unmasked]
  const shows = (text: string) => forms.some((form) => text.includes(form))
  return Object.keys(places).filter((place) => places[place]?.some(shows))
}

const REPOSITORY = resolve(import.meta.dirname, '../../..')

export type { ActionProcess, Container, ProcessResult } from './action-process.ts'
export type { Annotation } from './workflow-commands.ts'
