import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, openSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { ServiceInputs } from '../settings/configuration.ts'
import { foldedGroup, notStartedSummary, toCommand, toLogLine } from '../text.ts'
import {
  environmentOfService,
  FILES_OF_STEP,
  readEnd,
  SERVICE,
  type ServiceFolder,
  serviceFolder,
  TITLE_OF_LOG,
  wasNeverUsed,
} from './service-folder.ts'
import type { StartResponse } from './service-process.ts'

// The main step of the action local-service starts the service, announces it to the later steps of the job, and leaves it running.
// Post stops it. Main loads no package, so that the process of the service starts soon.

async function main({ RUNNER_TEMP, TEST_RUN_SERVICE_FOLDER: earlier }: NodeJS.ProcessEnv): Promise<void> {
  // If this service does not start, the gate behind it must not test what an earlier one serves.
  appendTo('GITHUB_ENV', { TEST_RUN_SERVICE_URL: '' })
  if (process.platform === 'win32') {
    throw new Error('The local service needs Linux or macOS. Choose a runner with one of them in "runs-on".')
  }
  // Without this, two gates behind two local services would both test what the second one serves. They would be green, although nobody has tested
  // what the first one serves.
  if (earlier && wasNeverUsed(serviceFolder(earlier))) {
    throw new Error(
      'An earlier step has started a local service that has had no run yet, and all later gates would test the local service of this step. ' +
        'Put each gate directly behind its local service, or give one configuration with two projects.',
    )
  }
  const folder = serviceFolder(mkdtempSync(join(realpathSync(RUNNER_TEMP || tmpdir()), 'test-run-service-')))
  for (const path of [folder.privateFolder, folder.outputFolder]) mkdirSync(path)
  appendTo('GITHUB_STATE', { folder: folder.path })
  const { url, key, project = '', commit = '', log } = await startService(folder)
  console.log(`::add-mask::${key}`)
  appendTo('GITHUB_STATE', { 'is-up': 'true' })
  appendTo('GITHUB_OUTPUT', { 'base-url': url, 'api-key': key, project, commit, 'output-dir': folder.outputFolder })
  // The gate in a later step takes these in place of empty inputs. They replace those of an earlier local service.
  appendTo('GITHUB_ENV', {
    TEST_RUN_SERVICE_URL: url,
    TEST_RUN_SERVICE_KEY: key,
    TEST_RUN_SERVICE_PROJECT: project,
    TEST_RUN_SERVICE_COMMIT: commit,
    TEST_RUN_SERVICE_FOLDER: folder.path,
  })
  for (const line of log) console.log(toLogLine(line))
  console.log(`The output of each run is in ${folder.outputFolder} until the end of the job.`)
}

/** Returns when the service is up. Throws if it fails before. */
async function startService(folder: ServiceFolder) {
  const log = openSync(folder.log, 'a')
  writeFileSync(folder.inputs, JSON.stringify(readInputs()), { mode: 0o600 })
  for (const name of FILES_OF_STEP) writeFileSync(join(folder.privateFolder, name), '')
  const service = spawn(process.execPath, [SERVICE, 'serve', folder.path], {
    detached: true,
    env: environmentOfService(folder),
    stdio: ['ignore', log, log, 'ipc'],
  })
  // From now on, post can stop the service, whatever happens to main.
  appendTo('GITHUB_STATE', { process: String(service.pid) })
  const { promise, resolve } = Promise.withResolvers<StartResponse>()
  service.on('message', resolve)
  service.on('error', ({ message }) =>
    resolve({ kind: 'failed', reason: `The local service could not be started: ${message}` }),
  )
  service.on('close', (code, signal) =>
    resolve({ kind: 'ended', how: signal === null ? `with exit code ${code}` : `by ${signal}` }),
  )
  const response = await promise
  // If the service failed, main throws before `unref`. Node then keeps main running until the process of the service has exited, so nothing of the
  // service is left after the step.
  if (response.kind === 'failed') throw new Error(response.reason)
  if (response.kind === 'ended') {
    console.log(foldedGroup(TITLE_OF_LOG, readEnd(folder.log)))
    throw new Error(`The local service ended before it was up, ${response.how}. The log above has what it wrote.`)
  }
  service.disconnect()
  service.unref()
  return response
}

function readInputs(): ServiceInputs {
  const input = (name: string) => process.env[`INPUT_${name.toUpperCase()}`]?.trim() || undefined
  return {
    folder: input('working-directory'),
    config: input('config'),
    framework: input('framework'),
    command: input('command'),
    report: input('report'),
    merge: input('merge'),
    args: input('args')?.split(/\s*\n\s*/),
    runLimitMinutes: input('run-limit-minutes'),
  }
}

/**
 * Writes to a file of the runner. The id of a project may have several lines, and must not set another variable. So each value ends at a
 * line that nobody knows before.
 */
function appendTo(file: 'GITHUB_ENV' | 'GITHUB_OUTPUT' | 'GITHUB_STATE', entries: Readonly<Record<string, string>>) {
  const end = `end-${process.hrtime.bigint()}`
  const lines = Object.entries(entries).map(([name, value]) => `${name}<<${end}\n${value}\n${end}\n`)
  appendFileSync(process.env[file] ?? '', lines.join(''))
}

main(process.env).catch((error: unknown) => {
  const reason = messageOf(error)
  console.log(toCommand('error', reason))
  process.exitCode = 1
  try {
    appendFileSync(process.env.GITHUB_STEP_SUMMARY ?? '', notStartedSummary(reason))
  } catch {
    // The log has the reason.
  }
})
