import { type SpawnOptions, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, openSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BegunService } from './announce-service.ts'
import { environmentOfService, hasHadNoRun, SERVICE, serviceFolder } from './service-folder.ts'
import type { OrderOfStep, StartResponse } from './service-process.ts'

// The main step of the action local-service starts the service and leaves it running. Post stops it. Main loads announce-service.ts
// while Node starts the process of the service.

async function begin({ RUNNER_TEMP, TEST_RUN_SERVICE_FOLDER: earlier }: NodeJS.ProcessEnv): Promise<BegunService> {
  // If this service does not start, the gate behind it must not test what an earlier one serves.
  appendTo('GITHUB_ENV', 'TEST_RUN_SERVICE_URL', '')
  if (process.platform === 'win32') {
    throw new Error('The local service needs Linux or macOS. Choose a runner with one of them in "runs-on".')
  }
  // Two local services and then two gates would be green, although nobody has tested what the first one serves.
  if (earlier && hasHadNoRun(serviceFolder(earlier))) {
    throw new Error(
      'An earlier step has started a local service that has had no run yet, and all later gates would test this one. ' +
        'Put each gate directly behind its local service, or give one configuration with two projects.',
    )
  }
  const folder = serviceFolder(mkdtempSync(join(realpathSync(RUNNER_TEMP || tmpdir()), 'test-run-service-')))
  for (const path of [folder.privateFolder, folder.outputFolder]) mkdirSync(path)
  const log = openSync(folder.log, 'a')
  appendTo('GITHUB_STATE', 'folder', folder.path)
  const options: SpawnOptions = { detached: true, env: environmentOfService(), stdio: ['ignore', log, log, 'ipc'] }
  const service = spawn(process.execPath, [SERVICE, folder.path], options)
  // From now on, post can stop the service, whatever happens to main.
  appendTo('GITHUB_STATE', 'process', String(service.pid))
  // These events are heard from now on, because nobody would hear them later.
  const { promise: response, resolve } = Promise.withResolvers<StartResponse>()
  service.on('message', resolve)
  service.on('error', ({ message }) =>
    resolve({ kind: 'failed', reason: `The local service could not be started: ${message}` }),
  )
  service.on('close', (code, signal) =>
    resolve({ kind: 'ended', how: signal === null ? `with exit code ${code}` : `by ${signal}` }),
  )
  // If the service has ended already, it is closed.
  service.send(readInputs(), () => undefined)
  return { folder, service, response }
}

// The next two functions do what those of @actions/core do, which is not loaded yet.

function appendTo(file: 'GITHUB_ENV' | 'GITHUB_STATE', name: string, value: string): void {
  appendFileSync(process.env[file] ?? '', `${name}=${value}\n`)
}

function readInputs(): OrderOfStep {
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
    workspace: process.env.GITHUB_WORKSPACE ?? process.cwd(),
  }
}

const begun = begin(process.env)
// If the service could not begin, announceService says why.
begun.catch(() => undefined)
const { announceService } = await import('./announce-service.ts')
await announceService(begun)
