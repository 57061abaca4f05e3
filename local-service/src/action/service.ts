import { tmpdir } from 'node:os'
import { ConfigurationError, type Settings } from '../configuration.ts'
import { readInvocation, UsageError } from '../invocation.ts'
import { type LocalService, removeLeft, startLocalService } from '../local-service.ts'
import type { Run, RunOutcome } from '../runs/run.ts'
import { type Order, ServiceFolder } from './service-folder.ts'

// The process of the action's service. `index.js FOLDER` serves until the order in the folder is gone. `index.js FOLDER clean`
// removes what a killed service left, and ends.

const LOOK_MS = 200

const [path = '', mode] = process.argv.slice(2)
const folder = new ServiceFolder(path)

const WORLD = {
  env: process.env,
  dataFolder: folder.dataFolder,
  log: (line: string) => console.error(line),
  onFinished: rememberFailedRun,
}

async function serve(): Promise<void> {
  folder.writeProcessId()
  const order = folder.readOrder()
  if (order === undefined) return
  const stop = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())
  const look = setInterval(() => folder.hasOrder() || stop.resolve(), LOOK_MS)
  const service = await start(order)
  try {
    const missing = await describeMissing(service)
    if (missing !== undefined) {
      folder.writeStart({ kind: 'failed', reason: missing })
      return
    }
    await announce(service)
    await stop.promise
  } finally {
    clearInterval(look)
    await service.close()
  }
}

async function start({ args, key, runLimitMinutes, workspace, commit }: Order): Promise<LocalService> {
  const invocation = await readInvocation(args, {}, workspace)
  if ('text' in invocation) throw new UsageError(invocation.text)
  const limit = runLimitMinutes === undefined ? {} : { runLimitMinutes }
  const settings: Settings = { ...invocation.settings, ...limit, keys: [key], data: folder.dataFolder }
  return startLocalService(settings, {
    ...WORLD,
    folder: invocation.folder,
    temporaryFolder: tmpdir(),
    checkoutOfJob: { root: workspace, commit },
  })
}

async function describeMissing(service: LocalService): Promise<string | undefined> {
  const folders = await service.inspectFolders()
  const index = folders.findIndex(({ missingPackage }) => missingPackage !== undefined)
  if (index === -1) return undefined
  return (
    `${folders[index]?.missingPackage} is not installed in ${service.projects[index]?.folder}. ` +
    'Install the packages in a step before this one, for example with "npm ci".'
  )
}

async function announce(service: LocalService): Promise<void> {
  const folders = await service.inspectFolders()
  const projects = service.projects.map((project, index) => ({ ...project, commit: folders[index]?.commit }))
  folder.writeStart({ kind: 'up', url: service.url, projects })
}

function rememberFailedRun({ runId, projectId, phase: { status } }: Run, { problem, output }: RunOutcome): void {
  if (status === 'PASSED' || status === 'QUEUED' || status === 'RUNNING') return
  try {
    folder.addFailedRun({ runId, projectId, status, problem, output })
  } catch {
    // The job has ended, so nobody reads about failed runs.
  }
}

async function main(): Promise<void> {
  try {
    await serve()
  } catch (error) {
    const isExpected = error instanceof UsageError || error instanceof ConfigurationError
    if (!isExpected) console.error(error)
    process.exitCode = 1
    // The action has no option for the data folder, which lies in the runner's temporary folder.
    const reason = (error as Error).message.replace('with --data', "with the runner's work folder (RUNNER_TEMP)")
    if (folder.exists()) folder.writeStart({ kind: 'failed', reason })
  }
  if (folder.exists()) folder.writeStopped()
}

// If the job has ended, the runner has removed the folder.
if (folder.exists()) await (mode === 'clean' ? removeLeft(WORLD) : main())
