import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import { waitForStopSignal } from '../machine/processes.ts'
import { type LocalService, openService, type ServedProject, startLocalService } from '../service.ts'
import { readServiceInputs, type ServiceInputs } from '../settings/configuration.ts'
import { ConfigurationError } from '../settings/project.ts'
import { serviceFolder } from './service-folder.ts'

// The process of the action's service. `index.js serve FOLDER` serves until a signal, or until the folder is removed. `index.js clean
// FOLDER` removes what a killed service left. Both leave for post what the runs were.

export type StartResponse =
  | {
      readonly kind: 'up'
      readonly url: string
      readonly key: string
      /** If the projects differ in this, it is absent. */
      readonly project?: string | undefined
      readonly commit?: string | undefined
      readonly log: readonly string[]
    }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Main sees that the process has ended without a response. */
  | { readonly kind: 'ended'; readonly how: string }

const POLL_MS = 200

const [task = '', path = ''] = process.argv.slice(2)
const folder = serviceFolder(path)
const shared = { env: process.env, dataFolder: folder.dataFolder, log: console.error }

async function serve(): Promise<void> {
  const stop = Promise.race([waitForStopSignal(), waitUntilRemoved(folder.log)])
  const { GITHUB_WORKSPACE: root = process.cwd(), GITHUB_HEAD_REF, GITHUB_REF_NAME = '' } = process.env
  const inputs: ServiceInputs = JSON.parse(readFileSync(folder.inputs, 'utf8'))
  rmSync(folder.inputs)
  const { configuration, runLimitMinutes } = readServiceInputs(inputs, root)
  // Without an input, the gate asks for this branch on most events.
  const checkoutOfJob = { root, branch: GITHUB_HEAD_REF || GITHUB_REF_NAME }
  const options = { ...shared, runLimitMinutes, outputs: folder.outputFolder, checkoutOfJob }
  const service = await startLocalService(configuration, options)
  const response = describeStart(service)
  respond(response)
  if (response.kind === 'up') await stop
  const end = JSON.stringify(await service.close())
  // Tests may have put something else there. They have ended now.
  rmSync(folder.runsAtEnd, { recursive: true, force: true })
  writeFileSync(folder.runsAtEnd, end)
}

/** If post never runs, the runner removes the folder at the end of the job. Runs may make folders again, but not the log. */
async function waitUntilRemoved(log: string): Promise<void> {
  while (existsSync(log)) await delay(POLL_MS, undefined, { ref: false })
}

/** If main has exited, nobody receives the response. This is no error, because post stops the service. */
function respond(response: StartResponse): void {
  process.send?.(response, () => undefined)
}

function describeStart({ url, key, projects }: LocalService): StartResponse {
  const [problem] = projects.flatMap(({ problem }) => problem ?? [])
  if (problem !== undefined) return { kind: 'failed', reason: problem }
  const common = (values: readonly (string | undefined)[]) => (new Set(values).size === 1 ? values[0] : undefined)
  const project = common(projects.map(({ id }) => id))
  const commit = common(projects.map((served) => served.commit))
  return { kind: 'up', url, key, project, commit, log: projects.map(describeProject) }
}

function describeProject({ id, framework, folder, commit, whyUnknown, setup }: ServedProject): string {
  const unknown = `no commit, because git cannot say what is checked out (${whyUnknown})`
  const checkedOut = commit === undefined ? unknown : `commit ${commit}`
  const note = setup && ' Its "setup" does not run for this commit, because the folder itself is tested.'
  return `The local service serves the project ${id}: ${framework.name} in ${folder}, ${checkedOut}.${note ?? ''}`
}

try {
  if (task === 'clean') console.log(JSON.stringify((await openService(shared)).close()))
  else await serve()
} catch (error) {
  // Main shows the reason. Nobody receives that of a clean-up, so the log has it.
  if (task === 'clean' || !(error instanceof ConfigurationError)) console.error(error)
  process.exitCode = 1
  respond({ kind: 'failed', reason: messageOf(error) })
}
