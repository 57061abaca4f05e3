import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { Begun } from './announce-service.ts'
import { environmentOfService, hasHadNoRun, SERVICE, type ServiceFolder, serviceFolder } from './service-folder.ts'
import type { StartResponse } from './service-process.ts'

// The main step of the action local-service starts the service and leaves it running. Post stops it. Main loads announce-service.ts
// while Node starts the process of the service.

function begin(env: NodeJS.ProcessEnv): Begun {
  try {
    if (process.platform === 'win32') {
      throw new Error('The local service needs Linux or macOS. Choose a runner with one of them in "runs-on".')
    }
    refuseIfEarlierHadNoRun(env)
    const parent = realpathSync(env.RUNNER_TEMP || tmpdir())
    const folder = serviceFolder(mkdtempSync(join(parent, 'test-run-service-')))
    for (const path of [folder.privateFolder, folder.outputFolder]) mkdirSync(path)
    return beginService(folder)
  } catch (error) {
    return { kind: 'refused', reason: messageOf(error) }
  }
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

/** The service waits for its order. If main ends before it has sent the order, the service ends too. */
function beginService(folder: ServiceFolder): Begun {
  const log = openSync(folder.log, 'a')
  const options: SpawnOptions = { detached: true, env: environmentOfService(), stdio: ['ignore', log, log, 'ipc'] }
  const service = spawn(process.execPath, [SERVICE, folder.path], options)
  // These events are heard from now on, because nobody would hear them later.
  const closed = once(service, 'close').catch(() => [])
  const response: Promise<StartResponse | undefined> = Promise.race([
    once(service, 'message'),
    closed.then(() => []),
  ]).then(
    ([message]) => message,
    ({ message }) => ({ kind: 'failed', reason: `The local service could not be started: ${message}` }),
  )
  return { kind: 'begun', folder, service, closed, response }
}

const begun = begin(process.env)
const { announceService } = await import('./announce-service.ts')
await announceService(begun)
