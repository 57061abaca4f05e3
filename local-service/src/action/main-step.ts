import { type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as core from '@actions/core'
import { signalProcess } from '../machine/processes.ts'
import { foldedGroup, toCommandMessage, toLogLine } from '../text.ts'
import {
  environmentOfService,
  hasHadNoRun,
  readEnd,
  SERVICE,
  type ServiceFolder,
  serviceFolder,
  TITLE_OF_LOG,
} from './service-folder.ts'
import type { OrderOfStep, StartResponse } from './service-process.ts'

// The main step of the action local-service: starts the service and leaves it running. Post stops it.

const START_LIMIT_MS = 30_000

async function main(): Promise<void> {
  if (process.platform === 'win32') {
    throw new Error('The local service needs Linux or macOS. Choose a runner with one of them in "runs-on".')
  }
  // If this service does not start, the gate behind it must not test what an earlier one serves.
  core.exportVariable('TEST_RUN_SERVICE_URL', '')
  refuseIfEarlierHadNoRun(process.env)
  const order = readInputs()
  core.setSecret(order.key)
  const parent = realpathSync(process.env.RUNNER_TEMP || tmpdir())
  const folder = serviceFolder(mkdtempSync(join(parent, 'test-run-service-')))
  for (const path of [folder.privateFolder, folder.outputFolder]) mkdirSync(path)
  core.saveState('folder', folder.path)
  const { url, project, commit, log } = await startService(folder, order)
  core.saveState('is-up', 'true')
  core.setOutput('base-url', url)
  core.setOutput('api-key', order.key)
  core.setOutput('project', project)
  core.setOutput('commit', commit)
  core.setOutput('output-dir', folder.outputFolder)
  // The gate in a later step takes these in place of empty inputs. They replace those of an earlier local service.
  core.exportVariable('TEST_RUN_SERVICE_URL', url)
  core.exportVariable('TEST_RUN_SERVICE_KEY', order.key)
  core.exportVariable('TEST_RUN_SERVICE_PROJECT', project)
  core.exportVariable('TEST_RUN_SERVICE_COMMIT', commit)
  core.exportVariable('TEST_RUN_SERVICE_FOLDER', folder.path)
  for (const line of log) core.info(toLogLine(line))
  core.info(`The output of each run is in ${folder.outputFolder} until the end of the job.`)
}

/** Two local services and then two gates would be green, although nobody has tested what the first one serves. */
function refuseIfEarlierHadNoRun({ TEST_RUN_SERVICE_FOLDER: earlier }: NodeJS.ProcessEnv): void {
  if (earlier && hasHadNoRun(serviceFolder(earlier))) {
    throw new Error(
      'An earlier step has started a local service that has had no run yet, and all later gates would test this one. ' +
        'Put each gate directly behind its local service, or give one configuration with two projects.',
    )
  }
}

function readInputs(): OrderOfStep {
  const input = (name: string) => core.getInput(name) || undefined
  const linesOf = (name: string) => (input(name) === undefined ? undefined : core.getMultilineInput(name))
  return {
    folder: input('working-directory'),
    config: input('config'),
    framework: input('framework'),
    command: input('command'),
    report: input('report'),
    merge: input('merge'),
    args: linesOf('args'),
    runLimitMinutes: input('run-limit-minutes'),
    key: randomBytes(24).toString('base64url'),
    workspace: process.env.GITHUB_WORKSPACE ?? process.cwd(),
  }
}

/** If the service does not start, its process has ended when this throws. If main ends before it has sent the order, the service ends too. */
async function startService(folder: ServiceFolder, order: OrderOfStep): Promise<StartResponse & { kind: 'up' }> {
  const log = openSync(folder.log, 'a')
  const options: SpawnOptions = { detached: true, env: environmentOfService(), stdio: ['ignore', log, log, 'ipc'] }
  const service = spawn(process.execPath, [SERVICE, folder.path], options)
  // Main saves the process before the service begins. So post can stop the service, whatever happens to main.
  core.saveState('process', service.pid)
  // If the service has ended already, it is closed.
  service.send(order, () => undefined)
  const limit = AbortSignal.timeout(START_LIMIT_MS)
  // The id of its group is its process id.
  limit.onabort = () => signalProcess(-Number(service.pid), 'SIGKILL')
  // All messages have been received when this happens.
  const closed = once(service, 'close')
  const firstEvent = Promise.race([once(service, 'message'), closed.then(() => [])]).catch(({ message }) => {
    throw new Error(`The local service could not be started: ${message}`)
  })
  const [response]: StartResponse[] = await firstEvent
  if (response?.kind === 'up') {
    limit.onabort = null
    service.disconnect()
    service.unref()
    return response
  }
  const [code, signal] = await closed
  if (response !== undefined) throw new Error(response.reason)
  const early = `ended before it was up, ${signal === null ? `with exit code ${code}` : `by ${signal}`}`
  const what = limit.aborted ? `could not be reached within ${START_LIMIT_MS / 1000} s` : early
  core.info(foldedGroup(TITLE_OF_LOG, readEnd(folder.log)))
  throw new Error(`The local service ${what}. The log above has what it wrote.`)
}

main().catch((error: Error) => core.setFailed(toCommandMessage(error.message)))
