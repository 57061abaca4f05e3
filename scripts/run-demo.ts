import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { type ProcessResult, prepareStep, type Step } from '../tools/runner-emulator/step-runner/runner.ts'
import type { DemoOptions, LocalService, OwnService } from './demo-options.ts'

export interface DemoWorld {
  /** The demo empties this folder first, and leaves the summary and the reports in it. */
  readonly folder: string
  readonly print: (line: string) => void
  /** If it aborts, the step ends as after a click on the workflow's Cancel button. */
  readonly stop: AbortSignal
}

const ROOT = resolve(import.meta.dirname, '..')

/** Runs the built actions. Returns the exit code of the job. */
export async function runDemo(options: DemoOptions, { folder, print, stop }: DemoWorld): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const show = (line: string): void => {
    if (line !== '##[endgroup]') print(asGitHubShows(line))
  }
  const { inputs, baseline, signalAfterMs } = options
  await using service =
    'folder' in options.service ? await startLocalService(options.service, { show, stop }) : withoutEnd(options.service)
  const { main, summary } =
    'failed' in service
      ? { main: service.failed, summary: service.failed.summary }
      : await runGate(service, {
          inputs,
          baseline,
          folder,
          show,
          stop: signalAfterMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(signalAfterMs)]),
        })
  writeFileSync(join(folder, 'summary.md'), summary + (await service.runPost()))
  for (const line of linesAfter(main, folder)) print(line)
  return exitCodeOf(main)
}

type Show = (line: string) => void

interface DemoService extends AsyncDisposable {
  /** Ends the service if a post step does so. Returns what post writes to the job summary. */
  runPost(): Promise<string>
}

interface GateOptions extends Pick<DemoWorld, 'folder' | 'stop'>, Pick<DemoOptions, 'inputs' | 'baseline'> {
  readonly show: Show
}

/** The demo does not end a service that it did not start. */
function withoutEnd(service: OwnService): DemoService & OwnService {
  return { ...service, runPost: async () => '', [Symbol.asyncDispose]: async () => {} }
}

async function runGate(
  { key, inputs: ofService, env }: OwnService,
  { inputs, baseline, folder, show, stop }: GateOptions,
) {
  const workspace = join(folder, 'workspace')
  if (baseline !== undefined) {
    mkdirSync(workspace)
    writeFileSync(join(workspace, 'baseline.json'), baseline)
  }
  await using step = prepareStep({
    workspace,
    tempDir: join(folder, 'temp'),
    secrets: [key],
    env,
    inputs: { ...ofService, ...(baseline !== undefined && { baseline: 'baseline.json' }), ...inputs },
    event: { name: 'push', payload: { ref: 'refs/heads/main' } },
    onLogLine: show,
  })
  const main = await showMain(step, './', { show, stop, env })
  show('')
  const post = await showPost(step, './', show)
  return { main, summary: main.summary + post.summary }
}

async function showMain(
  step: Step,
  uses: string,
  { show, stop, env = {} }: { readonly show: Show; readonly stop: AbortSignal; readonly env?: OwnService['env'] },
): Promise<ProcessResult> {
  for (const line of linesAbout(step, uses, env)) show(step.masks.apply(line))
  const main = step.startMain()
  const cancelMain = () => void (main.isRunning && main.cancel())
  if (stop.aborted) cancelMain()
  else stop.addEventListener('abort', cancelMain)
  return main.result()
}

async function showPost(step: Step, uses: string, show: Show): Promise<ProcessResult> {
  show(`##[group]Post Run ${uses}`)
  show('Post job cleanup.')
  const result = await step.runPost()
  show('##[endgroup]')
  return result
}

async function startLocalService(
  { folder, serviceInputs }: LocalService,
  { show, stop }: { readonly show: Show; readonly stop: AbortSignal },
): Promise<DemoService & (OwnService | { readonly failed: ProcessResult })> {
  const uses = './local-service'
  // The temporary folder of the step lies outside this repository, because the project may lie in it.
  const step = prepareStep({
    actionDir: join(ROOT, 'local-service'),
    workspace: folder,
    inputs: serviceInputs,
    env: personalEnvironment(),
    event: { name: 'push' },
    onLogLine: show,
  })
  const main = await showMain(step, uses, { show, stop })
  show('')
  const service = {
    async runPost() {
      show('')
      const { summary } = await showPost(step, uses, show)
      return summary
    },
    [Symbol.asyncDispose]: () => step.dispose(),
  }
  if (main.conclusion !== 'success') return { ...service, failed: main }
  // The gate finds the service as in a job: by the variables that the service has announced.
  return { ...service, key: main.outputs['api-key'] ?? '', inputs: {}, env: main.env }
}

/** The tests get the variables of this machine, as they get those of the runner in a job. */
function personalEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** What the runner prints before it starts a step. */
function linesAbout(step: Step, uses: string, env: Readonly<Record<string, string>>): string[] {
  const block = (title: string, values: Iterable<[string, string]>) => {
    const lines = [...values].flatMap(([name, value]) => (value === '' ? [] : [`  ${name}: ${value}`]))
    return lines.length === 0 ? [] : [title, ...lines]
  }
  return [
    `##[group]Run ${uses}`,
    ...block('with:', Object.entries(step.inputs)),
    ...block('env:', Object.entries(env)),
    '##[endgroup]',
  ]
}

function asGitHubShows(line: string): string {
  return line.replace(/^##\[group\]/, '▼ ').replace(/^##\[(error|warning|notice)\]/, (_, level) => `${TITLES[level]}: `)
}

const TITLES: Readonly<Record<string, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' }

function linesAfter({ conclusion, outputs }: ProcessResult, folder: string): string[] {
  const reportDir = outputs['report-dir']
  const reports =
    reportDir === undefined || !existsSync(reportDir)
      ? []
      : [`Its report files, in ${pathFromHere(reportDir)}: ${readdirSync(reportDir).join(', ')}`]
  const outputLines = Object.entries(outputs).map(([name, value]) => `  ${name.padEnd(12)} ${value}`)
  return [
    '',
    `The step: ${conclusion}`,
    outputLines.length > 0 ? 'Its outputs:' : 'Its outputs: none',
    ...outputLines,
    `Its job summary: ${pathFromHere(join(folder, 'summary.md'))}`,
    ...reports,
  ]
}

function pathFromHere(path: string): string {
  return relative(process.cwd(), path) || '.'
}

/** The exit code of the step. If the step did not succeed, the code is never 0. */
function exitCodeOf({ conclusion, exitCode, signal }: ProcessResult): number {
  if (conclusion === 'success') return 0
  if (signal !== null) return 128 + constants.signals[signal]
  return exitCode || 1
}
