import { existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Checkout } from '../checkout/checkout.ts'
import { findFramework } from '../checkout/packages.ts'
import type { CallOptions, Selection } from '../frameworks/framework.ts'
import { isUnusable, type Unusable } from '../frameworks/unusable.ts'
import { type CommandEnd, runCommand } from '../machine/command.ts'
import { runInContainer } from '../machine/container.ts'
import { foldersBetween, type TestedFolders } from '../machine/files.ts'
import { MARKER_VARIABLE } from '../machine/processes.ts'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import type { Project } from '../settings/project.ts'
import type { RunOutput } from './output.ts'
import type { RunResources } from './resources.ts'

/** What a run tests, with what, and for whom. */
export interface RunContext {
  readonly runId: string
  readonly project: Project
  readonly checkout: Checkout
  /** What the run tests: the project's own folder, or its folder in the work tree. */
  readonly folders: TestedFolders
  readonly selection: Selection
  /** What the environment of the run and its request give to the project's commands. */
  readonly variables: Readonly<Record<string, string>>
  /** The person's own environment, for git and for the program that starts containers. */
  readonly personEnv: NodeJS.ProcessEnv
  readonly autofix: boolean
  readonly resources: RunResources
  readonly output: RunOutput
  /** Its reason is a `StopReason`. */
  readonly stop: AbortSignal
  readonly stopGraceMs: number
  /** Says something about the run in the log, and in the output of the run, which the gate shows. */
  readonly log: (text: string) => void
  /** Says there too what the service could not do itself. In a job, post warns of it. */
  readonly logError: (text: string) => void
}

/** Runs a command in the project's folder of the tested files. If the project has a container, runs it in a new container. */
export function runProjectCommand(
  run: RunContext,
  argv: readonly string[],
  ofReporter: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, project, checkout, folders, resources, stop, stopGraceMs, output, logError } = run
  const env = { ...testEnvironment(run), ...ofReporter }
  const command = { argv, folder: folders.folder, env, runId, stopGraceMs, output, logError }
  if (project.container === undefined) return runCommand(command, stop)
  // The packages of a work tree are links into the project's folder, and its git folder is there too.
  const linked = checkout.workTreeCommit === undefined ? [] : [checkout.folders.root]
  const container = {
    ...project.container,
    env: run.personEnv,
    engineFolder: project.folder,
    mounts: [folders.root, resources.frameworkFolder],
    readOnlyMounts: [REPORTERS_FOLDER, ...linked],
  }
  return runInContainer(container, command, stop)
}

/** How git runs in a folder for a run. The next service finds git by the marker, if this service is killed. */
export function gitOptionsIn(root: string, { runId, personEnv, stop }: RunContext) {
  return { root, env: { ...personEnv, [MARKER_VARIABLE]: runId }, signal: stop }
}

/** The framework's package. Undefined if the project has a command, or if an earlier step or job has run the tests. */
export function findInstalled(run: RunContext): CallOptions['installed'] | Unusable {
  const { project, checkout, folders } = run
  const { framework, command, setup, container, folder } = project
  if (command !== undefined || framework.packages.length === 0) return undefined
  const found =
    setup === undefined || checkout.workTreeCommit === undefined
      ? findFramework(framework, folders, folder)
      : findFramework(framework, folders, 'the work tree', 'Let "setup" install it, or set "command".')
  if (isUnusable(found)) return found
  return { node: container === undefined ? findNode(testEnvironment(run)) : 'node', script: found.script }
}

/** PATH may have no Node, because a person can start the service by the path of its Node. */
function findNode({ PATH = '' }: NodeJS.ProcessEnv): string {
  const nodes = PATH.split(delimiter).flatMap((at) => (at === '' ? [] : join(at, 'node')))
  // A folder can have this name too.
  return nodes.find((node) => existsSync(node) && statSync(node).isFile()) ?? process.execPath
}

/** The environment of the project's commands. In a container, it has nothing of the person's environment. */
function testEnvironment({ project, folders, resources, personEnv, variables }: RunContext): NodeJS.ProcessEnv {
  if (project.container !== undefined) {
    // If the image does not know the user, the user has no home folder. But npm, for example, writes to the home folder.
    return { CI: 'true', ...(process.getuid?.() === 0 ? {} : { HOME: resources.homeFolder }), ...variables }
  }
  const env: NodeJS.ProcessEnv = { CI: 'true', ...personEnv, ...variables }
  const commands = foldersBetween(folders).map((at) => join(at, 'node_modules/.bin'))
  return { ...env, PATH: [...commands, env.PATH ?? []].flat().join(delimiter) }
}
