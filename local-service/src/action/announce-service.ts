import type { ChildProcess } from 'node:child_process'
import * as core from '@actions/core'
import { messageOf } from '../../../src/text/untrusted.ts'
import { signalProcess } from '../machine/processes.ts'
import { newKey } from '../machine/random.ts'
import { foldedGroup, toCommandMessage, toLogLine } from '../text.ts'
import { readEnd, type ServiceFolder, TITLE_OF_LOG } from './service-folder.ts'
import type { OrderOfStep, StartResponse } from './service-process.ts'

const START_LIMIT_MS = 30_000

/** The process of the service before it has its order. */
export interface BegunService {
  readonly folder: ServiceFolder
  readonly service: ChildProcess
  /** What the service says to its order, or how it ended before. */
  readonly response: Promise<StartResponse>
}

/** Gives the service its order, and announces the service to the later steps of the job. */
export async function announceService(begun: Promise<BegunService>): Promise<void> {
  try {
    // If this service does not start, the gate behind it must not test what an earlier one serves.
    core.exportVariable('TEST_RUN_SERVICE_URL', '')
    await announce(await begun)
  } catch (error) {
    core.setFailed(toCommandMessage(messageOf(error)))
    // A service that has no order ends.
    await begun.then(({ service }) => service.connected && service.disconnect()).catch(() => undefined)
  }
}

async function announce(begun: BegunService): Promise<void> {
  const { path, outputFolder } = begun.folder
  core.saveState('folder', path)
  // Main saves the process before the service gets its order. So post can stop the service, whatever happens to main.
  core.saveState('process', begun.service.pid)
  const order = readInputs()
  core.setSecret(order.key)
  const { url, project, commit, log } = await startService(begun, order)
  core.saveState('is-up', 'true')
  core.setOutput('base-url', url)
  core.setOutput('api-key', order.key)
  core.setOutput('project', project)
  core.setOutput('commit', commit)
  core.setOutput('output-dir', outputFolder)
  // The gate in a later step takes these in place of empty inputs. They replace those of an earlier local service.
  core.exportVariable('TEST_RUN_SERVICE_URL', url)
  core.exportVariable('TEST_RUN_SERVICE_KEY', order.key)
  core.exportVariable('TEST_RUN_SERVICE_PROJECT', project)
  core.exportVariable('TEST_RUN_SERVICE_COMMIT', commit)
  core.exportVariable('TEST_RUN_SERVICE_FOLDER', path)
  for (const line of log) core.info(toLogLine(line))
  core.info(`The output of each run is in ${outputFolder} until the end of the job.`)
}

function readInputs(): OrderOfStep {
  const input = (name: string) => core.getInput(name) || undefined
  return {
    folder: input('working-directory'),
    config: input('config'),
    framework: input('framework'),
    command: input('command'),
    report: input('report'),
    merge: input('merge'),
    args: input('args') === undefined ? undefined : core.getMultilineInput('args'),
    runLimitMinutes: input('run-limit-minutes'),
    key: newKey(),
    workspace: process.env.GITHUB_WORKSPACE ?? process.cwd(),
  }
}

async function startService({ folder, service, response: responding }: BegunService, order: OrderOfStep) {
  const limit = AbortSignal.timeout(START_LIMIT_MS)
  // The id of its group is its process id.
  limit.onabort = () => signalProcess(-Number(service.pid), 'SIGKILL')
  // If the service has ended already, it is closed.
  service.send(order, () => undefined)
  const response = await responding
  if (response.kind === 'up') {
    limit.onabort = null
    service.disconnect()
    service.unref()
    return response
  }
  // Main lives until this service has ended, at the latest until the limit.
  if (response.kind === 'failed') throw new Error(response.reason)
  const what = limit.aborted
    ? `could not be reached within ${START_LIMIT_MS / 1000} s`
    : `ended before it was up, ${response.how}`
  core.info(foldedGroup(TITLE_OF_LOG, readEnd(folder.log)))
  throw new Error(`The local service ${what}. The log above has what it wrote.`)
}
