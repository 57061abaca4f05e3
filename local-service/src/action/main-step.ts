import { type SpawnOptions, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BegunService } from './announce-service.ts'
import { environmentOfService, hasHadNoRun, SERVICE, serviceFolder } from './service-folder.ts'
import type { StartResponse } from './service-process.ts'

// The main step of the action local-service starts the service and leaves it running. Post stops it. Main loads announce-service.ts
// while Node starts the process of the service.

/** The service waits for its order. If main ends before it has sent the order, the service ends too. */
async function begin({ RUNNER_TEMP, TEST_RUN_SERVICE_FOLDER: earlier }: NodeJS.ProcessEnv): Promise<BegunService> {
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
  const options: SpawnOptions = { detached: true, env: environmentOfService(), stdio: ['ignore', log, log, 'ipc'] }
  const service = spawn(process.execPath, [SERVICE, folder.path], options)
  // These events are heard from now on, because nobody would hear them later. After a message, the process has not ended yet.
  const { promise: response, resolve } = Promise.withResolvers<StartResponse>()
  service.on('message', resolve)
  service.on('error', ({ message }) =>
    resolve({ kind: 'failed', reason: `The local service could not be started: ${message}` }),
  )
  service.on('close', (code, signal) =>
    resolve({ kind: 'ended', how: signal === null ? `with exit code ${code}` : `by ${signal}` }),
  )
  return { folder, service, response }
}

const begun = begin(process.env)
// If the service could not begin, announceService says why.
begun.catch(() => undefined)
const { announceService } = await import('./announce-service.ts')
await announceService(begun)
