import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Checkout, type CheckoutContext, chooseCheckout } from '../checkout/checkout.ts'
import { executeRun } from '../execution/execute.ts'
import { RunOutput } from '../execution/output.ts'
import type { RunContext } from '../execution/project-command.ts'
import { resourcesOf } from '../execution/resources.ts'
import type { Selection } from '../frameworks/framework.ts'
import { isUnusable } from '../frameworks/unusable.ts'
import type { TestedFolders } from '../machine/files.ts'
import { type Project, readsReports } from '../settings/project.ts'
import { quote, quoteAll } from '../text.ts'
import type { RunQueue } from './queue.ts'
import { refuse } from './refusal.ts'
import { createRun } from './run.ts'
import type { CommonContext } from './store.ts'

export interface ServiceContext extends CommonContext, CheckoutContext {
  readonly stopGraceMs: number
  readonly outputs: string
  readonly queue: RunQueue
}

interface StartRequest {
  readonly project: Project
  readonly selection: Selection
  readonly suite?: string | undefined
  readonly branch?: string | undefined
  readonly environment?: string | undefined
  readonly variables: ReadonlyMap<string, string>
  readonly autofix: boolean
}

/** Returns the id of the run. If the service cannot start it, the request is refused. */
export async function startRun(service: ServiceContext, request: StartRequest): Promise<string> {
  const { project, branch, suite } = request
  if (!statSync(project.folder, { throwIfNoEntry: false })?.isDirectory()) {
    const next = 'Put it back, or start the service again for another folder.'
    const problem = `has no folder any more: ${project.folder} was moved or removed`
    refuse(404, `Project ${quote(project.id)} ${problem}. ${next}`)
  }
  const checkout = await chooseCheckout(project, branch, service)
  if (isUnusable(checkout)) refuse(400, checkout.reason)
  if (readsReports(project) && checkout.workTreeCommit !== undefined) {
    const problem = 'reads reports in its own folder, where another commit is checked out'
    refuse(400, `Project ${quote(project.id)} ${problem} than ${quote(branch)}. Leave the branch out.`)
  }
  const run = createRun({ projectId: project.id, suite, branchName: checkout.branchName })
  const context = toRunContext(service, request, run.runId, checkout)
  service.log(`run ${run.runId}: is for project ${quote(project.id)}, ${describeCheckout(checkout, project)}`)
  service.log(`run ${run.runId}: writes its output to ${context.output.folder}`)
  service.queue.add(run, {
    // Runs in place can share the project's folder, and what their tests write there. Each work tree has a folder of its own.
    folder: context.tested.folder,
    resources: context.resources,
    execute: (stop, onTests) => executeRun({ ...context, stop }, onTests),
  })
  return run.runId
}

/** The environment of a run that names no environment, if the project has it. */
const DEFAULT_ENVIRONMENT = 'default'

/** The variables of the environment. A variable of the request replaces the one of the environment. */
function variablesOf({ project, environment: given, variables }: StartRequest): Record<string, string> {
  const environment = project.environments.get(given ?? DEFAULT_ENVIRONMENT)
  if (environment === undefined && given !== undefined) {
    const known = quoteAll([...project.environments.keys()])
    refuse(400, `Project ${quote(project.id)} has no environment ${quote(given)}. Its environments: ${known}.`)
  }
  return Object.fromEntries([...(environment ?? []), ...variables])
}

function toRunContext(
  service: ServiceContext,
  request: StartRequest,
  runId: string,
  checkout: Checkout,
): Omit<RunContext, 'stop'> {
  const { project, selection, autofix } = request
  const { original, workTreeCommit } = checkout
  const resources = resourcesOf(runId, service.store.folder, project.container?.engine)
  const output = new RunOutput(join(service.outputs, runId), (text) => service.logError(`run ${runId}: ${text}`))
  /** Writes a line to the log of the service and to the output of the run. */
  const logTo = (log: (text: string) => void) => (text: string) => {
    log(`run ${runId}: ${text}`)
    output.write(`[local service] ${text}\n`)
  }
  return {
    runId,
    project,
    selection,
    autofix,
    variables: variablesOf(request),
    checkout,
    tested: workTreeCommit === undefined ? original : inWorkTree(original, resources.tree),
    resources,
    output,
    serviceEnv: service.serviceEnv,
    stopGraceMs: service.stopGraceMs,
    log: logTo(service.log),
    logError: logTo(service.logError),
  }
}

/** The project's folder has the same path in the work tree as in the repository. */
function inWorkTree({ root, folder }: TestedFolders, tree: string): TestedFolders {
  return { root: tree, folder: join(tree, relative(root, folder)) }
}

function describeCheckout(checkout: Checkout, { setup, folder }: Project): string {
  if (checkout.workTreeCommit === undefined) {
    const unknown = checkout.whyUnknown && `. git cannot say what is checked out: ${checkout.whyUnknown}`
    return `the folder itself${setup === undefined ? '' : ', without its "setup"'}${unknown ?? ''}`
  }
  const packages = setup === undefined ? `, with the packages that are installed in ${folder}` : ''
  return `branch ${quote(checkout.branchName)} at ${checkout.workTreeCommit}${packages}`
}
