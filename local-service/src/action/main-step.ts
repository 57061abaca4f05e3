import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as core from '@actions/core'
import { signalProcess } from '../machine/processes.ts'
import { foldedGroup, LOG_LIMIT_BYTES, TITLE_OF_LOG, toCommandMessage, toLogLine } from './runner-text.ts'
import { type Order, ServiceFolder, type Start } from './service-folder.ts'
import { spawnService } from './spawn-service.ts'

// The main step of the action local-service: starts the service and leaves it running. Post stops it.
// The tests in local-service/test/job test this file.

const START_LIMIT_MS = 30_000
/** Reading the file takes microseconds. */
const POLL_MS = 5

/** The inputs and files of this step, and the runner's tokens (`ACTIONS_`). The tests must not get them. */
const OF_THIS_STEP =
  /^(INPUT_(FOLDER|FRAMEWORK|ARGS|CONFIG|RUN-LIMIT-MINUTES)|ACTIONS_.*|GITHUB_(OUTPUT|STATE|ENV|PATH|STEP_SUMMARY))$/

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
  folder.give(order)
  const start = await waitForStart(folder, startService(folder))
  if (start.kind === 'failed') {
    folder.withdrawOrder()
    throw new Error(start.reason)
  }
  const { projects } = start
  const commits = new Set(projects.map(({ commit }) => commit))
  core.setOutput('base-url', start.url)
  core.setOutput('api-key', order.key)
  core.setOutput('project', projects.length === 1 ? projects[0]?.id : '')
  core.setOutput('commit', commits.size === 1 ? [...commits][0] : '')
  core.setOutput('output-dir', folder.outputFolder)
  for (const line of start.log) core.info(toLogLine(line))
  core.info(`The output of each run is in ${folder.outputFolder} until the end of the job.`)
}

/** The service reads the inputs as arguments of its command. */
function readOrder(): Order {
  const { GITHUB_WORKSPACE: workspace = process.cwd(), GITHUB_SHA: commit = '' } = process.env
  const option = (name: string) => core.getInput(name) && `--${name}=${core.getInput(name)}`
  const args = [
    ...['config', 'framework', 'report', 'run-limit-minutes'].map(option),
    ...core.getMultilineInput('args').map((argument) => `--arg=${argument}`),
    // An absolute path is never read as an option.
    core.getInput('folder') && resolve(workspace, core.getInput('folder')),
  ]
  const command = core.getMultilineInput('command')
  const given = [...args.filter((argument) => argument !== ''), ...(command.length > 0 ? ['--', ...command] : [])]
  return { args: given, key: randomBytes(24).toString('base64url'), workspace, commit }
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
      // The service hangs, so it may not stop when its order is withdrawn. The id of its group is its process id.
      if (service.pid !== undefined) signalProcess(-service.pid, 'SIGKILL')
      return failed(`could not be reached within ${START_LIMIT_MS / 1000} s`)
    }
    await delay(POLL_MS)
  }
}

function describeExit({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`
}

main().catch((error: Error) => core.setFailed(toCommandMessage(error.message)))
