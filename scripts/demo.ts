// `npm start` runs steps of a workflow on this machine. DEMO_USAGE lists its options.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { readManifest } from '../tools/runner-emulator/step-runner/manifest.ts'
import { type ProcessResult, prepareStep, type Step } from '../tools/runner-emulator/step-runner/runner.ts'
import { DEMO_USAGE, type DemoOptions, parseDemoArguments, UsageError } from './demo-options.ts'

const ROOT = resolve(import.meta.dirname, '..')
const USAGE_ERROR_EXIT_CODE = 2

export interface DemoWorld {
  /** The demo empties this folder first, and leaves the summary and the reports in it. */
  readonly folder: string
  readonly print: (line: string) => void
  /** If it aborts, the step ends as after a click on the workflow's Cancel button. */
  readonly stop: AbortSignal
}

/** Runs the built actions. Returns the exit code of the job. */
export async function runDemo(options: DemoOptions, { folder, print, stop }: DemoWorld): Promise<number> {
  const { inputs, localService, signalAfterMs } = options
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  let summary = ''
  const show = (line: string): void => {
    if (line !== '##[endgroup]') print(asGitHubShows(line))
  }

  async function runMain(step: Step, uses: string, env: Values, cancel: AbortSignal): Promise<ProcessResult> {
    show(`##[group]Run ${uses}`)
    const about = [...linesOf('with:', step.inputs), ...linesOf('env:', env)]
    for (const line of about) show(step.masks.apply(line))
    const main = step.startMain()
    if (cancel.aborted) main.end('cancel')
    else cancel.addEventListener('abort', () => main.end('cancel'))
    const result = await main.result()
    summary += result.summary
    show('')
    return result
  }

  async function runPost(step: Step, uses: string): Promise<void> {
    show(`##[group]Post Run ${uses}`)
    show('Post job cleanup.')
    summary += (await step.runPost()).summary
    show('')
  }

  /** The gate finds the service as in a job: by the variables that the service has announced, or by its inputs. */
  async function runGate(env: Values, key: string | undefined): Promise<ProcessResult> {
    await using gate = prepareStep({
      workspace: join(folder, 'workspace'),
      tempDir: join(folder, 'temp'),
      secrets: key === undefined ? [] : [key],
      env,
      inputs,
      onLogLine: show,
    })
    const cancel = signalAfterMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(signalAfterMs)])
    const main = await runMain(gate, './', env, cancel)
    await runPost(gate, './')
    return main
  }

  async function runBoth(project: NonNullable<DemoOptions['localService']>): Promise<ProcessResult> {
    // The temporary folder of this step lies outside this repository, because the project may lie in it.
    await using service = prepareStep({
      actionDir: join(ROOT, 'local-service'),
      workspace: project.folder,
      inputs: project.inputs,
      // The tests get the variables of this machine, as they get those of the runner in a job.
      env: Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value])),
      onLogLine: show,
    })
    const started = await runMain(service, './local-service', {}, stop)
    const last = started.conclusion === 'success' ? await runGate(started.env, started.outputs['api-key']) : started
    await runPost(service, './local-service')
    return last
  }

  const last = await (localService === undefined ? runGate({}, inputs['api-key']) : runBoth(localService))
  const summaryFile = join(folder, 'summary.md')
  if (summary !== '') writeFileSync(summaryFile, summary)
  for (const line of linesAfter(last, summaryFile)) print(line)
  return last.conclusion === 'success' ? 0 : 1
}

type Values = Readonly<Record<string, string>>

/** What the runner prints before it starts a step. */
function linesOf(title: string, values: Values): string[] {
  const lines = Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [`  ${name}: ${value}`]))
  return lines.length === 0 ? [] : [title, ...lines]
}

function asGitHubShows(line: string): string {
  return line.replace(/^##\[group\]/, '▼ ').replace(/^##\[(error|warning|notice)\]/, (_, level) => `${TITLES[level]}: `)
}

const TITLES: Readonly<Record<string, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' }

function linesAfter({ conclusion, outputs }: ProcessResult, summaryFile: string): string[] {
  const pathFromHere = (path: string) => relative(process.cwd(), path) || '.'
  const { 'report-dir': reportDir = '' } = outputs
  const reports = existsSync(reportDir) ? readdirSync(reportDir).join(', ') : ''
  const outputLines = Object.entries(outputs).map(([name, value]) => `  ${name.padEnd(12)} ${value}`)
  return [
    `The step: ${conclusion}`,
    outputLines.length > 0 ? 'Its outputs:' : 'Its outputs: none',
    ...outputLines,
    `Its job summary: ${existsSync(summaryFile) ? pathFromHere(summaryFile) : 'none'}`,
    ...(reports === '' ? [] : [`Its report files, in ${pathFromHere(reportDir)}: ${reports}`]),
  ]
}

async function main(): Promise<void> {
  // npm runs scripts in the folder of this repository. INIT_CWD is the folder in which a person called npm.
  const options = parseDemoArguments(process.argv.slice(2), process.env.INIT_CWD)
  if (options === 'help') return console.log(DEMO_USAGE)
  const script = readManifest(ROOT).main
  if (!existsSync(script)) throw new UsageError(`There is no ${relative(ROOT, script)}: run "npm run build" first.`)

  // Ctrl-C cancels the workflow. The demo then ends what it started, so a second Ctrl-C changes nothing.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  // If the reader of the log exits first, the demo still ends what it started.
  process.stdout.on('error', () => {})
  process.exitCode = await runDemo(options, {
    folder: resolve(ROOT, '.demo'),
    print: (line) => console.log(line),
    stop: stop.signal,
  })
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    if (!(error instanceof UsageError)) throw error
    console.error(error.message)
    process.exitCode = USAGE_ERROR_EXIT_CODE
  })
}
