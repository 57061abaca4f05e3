import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../src/text/untrusted.ts'
import { type CheckoutOfJob, inspectFolder, type ProjectFolder } from './checkout/checkout.ts'
import { type RemovalOptions, removeResources } from './execution/leftovers.ts'
import { personalEnvironment } from './execution/project-command.ts'
import { createApi } from './http/api.ts'
import { listen } from './http/listen.ts'
import { removeFolder } from './machine/files.ts'
import { createKeyedMutex } from './machine/keyed-mutex.ts'
import { openDataFolder, refuseDataFolderIn, unusable } from './runs/data-folder.ts'
import { RunQueue } from './runs/queue.ts'
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
  /** Whether the log quotes the output of what failed. By default, it does. */
  readonly logsOutput?: boolean | undefined
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
  const { projects } = configuration
  const { port = 0, key = randomBytes(24).toString('base64url'), stopGraceMs = 5000 } = options
  const log = logIn(options)
  const env = personalEnvironment(options.env)
  const temporaryFolder = realpathSync(options.temporaryFolder)
  refuseDataFolderIn(
    [...projects.values()].map(({ folder }) => folder),
    options.dataFolder,
  )
  const store = openDataFolder(options.dataFolder)
  const outputs = options.outputs ?? join(store.folder, 'outputs')
  const { checkoutOfJob } = options
  const shared = { env, checkoutOfJob, runExclusive: createKeyedMutex() }
  const queue = createQueue(store, options, shared)
  const context = {
    ...shared,
    stopGraceMs,
    outputs,
    dataFolder: store.folder,
    temporaryFolder,
    queue,
    store,
    log,
    logsOutput: options.logsOutput ?? true,
  }
  const open = async () => {
    await queue.recover().catch((error: unknown) => {
      throw unusable(store.folder, error)
    })
    if (options.outputs === undefined) await removeOutputs(outputs, log)
    const served = await Promise.all([...projects.values()].map((project) => inspect(project, env, checkoutOfJob)))
    warn(served, log)
    return { served, listener: await listen(port, createApi(configuration, context, key).fetch) }
  }
  const { served, listener } = await open().catch((error: unknown) => {
    store.close()
    throw error
  })
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
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
}

/**
 * Removes what a killed service left. The records in the data folder say what that is, so this needs no settings. Throws if
 * something is still there.
 */
export async function removeLeft(options: Pick<ServiceOptions, 'env' | 'dataFolder' | 'log'>): Promise<void> {
  const store = openDataFolder(options.dataFolder)
  try {
    const shared = { env: personalEnvironment(options.env), runExclusive: createKeyedMutex() }
    await createQueue(store, options, shared).recover()
    const runIds = store.findLeft().map(({ run }) => run.runId)
    if (runIds.length > 0) throw new Error(`The runs ${runIds.join(', ')} left something that could not be removed.`)
  } finally {
    store.close()
  }
}

type Log = (text: string) => void

function logIn(options: Pick<ServiceOptions, 'log'>): Log {
  return (text) => options.log(`${new Date().toISOString()} ${toLogText(text)}`)
}

function createQueue(
  store: RunStore,
  options: Pick<ServiceOptions, 'log'> & Partial<ServiceOptions>,
  removal: RemovalOptions,
): RunQueue {
  const log = logIn(options)
  return new RunQueue({
    concurrency: options.concurrency ?? 2,
    runLimitMinutes: options.runLimitMinutes ?? 55,
    store,
    log: (runId, text) => log(`run ${runId}: ${text}`),
    removeResources: (runId, resources) => removeResources(runId, resources, removal),
  })
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

/** Warns if a project's framework cannot be used. */
function warn(projects: readonly ServedProject[], log: Log): void {
  for (const { id, found } of projects) {
    if (found.problem !== undefined) log(`warning: ${found.problem.text}: no run of project ${quote(id)} can pass`)
  }
}
