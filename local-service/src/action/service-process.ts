import { tmpdir } from 'node:os'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type LocalService, removeUnfinished, type ServedProject, startLocalService } from '../service.ts'
import { readCommandLine } from '../settings/command-line.ts'
import { ConfigurationError } from '../settings/configuration.ts'
import { ServiceFolder } from './service-folder.ts'

// The process of the action's service. `index.js FOLDER` gets its order from main and serves until a signal, or until the folder is
// gone. `index.js FOLDER clean` removes what a killed service left, and ends.
// The tests in local-service/test/job test this file.

/** What the service should serve. */
export interface Order {
  /** The arguments of the command of the service. */
  readonly args: readonly string[]
  readonly key: string
  /** What the job has checked out. */
  readonly workspace: string
  readonly commit: string
}

export type Start =
  | {
      readonly kind: 'up'
      readonly url: string
      readonly projects: readonly StartedProject[]
      /** Lines for the log of main. */
      readonly log: readonly string[]
    }
  | { readonly kind: 'failed'; readonly reason: string }

interface StartedProject {
  readonly id: string
  readonly commit?: string | undefined
}

const POLL_MS = 200

const [path = '', mode] = process.argv.slice(2)
const folder = new ServiceFolder(path)

/** What serving and cleaning have in common. */
const SHARED = { env: process.env, dataFolder: folder.dataFolder, log: (line: string) => console.error(line) }

async function serve(): Promise<void> {
  const stop = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())
  const order = await receiveOrder()
  if (order === undefined || !folder.exists()) return
  const service = await start(order)
  // If post never runs, the runner removes the folder at the end of the job.
  const poll = setInterval(() => folder.exists() || stop.resolve(), POLL_MS)
  try {
    const outcome = describeStart(service)
    answer(outcome)
    if (outcome.kind === 'up') await stop.promise
  } finally {
    clearInterval(poll)
    await service.close()
  }
}

/** Undefined if main ended before it gave an order. */
function receiveOrder(): Promise<Order | undefined> {
  return new Promise((resolve) => {
    const onEnd = () => resolve(undefined)
    if (!process.connected) onEnd()
    process.once('disconnect', onEnd)
    process.once('message', (order) => {
      // Without a listener, the channel does not keep this process alive.
      process.off('disconnect', onEnd)
      resolve(order as Order)
    })
  })
}

/** If main has ended, post stops the service. */
function answer(start: Start): void {
  process.send?.(start, undefined, undefined, () => undefined)
}

function start({ args, key, workspace, commit }: Order): Promise<LocalService> {
  const commandLine = readCommandLine(args, {}, workspace)
  if (commandLine === undefined) throw new ConfigurationError('The argument --help does not start the service.')
  return startLocalService(commandLine.settings, {
    ...commandLine,
    ...SHARED,
    key,
    // The gate or post shows the output.
    logsOutput: false,
    outputs: folder.outputFolder,
    temporaryFolder: tmpdir(),
    checkoutOfJob: { root: workspace, commit },
  })
}

function describeStart({ url, projects }: LocalService): Start {
  const [problem] = projects.flatMap(({ found }) => found.problem ?? [])
  if (problem !== undefined) return { kind: 'failed', reason: `${problem.text}. ${problem.remedy}` }
  const log = projects.flatMap(describeProject)
  return { kind: 'up', url, projects: projects.map(({ id, found: { commit } }) => ({ id, commit })), log }
}

/** What the log of main says about a project. */
function describeProject({ id, framework, folder, found: { commit, skipsSetup } }: ServedProject): string[] {
  const checkedOut = commit === undefined ? 'no commit' : `commit ${commit}`
  return [
    `The local service serves the project ${id}: ${framework} in ${folder}, ${checkedOut}.`,
    ...(skipsSetup ? [`A run of this commit tests the folder itself, so the "setup" of ${id} does not run.`] : []),
  ]
}

try {
  await (mode === 'clean' ? removeUnfinished(SHARED) : serve())
} catch (error) {
  if (!(error instanceof ConfigurationError)) console.error(error)
  process.exitCode = 1
  answer({ kind: 'failed', reason: messageOf(error) })
}
