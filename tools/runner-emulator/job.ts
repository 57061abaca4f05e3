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
import { type GithubContext, githubContext, type WorkflowEvent } from './contexts.ts'
import type { ExpressionValue } from './expression-values.ts'
import { type Contexts, conditionHolds, type JobStatus, renderTemplate } from './expressions.ts'
import { parseKeyValueFile } from './file-commands.ts'
import { endProcessesWith } from './process.ts'
import { prepareStep, type Step } from './runner.ts'

// One job of a workflow of ours, played in the order of its steps: scripts in bash, `uses: ./` over the built action.

interface WorkflowText {
  readonly env?: Readonly<Record<string, unknown>>
  readonly jobs: Readonly<Record<string, JobText>>
}

interface JobText {
  readonly if?: string
  readonly needs?: string | readonly string[]
  readonly env?: Readonly<Record<string, unknown>>
  readonly defaults?: { readonly run?: { readonly shell?: string } }
  readonly outputs?: Readonly<Record<string, string>>
  readonly steps: readonly StepText[]
}

interface StepText {
  readonly id?: string
  readonly name?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, unknown>>
  readonly with?: Readonly<Record<string, unknown>>
  readonly 'continue-on-error'?: boolean
  readonly 'timeout-minutes'?: number
}

export interface JobOptions {
  /** A push to the default branch unless given. */
  readonly event?: WorkflowEvent
  /** Fields of the `github` context that the event does not decide as wanted. */
  readonly github?: GithubContext
  /** What this machine does not have by itself: `vars`, `secrets`, `matrix`. */
  readonly contexts?: Contexts
  /** A folder of commands that scripts find before all others. */
  readonly commands?: string
  /** How the jobs ended that this one may need. Of the others it sees nothing. */
  readonly needs?: Readonly<Record<string, NeededJob>>
  /** Scripts that are taken as done: what they bring is there. */
  readonly skip?: readonly string[]
  /** How long a minute of `timeout-minutes` takes here. */
  readonly minuteMs?: number
  /** The workflow is cancelled while the step of this id runs and logs this. */
  readonly cancel?: { readonly during: string; readonly on: RegExp }
}

interface NeededJob {
  readonly result: JobStatus | 'skipped'
  readonly outputs?: Readonly<Record<string, string>>
}

export interface JobPlayed {
  readonly result: JobStatus | 'skipped'
  readonly outputs: Readonly<Record<string, string>>
  /** Everything that the scripts and the action wrote, for whoever has to find out why. */
  readonly log: string
}

export async function playJob(file: string, job: string, options: JobOptions = {}): Promise<JobPlayed> {
  const workflow: WorkflowText = parse(readFileSync(join(REPOSITORY, file), 'utf8'))
  const played = new PlayedJob(workflow, job, options)
  try {
    return await played.play()
  } finally {
    await played.dispose()
  }
}

class PlayedJob {
  readonly #job: JobText
  readonly #env: Readonly<Record<string, unknown>>
  readonly #needs: Readonly<Record<string, NeededJob>>
  readonly #options: JobOptions
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'job-')))
  readonly #workspace = join(this.#folder, 'work')
  readonly #trackingId = `github_${randomUUID()}`
  readonly #steps: Record<string, ExpressionValue> = {}
  readonly #actions: Step[] = []
  readonly #log: string[] = []
  #status: JobStatus = 'success'

  constructor(workflow: WorkflowText, name: string, options: JobOptions) {
    const job = workflow.jobs[name]
    if (job === undefined) throw new Error(`There is no job ${name}.`)
    this.#job = job
    this.#env = { ...workflow.env, ...job.env }
    this.#needs = Object.fromEntries(
      [job.needs ?? []].flat().map((needed) => {
        const end = options.needs?.[needed]
        if (end === undefined) throw new Error(`The job ${name} needs ${needed}: say how that ended.`)
        return [needed, end] as const
      }),
    )
    this.#options = options
    // What a checkout brings, linked: the scripts may write beside it without changing it.
    mkdirSync(this.#workspace)
    for (const name of readdirSync(REPOSITORY)) symlinkSync(join(REPOSITORY, name), join(this.#workspace, name))
  }

  async play(): Promise<JobPlayed> {
    if (!conditionHolds(this.#job.if ?? 'success()', this.#contexts(), this.#statusOfNeeded())) {
      return { result: 'skipped', outputs: {}, log: '' }
    }
    for (const step of this.#job.steps) await this.#playStep(step)
    for (const action of this.#actions.toReversed()) this.#log.push(...(await action.runPost()).log)
    const outputs = Object.entries(this.#job.outputs ?? {}).map(([name, value]) => [name, this.#render(value)] as const)
    return { result: this.#status, outputs: Object.fromEntries(outputs), log: this.#log.join('\n') }
  }

  async dispose(): Promise<void> {
    for (const action of this.#actions) await action.dispose()
    await endProcessesWith(`RUNNER_TRACKING_ID=${this.#trackingId}`)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** What `success()` and its siblings mean in the condition of a job. */
  #statusOfNeeded(): JobStatus {
    const results = Object.values(this.#needs).map(({ result }) => result)
    if (results.includes('cancelled')) return 'cancelled'
    return results.every((result) => result === 'success') ? 'success' : 'failure'
  }

  async #playStep(step: StepText): Promise<void> {
    if (!conditionHolds(step.if ?? 'success()', this.#contexts(), this.#status)) {
      if (step.id !== undefined) this.#steps[step.id] = { outcome: 'skipped', conclusion: 'skipped', outputs: {} }
      return
    }
    this.#log.push(`## ${step.name ?? step.uses ?? step.run}`)
    const { outcome, outputs } = await this.#playAnyStep(step)
    const conclusion = outcome === 'failure' && step['continue-on-error'] === true ? 'success' : outcome
    if (step.id !== undefined) this.#steps[step.id] = { outcome, conclusion, outputs: { ...outputs } }
    if (this.#status === 'success' || conclusion === 'cancelled') this.#status = conclusion
  }

  async #playAnyStep(step: StepText): Promise<StepPlayed> {
    if (step.run !== undefined) {
      const script = this.#render(step.run)
      return this.#options.skip?.includes(script) ? DONE : this.#playScript(script, step)
    }
    // Checkout and Node are there.
    return OWN_ACTION.test(step.uses ?? '') ? this.#playAction(step) : DONE
  }

  async #playAction(step: StepText): Promise<StepPlayed> {
    const { minuteMs = 60_000, cancel, event, github } = this.#options
    const minutes = step['timeout-minutes']
    const action = prepareStep({
      workspace: this.#workspace,
      env: this.#renderAll({ ...this.#env, ...step.env }),
      inputs: this.#renderAll(step.with),
      ...(event === undefined ? {} : { event }),
      ...(github === undefined ? {} : { github }),
      ...(minutes === undefined ? {} : { timeoutMs: minutes * minuteMs }),
    })
    this.#actions.push(action)
    const main = action.startMain()
    if (cancel !== undefined && cancel.during === step.id) {
      await main.waitForLine(cancel.on)
      await main.cancel()
    }
    const { conclusion, outputs, log } = await main.ended()
    this.#log.push(...log)
    if (conclusion === 'skipped') throw new Error('Main is never skipped.')
    return { outcome: conclusion, outputs }
  }

  async #playScript(script: string, step: StepText): Promise<StepPlayed> {
    const output = join(this.#folder, `output-${randomUUID()}`)
    const file = join(this.#folder, `script-${randomUUID()}.sh`)
    writeFileSync(output, '')
    writeFileSync(file, script)
    const shell = step.shell ?? this.#job.defaults?.run?.shell
    // The runner's own words: only a shell that is asked for has `pipefail`.
    const flags = shell === 'bash' ? ['--noprofile', '--norc', '-e', '-o', 'pipefail'] : ['-e']
    const { commands } = this.#options
    const child = spawn('bash', [...flags, file], {
      cwd: this.#workspace,
      env: {
        ...withoutRunner(process.env),
        ...(commands === undefined ? {} : { PATH: `${commands}:${process.env.PATH}` }),
        ...this.#renderAll(this.#env),
        ...this.#renderAll(step.env),
        GITHUB_OUTPUT: output,
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
    return { outcome: exitCode === 0 ? 'success' : 'failure', outputs: Object.fromEntries(entries) }
  }

  #contexts(): Contexts {
    const needs = Object.entries(this.#needs).map(
      ([name, { result, outputs = {} }]) => [name, { result, outputs: { ...outputs } }] as const,
    )
    const { event = { name: 'push' }, github, contexts } = this.#options
    return {
      ...contexts,
      github: githubContext(event, github),
      steps: this.#steps,
      needs: Object.fromEntries(needs),
    }
  }

  #render(value: unknown): string {
    return renderTemplate(String(value), this.#contexts())
  }

  #renderAll(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.#render(value)]))
  }
}

/** The tests themselves may run in a job, whose files are none of this one's. */
function withoutRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GITHUB|RUNNER|ACTIONS|INPUT)_/.test(name)))
}

interface StepPlayed {
  readonly outcome: JobStatus
  readonly outputs: Readonly<Record<string, string>>
}

/** In our own workflows, and in the recipes. */
const OWN_ACTION = /^\.\/$|\/test-run-action@/

const DONE: StepPlayed = { outcome: 'success', outputs: {} }

const REPOSITORY = resolve(import.meta.dirname, '../..')
