import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { startServiceProcess } from '../tools/local-service-process.ts'
import { type ProcessResult, prepareStep, type Step } from '../tools/runner-emulator/runner.ts'
import type { DemoOptions } from './demo-options.ts'
import { renderSummaryPage } from './render-summary.ts'

export interface DemoWorld {
  /** The demo empties this folder first, and leaves the summary, the reports and the service's log in it. */
  readonly folder: string
  readonly print: (line: string) => void
  /** If it aborts, the step ends as after a click on the workflow's Cancel button. */
  readonly stop: AbortSignal
}

const ROOT = resolve(import.meta.dirname, '..')

/** Runs the built action against a service that runs the tests of examples/web-shop. Returns the step's exit code. */
export async function runDemo(options: DemoOptions, { folder, print, stop }: DemoWorld): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await using service = await openService(folder)
  const { key } = service
  const show = (line: string): void => {
    if (line !== '##[endgroup]') print(asGitHubShows(line))
  }
  await using step = prepareStep({
    workspace: join(folder, 'workspace'),
    tempDir: join(folder, 'temp'),
    secrets: [key],
    // If the branch is empty, the service tests the shop's folder as it is, with uncommitted changes.
    inputs: { 'base-url': service.url, 'api-key': key, project: 'web-shop', branch: '', ...options.inputs },
    event: { name: 'push', payload: { repository: { default_branch: 'main' } } },
    onLogLine: show,
  })

  for (const line of linesAbout(step)) show(step.masks.apply(line))
  const main = step.startMain()
  const { signalAfterMs } = options
  const cancel = signalAfterMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(signalAfterMs)])
  const cancelMain = () => void (main.isRunning && main.cancel())
  if (cancel.aborted) cancelMain()
  else cancel.addEventListener('abort', cancelMain)
  const mainEnd = await main.result()

  show('')
  show('##[group]Post Run ./')
  show('Post job cleanup.')
  const postEnd = await step.runPost()
  show('##[endgroup]')

  const summary = mainEnd.summary + postEnd.summary
  writeFileSync(join(folder, 'summary.md'), summary)
  writeFileSync(join(folder, 'summary.html'), renderSummaryPage(summary))
  for (const line of linesAfter(mainEnd, folder)) print(line)
  return exitCodeOf(mainEnd)
}

/**
 * The setup of a run that names a branch. Without a setup, the service refuses such a run, because a package in node_modules is a
 * link to this repository's own code. The shop does not use that package, so the demo links node_modules.
 */
const LINK_PACKAGES = ['ln', '-s', join(ROOT, 'node_modules'), '../../node_modules']

function openService(folder: string) {
  const config = join(folder, 'service.json')
  const shop = { folder: join(ROOT, 'examples/web-shop'), setup: LINK_PACKAGES }
  writeFileSync(config, JSON.stringify({ projects: { 'web-shop': shop } }))
  return startServiceProcess(['--config', config], join(folder, 'service.log'))
}

/** What the runner prints before it starts a step. */
function linesAbout(step: Step): string[] {
  const given = [...step.inputs].filter(([, value]) => value !== '')
  return ['##[group]Run ./', 'with:', ...given.map(([name, value]) => `  ${name}: ${value}`), '##[endgroup]']
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
  const serviceLog = join(folder, 'service.log')
  const outputLines = Object.entries(outputs).map(([name, value]) => `  ${name.padEnd(12)} ${value}`)
  return [
    '',
    `The step: ${conclusion}`,
    outputLines.length > 0 ? 'Its outputs:' : 'Its outputs: none',
    ...outputLines,
    `Its summary, as a page to open: ${pathFromHere(join(folder, 'summary.html'))}`,
    ...reports,
    ...(existsSync(serviceLog) ? [`The service's log, with the output of the tests: ${pathFromHere(serviceLog)}`] : []),
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
