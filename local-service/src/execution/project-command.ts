import { existsSync, realpathSync, statSync } from 'node:fs'
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
  readonly tested: TestedFolders
  readonly selection: Selection
  /** What the environment of the run and its request give to the project's commands. */
  readonly variables: Readonly<Record<string, string>>
  /** The environment of the service, for git and for the program that starts containers. */
  readonly serviceEnv: NodeJS.ProcessEnv
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
  frameworkVariables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, project, checkout, tested, resources, stop, stopGraceMs, output, logError } = run
  const env = { ...testEnvironment(run), ...frameworkVariables }
  const command = { argv, folder: tested.folder, env, runId, stopGraceMs, output, logError }
  if (project.container === undefined) return runCommand(command, stop)
  // The packages of a work tree are links into the project's folder, and its git folder is there too.
  const linked = checkout.workTreeCommit === undefined ? [] : [checkout.original.root]
  const container = {
    ...project.container,
    env: run.serviceEnv,
    engineFolder: project.folder,
    mounts: [tested.root, resources.frameworkFolder],
    readOnlyMounts: [REPORTERS_FOLDER, ...linked],
  }
  return runInContainer(container, command, stop)
}

/** How git runs in a folder for a run. The next service finds git by the marker, if this service is killed. */
export function gitOptionsIn(folder: string, { runId, serviceEnv, stop }: RunContext) {
  return { folder, env: { ...serviceEnv, [MARKER_VARIABLE]: runId }, signal: stop }
}

/** The framework's package. Undefined if the project has a command, or if the run only reads JUnit files. A merge needs the package too. */
export function findInstalled(run: RunContext): CallOptions['installed'] | Unusable {
  const { project, checkout, tested } = run
  const { framework, command, setup, container, folder } = project
  if (command !== undefined || framework.packages.length === 0) return undefined
  // Both calls search in `tested`, and their messages differ. If nothing is installed for the run itself, the packages are those of the project's own
  // folder, to which those of a work tree are links.
  const installsItself = setup !== undefined && checkout.workTreeCommit !== undefined
  const found = installsItself
    ? findFramework(framework, tested, 'the work tree', 'Let "setup" install it, or set "command".')
    : findFramework(framework, tested, folder)
  if (isUnusable(found)) return found
  return { node: container === undefined ? findNode(testEnvironment(run)) : 'node', script: found.script }
}

/** PATH may have no Node, because the service can be started by the path of its Node. */
function findNode({ PATH = '' }: NodeJS.ProcessEnv): string {
  const nodes = PATH.split(delimiter).flatMap((at) => (at === '' ? [] : join(at, 'node')))
  // A folder can have this name too.
  return nodes.find((node) => existsSync(node) && statSync(node).isFile()) ?? process.execPath
}

/** The environment of the project's commands. In a container, it has nothing of the service's environment. */
function testEnvironment({
  project,
  checkout,
  tested,
  resources,
  serviceEnv,
  variables,
}: RunContext): NodeJS.ProcessEnv {
  if (project.container !== undefined) {
    // If the image does not know the user, the user has no home folder. But npm, for example, writes to the home folder.
    return { CI: 'true', ...(process.getuid?.() === 0 ? {} : { HOME: resources.homeFolder }), ...variables }
  }
  const env: NodeJS.ProcessEnv = {
    CI: 'true',
    ...serviceEnv,
    // A shell sets PWD too. Without this line, it would be the folder in which the service was started.
    PWD: tested.folder,
    // The project's configuration may build paths from GITHUB_WORKSPACE. In a work tree, they must not lead to the files of another commit.
    ...(checkout.workTreeCommit !== undefined && isSameFolder(serviceEnv.GITHUB_WORKSPACE, checkout.original.root)
      ? { GITHUB_WORKSPACE: tested.root }
      : {}),
    ...variables,
  }
  const commands = foldersBetween(tested).map((at) => join(at, 'node_modules/.bin'))
  const path = env.PATH === undefined ? [] : [env.PATH]
  // `npx vitest` too puts the commands of the project first. The runner starts a `run:` with the commands of the machine, so a `command` has them first.
  const folders = project.command === undefined ? [...commands, ...path] : [...path, ...commands]
  return { ...env, PATH: folders.join(delimiter) }
}

/** `realPath` is from git, which follows links. The path of a workspace may have a link. */
function isSameFolder(path: string | undefined, realPath: string): boolean {
  return path !== undefined && existsSync(path) && realpathSync(path) === realPath
}
