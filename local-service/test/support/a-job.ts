import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { ROOT } from '../../../test/documents/documents.ts'
import {
  createRepository,
  type GitRepository,
  type InstalledVersion,
  installPackages,
} from '../../../test/support/git-repository.ts'
import { importing } from '../../../test/support/scenario.ts'
import type { GithubContext, WorkflowEvent } from '../../../tools/runner-emulator/step-runner/contexts.ts'
import {
  type ProcessResult,
  prepareStep,
  type Step,
  type StepOptions,
} from '../../../tools/runner-emulator/step-runner/runner.ts'
import { pidsIn, processesThat } from './a-local-service.ts'

export { importing }

// A job with the built action local-service and the built gate. The tests of the projects really run.

export type Files = Readonly<Record<string, string>>

export const VITEST = { 'package.json': '{ "type": "module", "devDependencies": { "vitest": "*" } }' }
export const PLAYWRIGHT = { 'package.json': '{ "type": "module", "devDependencies": { "@playwright/test": "*" } }' }
export const PASSING = `import { test } from 'vitest'\ntest('adds', () => {})`
/** Writes its process id, and never ends. */
export const HANGING = `import { test } from 'vitest'
import { writeFileSync } from 'node:fs'
test('hangs', { timeout: 3_600_000 }, () => { writeFileSync('pid', String(process.pid)); return new Promise(() => {}) })`
const ADDS = { project: '', file: 'cart.test.js', id: 'adds', path: ['adds'], status: 'PASSED', durationMs: 1 }
const REPORT = { writer: 'w', event: 'finished', tests: [ADDS], files: [], errors: [] }
/** What a script does instead, if nothing depends on Vitest. Vitest takes a second to start. */
export const PASSING_SCRIPT = `echo '${JSON.stringify(REPORT)}' > "$LOCAL_SERVICE_REPORT_FILE"`
export const HANGING_SCRIPT = 'echo $$ > pid; exec sleep 3600'

/** The warning of post if the end of the job has interrupted a run. */
export const NOT_AWAITED = {
  level: 'warning',
  message: expect.stringMatching(/^A run had not finished when the job ended, so nobody knows its verdict\./),
}

/** The inputs of the service for a project whose tests are a script. */
export const SCRIPTED = { config: 'service.json' }
/** The files of such a project. */
export function scripted(script: string): Files {
  const shop = { folder: '.', framework: 'vitest', command: ['sh', '-c', script, 'sh'] }
  return { [SCRIPTED.config]: JSON.stringify({ projects: { shop } }) }
}

export interface StepSettings {
  readonly inputs?: Readonly<Record<string, string>> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly event?: WorkflowEvent | undefined
  readonly github?: GithubContext | undefined
  readonly tempDir?: string | undefined
}

/** The steps and folders that a test makes. Tests run at the same time, so each test has its own object. */
export class Jobs {
  readonly #steps: Step[] = []
  readonly #folders: string[] = []

  folder(): string {
    const path = realpathSync(mkdtempSync(join(tmpdir(), 'job-')))
    this.#folders.push(path)
    return path
  }

  async repository(files: Files): Promise<GitRepository> {
    const repository = await createRepository(files)
    this.#folders.push(repository.folder)
    return repository
  }

  /** A repository that has the packages of this repository. */
  async project(files: Files, version?: InstalledVersion): Promise<GitRepository> {
    const repository = await this.repository({ '.gitignore': 'node_modules\n', ...files })
    await installPackages(repository.folder, version)
    return repository
  }

  /** A folder without git, whose tests are a script. */
  scripted(script: string): string {
    return this.commands(scripted(script))
  }

  /** A folder with these scripts, for the beginning of a PATH. */
  commands(scripts: Files): string {
    const folder = this.folder()
    for (const [name, script] of Object.entries(scripts)) writeFileSync(join(folder, name), script, { mode: 0o755 })
    return folder
  }

  /** The step that starts the service. */
  service(workspace: string, settings: StepSettings = {}): Step {
    return this.#step({ actionDir: join(ROOT, 'local-service'), workspace, ...settings })
  }

  async start(workspace: string, settings: StepSettings = {}) {
    const step = this.service(workspace, settings)
    const main = await step.startMain().result()
    expect(main, main.log.join('\n')).toMatchObject({ conclusion: 'success', annotations: [] })
    return { step, outputs: main.outputs, env: main.env, log: main.log }
  }

  /** The gate, in the job of the service. */
  gate(
    { workspace, tempDir }: Step,
    outputs: ProcessResult['outputs'],
    { inputs, event, github }: StepSettings = {},
  ): Step {
    const { 'base-url': url = '', 'api-key': key = '', project = '', commit: branch = '' } = outputs
    const given = { 'base-url': url, 'api-key': key, project, branch, 'poll-interval-seconds': '0.1', ...inputs }
    return this.#step({ workspace, tempDir, inputs: given, event, github })
  }

  /** The gate without a line under `with:`, in the job of the service. */
  gateWithoutInputs({ workspace, tempDir }: Step, env: ProcessResult['env']): Step {
    return this.#step({ workspace, tempDir, env })
  }

  /** Runs a whole job: the service, the gate, and the posts of both. */
  async play(workspace: string, settings: StepSettings = {}, gateInputs: Readonly<Record<string, string>> = {}) {
    const { step, outputs } = await this.start(workspace, settings)
    const { main } = await this.gate(step, outputs, { event: settings.event, inputs: gateInputs }).run()
    return { step, outputs, main, post: await step.runPost() }
  }

  /** The gate waits for a run whose tests are a script that hangs. */
  async whileScriptHangs(settings: Pick<StepSettings, 'env'> = {}, script = HANGING_SCRIPT) {
    const folder = this.scripted(script)
    const { step, outputs } = await this.start(folder, { ...settings, inputs: SCRIPTED })
    const gate = this.gate(step, outputs)
    const main = gate.startMain()
    const [hanging = 0] = await pidsIn(join(folder, 'pid'))
    return { step, outputs, gate, main, hanging }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const step of this.#steps) await step.dispose()
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }

  #step(options: StepOptions): Step {
    const step = prepareStep(options)
    this.#steps.push(step)
    return step
  }
}

export const test = base.extend<{ jobs: Jobs }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it which other fixtures this one needs
  jobs: async ({}, use) => {
    await using jobs = new Jobs()
    await use(jobs)
  },
})

/** The job's own processes: each inherits the temporary folder's path, and no other job has it. */
export function processesOf({ tempDir }: Step): number[] {
  const variable = `RUNNER_TEMP=${tempDir}`
  return processesThat((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable))
}

/** The folder of the service in the runner's temporary folder. */
export function serviceFolder({ tempDir }: Step): string {
  const [name = ''] = readdirSync(tempDir).filter((entry) => entry.startsWith('test-run-service-'))
  return join(tempDir, name)
}

/** The service's process. The last of its arguments is its folder. */
export function serviceProcess(step: Step): number {
  const last = `\0${serviceFolder(step)}\0`
  const [pid = 0] = processesThat((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').endsWith(last))
  return pid
}

export const ON_LINUX = process.platform === 'linux'
