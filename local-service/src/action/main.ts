import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as core from '@actions/core'
import { signalProcess } from '../runs/processes.ts'
import { countOutOfMemoryKills } from './memory.ts'
import { foldedGroup, LOG_LIMIT_BYTES, TITLE_OF_LOG, toLogLine, toMessage } from './runner-text.ts'
import { type Order, ServiceFolder, type Start } from './service-folder.ts'
import { spawnService } from './spawn-service.ts'

// The main step of the action local-service: starts the service and leaves it running. Post stops it.

const START_LIMIT_MS = 30_000
/** Reading the file takes microseconds. */
const POLL_MS = 5
const RUN_LIMIT_MINUTES = 35_000

/** Variables that belong to one step, and the runner's tokens. The tests must not get them. */
const OF_THIS_STEP = /^(INPUT_|STATE_|ACTIONS_(RUNTIME|RESULTS|CACHE)_)|^GITHUB_(OUTPUT|STATE|ENV|PATH|STEP_SUMMARY)$/

async function main(): Promise<void> {
  if (process.platform === 'win32') {
    throw new Error('The local service needs Linux or macOS. Choose a runner with one of them in "runs-on".')
  }
  const order = readOrder()
  core.setSecret(order.key)
  const temporaryFolder = process.env.RUNNER_TEMP
  if (!temporaryFolder) throw new Error('RUNNER_TEMP is not set. This is for a step of a workflow.')
  const folder = ServiceFolder.create(temporaryFolder)
  // Main saves the folder before the service begins. So post can stop the service, whatever happens to main.
  core.saveState('folder', folder.path)
  core.saveState('out-of-memory-kills', countOutOfMemoryKills() ?? '')
  folder.give(order)
  const start = await waitForStart(folder, startService(folder))
  if (start.kind === 'failed') {
    folder.withdrawOrder()
    throw new Error(start.reason)
  }
  const [project, ...others] = start.projects
  const only = others.length === 0 ? project : undefined
  core.setOutput('base-url', start.url)
  core.setOutput('api-key', order.key)
  core.setOutput('project', only?.id ?? '')
  core.setOutput('branch', only?.commit ?? '')
  core.setOutput('output-dir', folder.outputFolder)
  for (const line of start.log) core.info(toLogLine(line))
  core.info(
    `This step's post writes the output of the tests to its log. Until then, the files are in ${folder.outputFolder}.`,
  )
}

/** Throws an Error with one sentence if the inputs cannot be used. */
function readOrder(): Order {
  const names = ['config', 'folder', 'framework', 'run-limit-minutes']
  const [config, folder, framework, limit] = names.map((name) => core.getInput(name))
  const furtherArgs = core.getMultilineInput('args')
  if (config) {
    const refuse = (name: string, remedy: string): never => {
      throw new Error(`The inputs ${name} and config exclude each other. ${remedy} in the file ${config} instead.`)
    }
    if (folder) refuse('folder', 'Name the folder')
    if (framework) refuse('framework', 'Set "framework" of a project')
    if (furtherArgs.length > 0) refuse('args', 'Set "args" of a project')
    if (limit) refuse('run-limit-minutes', 'Set "runLimitMinutes"')
  }
  if (framework && !/^(vitest|playwright)$/.test(framework)) {
    throw new Error(`The input framework is "${framework}". Give vitest or playwright.`)
  }
  const runLimitMinutes = limit ? Number(limit) : undefined
  if (runLimitMinutes !== undefined && !(runLimitMinutes >= 0.001 && runLimitMinutes <= RUN_LIMIT_MINUTES)) {
    throw new Error(`The input run-limit-minutes is "${limit}". Give a number from 0.001 to 35,000.`)
  }
  const { GITHUB_WORKSPACE: workspace = process.cwd(), GITHUB_SHA: commit = '' } = process.env
  const ofProject = [...(framework ? ['--framework', framework] : []), ...furtherArgs.map((arg) => `--arg=${arg}`)]
  const args = config
    ? ['--config', resolve(workspace, config)]
    : [...ofProject, '--', resolve(workspace, folder ?? '')]
  return { args, key: randomBytes(24).toString('base64url'), runLimitMinutes, workspace, commit }
}

/** The service gets a process group of its own. */
function startService(folder: ServiceFolder): ChildProcess {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_STEP.test(name)))
  return spawnService(folder, [], { detached: true, env })
}

async function waitForStart(folder: ServiceFolder, service: ChildProcess): Promise<Start> {
  const deadlineMs = performance.now() + START_LIMIT_MS
  const failed = (what: string): Start => {
    core.info(foldedGroup(TITLE_OF_LOG, folder.readLog(LOG_LIMIT_BYTES)))
    return { kind: 'failed', reason: `The local service ${what}. The log above has what it wrote.` }
  }
  let error: Error | undefined
  service.once('error', (thrown) => {
    error = thrown
  })
  service.unref()
  for (;;) {
    // Main checks for an exit before it reads the file, because the service writes the file before it exits.
    const hasExited = service.exitCode !== null || service.signalCode !== null
    const start = folder.readStart()
    if (start !== undefined) return start
    if (error !== undefined) return failed(`could not be started: ${error.message}`)
    if (hasExited) return failed(`ended before it was up, ${describeExit(service)}`)
    if (performance.now() > deadlineMs) {
      // If the service hangs before it writes its process id, post cannot find it. The id of its group is its process id.
      if (service.pid !== undefined) signalProcess(-service.pid, 'SIGKILL')
      return failed(`could not be reached within ${START_LIMIT_MS / 1000} s`)
    }
    await delay(POLL_MS)
  }
}

function describeExit({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`
}

main().catch((error: Error) => core.setFailed(toMessage(error.message)))
