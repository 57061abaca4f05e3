import { tmpdir } from 'node:os'
import { messageOf } from '../../../src/text/untrusted.ts'
import { countChangedFiles } from '../checkout/repository.ts'
import type { RunOutcome } from '../execution/outcome.ts'
import type { Run } from '../runs/run.ts'
import { type LocalService, removeLeft, type ServedProject, startLocalService } from '../service.ts'
import { readCommandLine } from '../settings/command-line.ts'
import { ConfigurationError } from '../settings/configuration.ts'
import { count } from '../text.ts'
import { type Order, ServiceFolder, type Start } from './service-folder.ts'

// The process of the action's service. `index.js FOLDER` serves until the order in the folder is gone. `index.js FOLDER clean`
// removes what a killed service left, and ends.
// The tests in local-service/test/job test this file.

const POLL_MS = 200

const [path = '', mode] = process.argv.slice(2)
const folder = new ServiceFolder(path)

/** What serving and cleaning have in common. */
const SHARED = {
  env: process.env,
  dataFolder: folder.dataFolder,
  log: (line: string) => console.error(line),
  onFinished: rememberRun,
}

async function serve(): Promise<void> {
  const stop = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())
  const order = folder.readOrder()
  if (order === undefined) return
  const service = await start(order)
  const poll = setInterval(() => folder.hasOrder() || stop.resolve(), POLL_MS)
  try {
    const outcome = await describeStart(service, order.commit)
    folder.writeStart(outcome)
    if (outcome.kind === 'up') await stop.promise
  } finally {
    clearInterval(poll)
    await service.close()
  }
}

function start({ args, key, workspace, commit }: Order): Promise<LocalService> {
  const commandLine = readCommandLine(args, {}, workspace)
  if (commandLine === undefined) throw new ConfigurationError('The argument --help does not start the service.')
  return startLocalService(commandLine.settings, {
    ...commandLine,
    ...SHARED,
    key,
    outputs: folder.outputFolder,
    onOutputRead: rememberShown,
    temporaryFolder: tmpdir(),
    checkoutOfJob: { root: workspace, commit },
  })
}

async function describeStart({ url, projects }: LocalService, jobCommit: string): Promise<Start> {
  const [problem] = projects.flatMap(({ found }) => found.problem ?? [])
  if (problem !== undefined) return { kind: 'failed', reason: `${problem.text}. ${problem.remedy}` }
  const log = await Promise.all(projects.map((project) => describeProject(project, jobCommit)))
  return { kind: 'up', url, projects: projects.map(({ id, found: { commit } }) => ({ id, commit })), log: log.flat() }
}

/** What the log of main says about a project. */
async function describeProject({ id, framework, folder, found }: ServedProject, jobCommit: string): Promise<string[]> {
  const { commit, repository, skipsSetup } = found
  const name = found.branch ?? (commit === jobCommit ? nameOfCheckout(process.env) : undefined)
  const checkedOut = commit === undefined ? 'no commit' : `commit ${commit}${name === undefined ? '' : ` (${name})`}`
  const changes = repository === undefined ? 0 : await countChangedFiles(repository)
  return [
    `The local service serves the project ${id}: ${framework} in ${folder}, ${checkedOut}.`,
    ...(changes
      ? [`"git status" lists ${count(changes, 'changed file')} in the repository. The tests see the files as they are.`]
      : []),
    ...(skipsSetup ? [`A run of this commit tests the folder itself, so the "setup" of ${id} does not run.`] : []),
  ]
}

/** On a pull request, `actions/checkout` checks out a merge commit, which is on no branch. */
function nameOfCheckout(env: NodeJS.ProcessEnv): string | undefined {
  const isMergeCommit = /^refs\/pull\/\d+\/merge$/.test(env.GITHUB_REF ?? '')
  if (isMergeCommit && env.GITHUB_HEAD_REF) return `${env.GITHUB_HEAD_REF}, merged into ${env.GITHUB_BASE_REF}`
  return env.GITHUB_REF_NAME || undefined
}

function rememberShown(runId: string, bytes: number): void {
  try {
    folder.writeShownBytes(runId, bytes)
  } catch (error) {
    console.error(`run ${runId}: post shows its output again: ${messageOf(error)}`)
  }
}

function rememberRun({ runId, projectId, phase: { status } }: Run, { message }: RunOutcome): void {
  try {
    folder.addFinishedRun({ runId, projectId, status, message })
  } catch (error) {
    // The job has ended, or a test has replaced the file.
    console.error(`run ${runId}: post cannot show it: ${messageOf(error)}`)
  }
}

async function main(): Promise<void> {
  try {
    await serve()
  } catch (error) {
    if (!(error instanceof ConfigurationError)) console.error(error)
    process.exitCode = 1
    if (folder.exists()) folder.writeStart({ kind: 'failed', reason: messageOf(error) })
  }
  if (folder.exists()) folder.writeStopped()
}

// If the job has ended, the runner has removed the folder.
if (folder.exists()) await (mode === 'clean' ? removeLeft(SHARED) : main())
