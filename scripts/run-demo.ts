import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startLocalService } from '../local-service/src/local-service.ts'
import { type ActionProcess, type ProcessResult, prepareStep, type Step } from '../tools/runner-emulator/runner.ts'
import type { DemoOptions } from './demo-options.ts'
import { renderSummaryPage } from './render-summary.ts'

export interface DemoWorld {
  /** Emptied first; summary, reports and the service's log are left in it. */
  readonly folder: string
  readonly print: (line: string) => void
  /** Ends the step as the workflow's Cancel button does. */
  readonly stop: AbortSignal
}

const ROOT = resolve(import.meta.dirname, '..')

/**
 * Runs the built action against a service that runs the tests of examples/web-shop; returns the step's exit code.
 * Throws FolderInUse, in which case nothing was touched, and ConfigurationError.
 */
export async function runDemo(options: DemoOptions, { folder, print, stop }: DemoWorld): Promise<number> {
  using _ = takeFolder(folder)
  await using service = await openService(folder)
  const [key = ''] = service.keys
  const show = (line: string): void => {
    if (line !== '##[endgroup]') print(asGitHubShows(line))
  }
  await using step = prepareStep({
    workspace: join(folder, 'workspace'),
    tempDir: join(folder, 'temp'),
    secrets: [key],
    // An empty branch: the service then tests the shop's folder as it stands, uncommitted changes included.
    inputs: { 'base-url': service.url, 'api-key': key, project: 'web-shop', branch: '', ...options.inputs },
    event: { name: 'push', payload: { repository: { default_branch: 'main' } } },
    onLogLine: show,
  })

  for (const line of linesAbout(step)) show(step.masks.apply(line))
  const main = step.startMain()
  void cancelWhenAsked(main, options.signalAfterMs, stop)
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

export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/** Empties the folder and holds it until it is disposed of: two demos would mix up their files. */
function takeFolder(folder: string): Disposable {
  const holderFile = join(folder, 'held-by-process')
  const holder = existsSync(holderFile) ? Number(readFileSync(holderFile, 'utf8')) : undefined
  if (holder && isRunning(holder)) {
    throw new FolderInUse(
      `Another demo, process ${holder}, is writing to ${pathFromHere(folder)}: wait until it exits or stop it, then try again.`,
    )
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(holderFile, String(process.pid))
  return { [Symbol.dispose]: () => rmSync(holderFile, { force: true }) }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * For a run of a branch: the shop uses none of the packages here that link to this repository's own code, because of which
 * the service does not link them by itself.
 */
const LINK_PACKAGES = ['ln', '-s', join(ROOT, 'node_modules'), '../../node_modules']

async function openService(folder: string) {
  const logFile = join(folder, 'service.log')
  const service = await startLocalService(
    { projects: { 'web-shop': { folder: 'examples/web-shop', setup: LINK_PACKAGES } }, data: 'none' },
    {
      folder: ROOT,
      env: process.env,
      // Outside of this repository, whose packages the tests would find.
      dataFolder: join(tmpdir(), 'test-run-demo'),
      temporaryFolder: tmpdir(),
      log: (line) => appendFileSync(logFile, `${line}\n`),
    },
  )
  return { ...service, [Symbol.asyncDispose]: () => service.close() }
}

/** What the runner says about a step before it starts it. */
function linesAbout(step: Step): string[] {
  const given = [...step.inputs].filter(([, value]) => value !== '')
  return ['##[group]Run ./', 'with:', ...given.map(([name, value]) => `  ${name}: ${value}`), '##[endgroup]']
}

function asGitHubShows(line: string): string {
  return line.replace(/^##\[group\]/, '▼ ').replace(/^##\[(error|warning|notice)\]/, (_, level) => `${TITLES[level]}: `)
}

const TITLES: Readonly<Record<string, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' }

async function cancelWhenAsked(main: ActionProcess, afterMs: number | undefined, stop: AbortSignal): Promise<void> {
  const hasResult = new AbortController()
  void main.result().then(() => hasResult.abort())
  await delay(afterMs ?? LONGEST_DELAY_MS, undefined, { signal: AbortSignal.any([stop, hasResult.signal]) }).catch(
    () => {},
  )
  if (main.isRunning) await main.cancel()
}

/** Node's timers fire at once beyond this. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

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
    ...(existsSync(serviceLog) ? [`The service's log: ${pathFromHere(serviceLog)}`] : []),
  ]
}

function pathFromHere(path: string): string {
  return relative(process.cwd(), path) || '.'
}

/** The step's own; a step that did not succeed never counts as 0. */
function exitCodeOf({ conclusion, exitCode, signal }: ProcessResult): number {
  if (conclusion === 'success') return 0
  if (signal !== null) return 128 + constants.signals[signal]
  return exitCode || 1
}
