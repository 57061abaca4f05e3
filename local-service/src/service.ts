import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../src/text/untrusted.ts'
import { type CheckoutOfJob, inspectFolder, type ProjectFolder } from './checkout/checkout.ts'
import { personalEnvironment } from './execution/project-command.ts'
import { removeResources } from './execution/resources.ts'
import { createApi } from './http/api.ts'
import { listen } from './http/listen.ts'
import { removeFolder } from './machine/files.ts'
import { createKeyedMutex } from './machine/keyed-mutex.ts'
import { openDataFolder, refuseDataFolderIn, unusable } from './runs/data-folder.ts'
import { RunQueue } from './runs/queue.ts'
import { type Removal, recoverRuns } from './runs/recovery.ts'
import type { RunStore } from './runs/store.ts'
import { readConfiguration } from './settings/configuration.ts'
import type { Project } from './settings/project.ts'
import { quote, toLogText } from './text.ts'

export interface ServiceOptions {
  /** Relative folders in the settings start here. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** The runs are kept here. While they run, their work trees and reports lie here too. */
  readonly dataFolder: string
  readonly temporaryFolder: string
  /** By default, any free port. */
  readonly port?: number | undefined
  /** By default, a new key. */
  readonly key?: string | undefined
  /** How many runs may be RUNNING at once. The others are QUEUED. */
  readonly concurrency?: number | undefined
  readonly runLimitMinutes?: number | undefined
  /** How long stopped tests have to exit: SIGINT first, SIGTERM at half of it, SIGKILL at its end. */
  readonly stopGraceMs?: number | undefined
  /** A folder that gets the whole output of each run. By default, it is kept with the runs until the service starts again. */
  readonly outputs?: string | undefined
  readonly log: (line: string) => void
  readonly checkoutOfJob?: CheckoutOfJob | undefined
}

export interface ServedProject {
  readonly id: string
  readonly folder: string
  readonly framework: string
  /** What its folder held when the service started. */
  readonly found: ProjectFolder
}

export interface LocalService {
  readonly url: string
  readonly key: string
  readonly projects: readonly ServedProject[]
  /** Interrupts every unfinished run, waits until its processes and work trees are gone, then frees the port. */
  close(): Promise<void>
}

/** Starts a test run service that really runs tests. Throws a ConfigurationError if the settings cannot be used. */
export async function startLocalService(settings: unknown, options: ServiceOptions): Promise<LocalService> {
  if (process.platform === 'win32') {
    throw new Error('The local service stops tests by process group, which Windows does not have. Use Linux or macOS.')
  }
  const configuration = readConfiguration(settings, options.folder)
  const projects = [...configuration.projects.values()]
  refuseDataFolderIn(projects, options.dataFolder)
  const store = openDataFolder(options.dataFolder)
  try {
    const { checkoutOfJob, port = 0, key = randomBytes(24).toString('base64url'), stopGraceMs = 5000 } = options
    const { log, shared, removal, recover, temporaryFolder } = partsOf(store, options)
    await recover().catch((error: unknown) => {
      throw unusable(store.folder, error)
    })
    const outputs = options.outputs ?? join(store.folder, 'outputs')
    if (options.outputs === undefined) await removeOutputs(outputs, log)
    const served = await Promise.all(projects.map((project) => inspect(project, shared.personEnv, checkoutOfJob)))
    for (const { id, found } of served) {
      if (found.problem !== undefined) log(`warning: ${found.problem.text}: no run of project ${quote(id)} can pass`)
    }
    const { concurrency = 2, runLimitMinutes = 55 } = options
    const queue = new RunQueue({ ...removal, concurrency, runLimitMinutes })
    const ofRuns = { stopGraceMs, outputs, temporaryFolder, checkoutOfJob }
    const api = createApi(configuration, { ...shared, ...ofRuns, queue, store, log }, key)
    const listener = await listen(port, api.fetch)
    let closed: Promise<void> | undefined
    const close = async () => {
      // The service responds until the end, so that clients that poll learn that their run is interrupted.
      await queue.close()
      await listener.close()
      store.close()
    }
    return {
      url: listener.url,
      key,
      projects: served,
      close: () => {
        closed ??= close()
        return closed
      },
    }
  } catch (error) {
    store.close()
    throw error
  }
}

/**
 * Removes what a killed service left. The records in the data folder say what that is, so this needs no settings. Throws if
 * something is still there. Tests may have written to the records and to the folder.
 */
export async function removeUnfinished(options: PartOptions & Pick<ServiceOptions, 'dataFolder'>): Promise<void> {
  const store = openDataFolder(options.dataFolder)
  try {
    if (store.folder !== options.dataFolder) throw new Error(`A link has replaced a part of ${options.dataFolder}.`)
    await partsOf(store, options).recover()
    const runIds = store.findUnfinished().map(({ run }) => run.runId)
    if (runIds.length > 0) throw new Error(`The runs ${runIds.join(', ')} left something that could not be removed.`)
  } finally {
    store.close()
  }
}

type Log = (text: string) => void
type PartOptions = Pick<ServiceOptions, 'env' | 'temporaryFolder' | 'log'>

/** What a start of the service and a removal both need. */
function partsOf(store: RunStore, options: PartOptions) {
  const log: Log = (text) => options.log(`${new Date().toISOString()} ${toLogText(text)}`)
  const shared = { personEnv: personalEnvironment(options.env), runExclusive: createKeyedMutex() }
  const removal: Removal = {
    store,
    log: (runId, text) => log(`run ${runId}: ${text}`),
    removeResources: (runId, resources) => removeResources(runId, resources, shared),
  }
  const temporaryFolder = realpathSync(options.temporaryFolder)
  return { log, shared, removal, recover: () => recoverRuns(removal, temporaryFolder), temporaryFolder }
}

async function inspect(project: Project, env: NodeJS.ProcessEnv, ofJob?: CheckoutOfJob): Promise<ServedProject> {
  const { id, folder, framework } = project
  return { id, folder, framework: framework.name, found: await inspectFolder(project, env, ofJob) }
}

/** Removes the outputs of earlier runs. Tests wrote them, so they may be impossible to remove. The service starts nevertheless. */
async function removeOutputs(folder: string, log: Log): Promise<void> {
  await removeFolder(folder).catch((error: unknown) => {
    log(`warning: could not remove the outputs of earlier runs: ${messageOf(error)}`)
  })
}
