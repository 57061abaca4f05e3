import type { ChildProcess } from 'node:child_process'
import * as core from '@actions/core'
import { messageOf } from '../../../src/text/untrusted.ts'
import { signalProcess } from '../machine/processes.ts'
import { foldedGroup, toCommandMessage, toLogLine } from '../text.ts'
import { readEnd, type ServiceFolder, TITLE_OF_LOG } from './service-folder.ts'
import type { StartResponse } from './service-process.ts'

const START_LIMIT_MS = 30_000

/** The process of the service, which has its order. */
export interface BegunService {
  readonly folder: ServiceFolder
  readonly service: ChildProcess
  readonly response: Promise<StartResponse>
}

/** Announces the service to the later steps of the job when it is up. */
export async function announceService(begun: Promise<BegunService>): Promise<void> {
  try {
    await announce(await begun)
  } catch (error) {
    core.setFailed(toCommandMessage(messageOf(error)))
  }
}

async function announce(begun: BegunService): Promise<void> {
  const { path, outputFolder } = begun.folder
  const { url, key, project, commit, log } = await waitUntilUp(begun)
  core.setSecret(key)
  core.saveState('is-up', 'true')
  core.setOutput('base-url', url)
  core.setOutput('api-key', key)
  core.setOutput('project', project)
  core.setOutput('commit', commit)
  core.setOutput('output-dir', outputFolder)
  // The gate in a later step takes these in place of empty inputs. They replace those of an earlier local service.
  core.exportVariable('TEST_RUN_SERVICE_URL', url)
  core.exportVariable('TEST_RUN_SERVICE_KEY', key)
  core.exportVariable('TEST_RUN_SERVICE_PROJECT', project)
  core.exportVariable('TEST_RUN_SERVICE_COMMIT', commit)
  core.exportVariable('TEST_RUN_SERVICE_FOLDER', path)
  for (const line of log) core.info(toLogLine(line))
  core.info(`The output of each run is in ${outputFolder} until the end of the job.`)
}

async function waitUntilUp({ folder, service, response: responding }: BegunService) {
  const limit = AbortSignal.timeout(START_LIMIT_MS)
  // The id of its group is its process id.
  limit.onabort = () => signalProcess(-Number(service.pid), 'SIGKILL')
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
