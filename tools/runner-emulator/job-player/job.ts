import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'yaml'
import { type GithubContext, githubContext, type WorkflowEvent } from '../step-runner/contexts.ts'
import {
  type Contexts,
  conditionHolds,
  type ExpressionValue,
  type JobStatus,
  renderTemplate,
} from '../step-runner/expressions.ts'
import { parseKeyValueFile } from '../step-runner/file-commands.ts'
import { killProcessesWith, type Sleep } from '../step-runner/node-process.ts'
import { prepareStep, type Step, type StepOptions } from '../step-runner/runner.ts'

// Runs one job of a workflow: its scripts in bash, and `uses: ./` or `uses: ./local-service` as a step of the built action.

interface Workflow {
  readonly name?: string
  readonly env?: Readonly<Record<string, unknown>>
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly if?: string
  readonly needs?: string | readonly string[]
  readonly env?: Readonly<Record<string, unknown>>
  readonly defaults?: { readonly run?: { readonly shell?: string } }
  readonly outputs?: Readonly<Record<string, string>>
  readonly steps: readonly JobStep[]
}

interface JobStep {
  readonly id?: string
  readonly name?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, unknown>>
  readonly with?: Readonly<Record<string, unknown>>
  readonly 'continue-on-error'?: boolean
}

export interface JobOptions {
  /** A push to the default branch unless given. */
  readonly event?: WorkflowEvent | undefined
  /** Fields of the `github` context that differ from what the event implies. */
  readonly github?: GithubContext | undefined
  /** Contexts that this machine cannot know: `vars`, `secrets`, `matrix`. */
  readonly contexts?: Contexts | undefined
  /** A folder of commands that scripts find before all others. */
  readonly commands?: string | undefined
  /** The folder that a checkout made; links to this repository's files unless given. */
  readonly workspace?: string | undefined
  readonly needs?: Readonly<Record<string, NeededJob>> | undefined
  /** Cancels the workflow, or lets a step exceed its time limit, when the step with this id logs a line that matches `on`. */
  readonly interrupt?: { readonly during: string; readonly on: RegExp; readonly by: 'cancel' | 'timeout' }
  /** How the runner waits for the end of its grace periods. The default is real time. */
  readonly sleep?: Sleep | undefined
  /** What a step does that uses another action than this one. It gets the step's `uses` and `with`. The result `failure` fails the step. */
  readonly otherAction?: ((uses: string, inputs: Readonly<Record<string, string>>) => unknown) | undefined
}

export interface NeededJob {
  readonly result: JobStatus | 'skipped'
  readonly outputs?: Readonly<Record<string, string>>
}

export interface PlayedJob extends NeededJob {
  readonly outputs: Readonly<Record<string, string>>
  readonly log: string
  /** What the page of the job shows: the summaries of its actions. */
  readonly summary: string
}

/**
 * Plays a job of a workflow file: its steps in their order, and then the posts of its actions. The path of the file is
 * relative to the repository. Afterwards, all processes and folders of the job are removed.
 */
export async function playJob(file: string, job: string, options: JobOptions = {}): Promise<PlayedJob> {
  const workflow: Workflow = parse(readFileSync(resolve(REPOSITORY, file), 'utf8'))
  await using jobRun = new JobRun(workflow, job, options)
  return await jobRun.run()
}

class JobRun {
  readonly #job: Job
  /** An action can add to it for the steps after it. */
  #env: Readonly<Record<string, unknown>>
  readonly #options: JobOptions
  readonly #github: GithubContext
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'job-')))
  readonly #workspace: string
  readonly #trackingId = `github_${randomUUID()}`
  readonly #steps: Record<string, ExpressionValue> = {}
  readonly #actions: Step[] = []
  readonly #log: string[] = []
  readonly #summary: string[] = []
  #status: JobStatus = 'success'

  constructor(workflow: Workflow, name: string, options: JobOptions) {
    const job = workflow.jobs[name]
    if (job === undefined) throw new Error(`There is no job ${name}.`)
    const missing = [job.needs ?? []].flat().filter((needed) => options.needs?.[needed] === undefined)
    if (missing.length > 0) throw new Error(`The job ${name} needs ${missing}: give their results.`)
    this.#job = job
    this.#env = { ...workflow.env, ...job.env }
    this.#options = options
    this.#github = githubContext(options.event, { workflow: workflow.name ?? '', job: name, ...options.github })
    this.#workspace = options.workspace ?? linksToRepository(join(this.#folder, 'work'))
  }

  async run(): Promise<PlayedJob> {
    if (!conditionHolds(this.#job.if ?? 'success()', this.#contexts(), this.#statusOfNeeded())) {
      return { result: 'skipped', outputs: {}, log: '', summary: '' }
    }
    for (const step of this.#job.steps) await this.#runStep(step)
    for (const action of this.#actions.toReversed()) {
      action.jobStatus = this.#status
      const post = await action.runPost()
      this.#log.push(...post.log)
      this.#summary.push(post.summary)
    }
    const outputs = this.#renderAll(this.#job.outputs)
    return { result: this.#status, outputs, log: this.#log.join('\n'), summary: this.#summary.join('') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const action of this.#actions) await action.dispose()
    killProcessesWith(`RUNNER_TRACKING_ID=${this.#trackingId}`)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** What `success()` and the other status functions mean in the condition of a job. */
  #statusOfNeeded(): JobStatus {
    const results = Object.values(this.#options.needs ?? {}).map(({ result }) => result)
    if (results.includes('cancelled')) return 'cancelled'
    return results.every((result) => result === 'success') ? 'success' : 'failure'
  }

  async #runStep(step: JobStep): Promise<void> {
    if (!conditionHolds(step.if ?? 'success()', this.#contexts(), this.#status)) {
      if (step.id !== undefined) this.#steps[step.id] = { outcome: 'skipped', conclusion: 'skipped', outputs: {} }
      return
    }
    this.#log.push(`## ${step.name ?? step.uses ?? step.run}`)
    const { outcome, outputs } = await this.#runStepBody(step)
    const conclusion = outcome === 'failure' && step['continue-on-error'] === true ? 'success' : outcome
    if (step.id !== undefined) this.#steps[step.id] = { outcome, conclusion, outputs: { ...outputs } }
    if (this.#status === 'success' || conclusion === 'cancelled') this.#status = conclusion
  }

  async #runStepBody(step: JobStep): Promise<StepOutcome> {
    if (step.run !== undefined) return this.#runScript(this.#render(step.run), step)
    const own = OWN_ACTION.exec(step.uses ?? '')
    if (own !== null) return this.#runAction(step, own[1] ?? '')
    // Most other actions are checkout and setup-node. The files and Node are there already.
    const result = this.#options.otherAction?.(step.uses ?? '', this.#renderAll(step.with))
    return { outcome: result === 'failure' ? 'failure' : 'success', outputs: {} }
  }

  async #runAction(step: JobStep, folder: string): Promise<StepOutcome> {
    const { interrupt, event, contexts, sleep } = this.#options
    const action = prepareStep({
      actionDir: join(REPOSITORY, folder),
      sleep,
      workspace: this.#workspace,
      tempDir: join(this.#folder, 'temp'),
      env: this.#renderAll({ ...this.#env, ...step.env }),
      inputs: this.#renderAll(step.with),
      event,
      matrix: contexts?.matrix as StepOptions['matrix'],
      github: { ...this.#github, action: step.id ?? '__self' },
    })
    this.#actions.push(action)
    const main = action.startMain()
    if (interrupt !== undefined && interrupt.during === step.id) {
      await main.waitForLine(interrupt.on)
      await main.end(interrupt.by)
    }
    const { conclusion, outputs, env, log, summary } = await main.result()
    this.#env = { ...this.#env, ...env }
    this.#log.push(...log)
    this.#summary.push(summary)
    if (conclusion === 'skipped') throw new Error('Main is never skipped.')
    return { outcome: conclusion, outputs }
  }

  async #runScript(script: string, step: JobStep): Promise<StepOutcome> {
    const output = join(this.#folder, `output-${randomUUID()}`)
    const file = join(this.#folder, `script-${randomUUID()}.sh`)
    writeFileSync(output, '')
    writeFileSync(file, script)
    const shell = step.shell ?? this.#job.defaults?.run?.shell
    // The runner starts bash with `pipefail` only if the workflow names the shell.
    const flags = shell === 'bash' ? ['--noprofile', '--norc', '-e', '-o', 'pipefail'] : ['-e']
    const { commands } = this.#options
    const child = spawn('bash', [...flags, file], {
      cwd: this.#workspace,
      env: {
        ...withoutRunner(process.env),
        ...(commands === undefined ? {} : { PATH: `${commands}:${process.env.PATH}` }),
        ...this.#renderAll(this.#env),
        ...this.#renderAll(step.env),
        // Scripts keep files for their user in this folder. So they are removed with the job's folder.
        XDG_STATE_HOME: join(this.#folder, 'state'),
        GITHUB_OUTPUT: output,
        GITHUB_RUN_ID: String(this.#github.run_id),
        GITHUB_RUN_ATTEMPT: String(this.#github.run_attempt),
        RUNNER_TRACKING_ID: this.#trackingId,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = new Promise<number | null>((done) => child.once('exit', done))
    const written = Promise.all([text(child.stdout), text(child.stderr)])
    const exitCode = await exited
    this.#log.push(...(await written), `exit code ${exitCode}`)
    const { entries, problem } = parseKeyValueFile(readFileSync(output, 'utf8'))
    if (problem !== undefined) throw new Error(`A script's outputs are broken: ${problem}`)
    const outcome = exitCode === 0 ? 'success' : 'failure'
    return { outcome, outputs: Object.fromEntries(entries) }
  }

  #contexts(): Contexts {
    const { contexts, needs = {} } = this.#options
    return {
      ...contexts,
      github: this.#github,
      job: { status: this.#status },
      steps: this.#steps,
      needs: needs as unknown as ExpressionValue,
    }
  }

  #render(value: unknown): string {
    return renderTemplate(String(value), this.#contexts())
  }

  #renderAll(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.#render(value)]))
  }
}

/** Links to the files of a checkout. So scripts can write new files there without changing the repository. */
function linksToRepository(folder: string): string {
  mkdirSync(folder)
  for (const name of readdirSync(REPOSITORY)) symlinkSync(join(REPOSITORY, name), join(folder, name))
  return folder
}

/** The tests may run in a real job or in an npm script. The played job gets no variable of these. */
function withoutRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GITHUB|RUNNER|ACTIONS|INPUT|npm)_/.test(name)))
}

interface StepOutcome {
  readonly outcome: JobStatus
  readonly outputs: Readonly<Record<string, string>>
}

/** The names of this action and of `local-service` in our own workflows and in the recipes. */
const OWN_ACTION = /^(?:\.\/|[\w-]+\/test-run-action)(\/?local-service)?(?:@|$)/

const REPOSITORY = resolve(import.meta.dirname, '../../..')
