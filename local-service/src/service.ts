import { join } from 'node:path'
import { messageOf } from '../../src/text/untrusted.ts'
import { type CheckoutContext, inspectFolder } from './checkout/checkout.ts'
import { listen } from './http/listen.ts'
import { removeFolder } from './machine/files.ts'
import { RunQueue } from './runs/queue.ts'
import { recoverRuns } from './runs/recovery.ts'
import { type FinishedRun, openRunStore } from './runs/store.ts'
import type { Configuration } from './settings/configuration.ts'
import { quote, toLogText } from './text.ts'

export interface ServiceOptions {
  readonly env: NodeJS.ProcessEnv
  /** The runs are kept here. While they run, their work trees and reports lie here too. */
  readonly dataFolder: string
  readonly port?: string | undefined
  readonly key?: string | undefined
  readonly runLimitMinutes: number
  /** How long stopped tests have to exit: SIGINT first, SIGTERM at half of it, SIGKILL at its end. */
  readonly stopGraceMs?: number | undefined
  /** If a client reads a RUNNING run, its response waits for the run to finish, but at most this long. So the client learns of the end at once. */
  readonly endWaitMs?: number | undefined
  /** A folder that gets the whole output of each run. By default, it is kept with the runs until the service starts again. */
  readonly outputs?: string | undefined
  readonly log: (line: string) => void
  readonly checkoutOfJob?: CheckoutContext['checkoutOfJob']
}

export type ServedProject = Awaited<ReturnType<typeof inspectFolder>>

export type LocalService = Awaited<ReturnType<typeof startLocalService>>

/** Starts a test run service that really runs tests. Throws a ConfigurationError if it cannot use its folder or its port. */
export async function startLocalService(configuration: Configuration, options: ServiceOptions) {
  if (process.platform === 'win32') {
    throw new Error('The local service stops tests by process group, which Windows does not have. Use Linux or macOS.')
  }
  const { checkoutOfJob, runLimitMinutes, stopGraceMs = 5000, endWaitMs = 2000, key = crypto.randomUUID() } = options
  const opened = await openService(options)
  const { store, log } = opened
  const inspected = [...configuration.projects.values()].map((one) => inspectFolder(one, { ...opened, checkoutOfJob }))
  const projects = await Promise.all(inspected)
  const outputs = options.outputs ?? join(store.folder, 'outputs')
  // Tests wrote the outputs of earlier runs, so it may be impossible to remove them. The service starts nevertheless.
  if (options.outputs === undefined) {
    await removeFolder(outputs).catch((error: unknown) => {
      log(`warning: could not remove the outputs of earlier runs: ${messageOf(error)}`)
    })
  }
  for (const { id, problem } of projects) {
    if (problem !== undefined) log(`warning: no run of project ${quote(id)} can pass. ${problem}`)
  }
  const queue = new RunQueue({ ...opened, runLimitMinutes, endWaitMs })
  const context = { ...opened, stopGraceMs, outputs, checkoutOfJob, queue }
  const listener = await listen(options.port, configuration, context, key)
  return {
    url: listener.url,
    key,
    projects,
    /** Interrupts every unfinished run, waits until its processes and work trees are gone, then frees the port. */
    async close() {
      // The service responds until the end, so that clients that poll learn that their run is interrupted.
      await queue.close()
      await listener.close()
      return opened.close()
    },
  }
}

/** What the post step of the action reads about the runs, when the service has ended. It gets this from another process, as JSON. */
export interface RunsAtEnd {
  readonly finished: readonly FinishedRun[]
  /** Whether nothing of any run is left on the machine. */
  readonly isClean: boolean
  /** Whether the service could not do something itself. Its log says what. */
  readonly hadProblem: boolean
}

/** Opens the data folder, and removes what a killed service left. The service does so before it serves. */
export async function openService(options: Pick<ServiceOptions, 'env' | 'dataFolder' | 'log'>) {
  const log = (text: string) => options.log(`${new Date().toISOString()} ${toLogText(text)}`)
  let hadProblem = false
  const logError = (text: string) => {
    hadProblem = true
    log(`error: ${text}`)
  }
  const store = openRunStore(options.dataFolder)
  const opened = { log, logError, store, serviceEnv: options.env }
  await recoverRuns(opened)
  const close = (): RunsAtEnd => {
    // A run that the recovery would find may have left something on the machine.
    const end = { finished: store.findFinished(), isClean: store.findToRecover().length === 0, hadProblem }
    store.close()
    return end
  }
  return { ...opened, close }
}
