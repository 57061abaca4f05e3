import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { commandFoldersOf, findPackageCommand, howToUsePlugAndPlay, whyFrameworkTooOld } from '../checkout/packages.ts'
import type { Program } from '../frameworks/framework.ts'
import type { TestedFolders } from '../frameworks/report.ts'
import { type CommandEnd, runCommand } from '../machine/command.ts'
import { runInContainer } from '../machine/container.ts'
import { REPORTERS_FOLDER } from '../reporters/folder.ts'
import { needsSetup, type RunContext } from './context.ts'
import type { RunResources } from './leftovers.ts'

// local-service/test/life/test-environment.test.ts tests this file.

/** Runs a command in the project's folder of the tested files. If the project has a container, runs it in a new container. */
export function runProjectCommand(
  source: TestedFolders,
  run: RunContext,
  argv: readonly string[],
  stop: AbortSignal,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, project, checkout, resources, stopGraceMs, output, personEnv } = run
  const base = { argv, folder: source.folder, runId, stopGraceMs, output }
  const settings = project.container
  if (settings === undefined) {
    return runCommand({ ...base, env: { ...environmentIn(source, run), ...variables } }, stop)
  }
  // The packages of a work tree are links into the project's folder, and its git folder is there too.
  const linked = checkout.kind === 'work-tree' ? [checkout.place.root] : []
  const container = {
    settings,
    env: personEnv,
    folder: project.folder,
    folders: [source.root, resources.outputFolder, resources.testsTemporaryFolder],
    readOnlyFolders: [REPORTERS_FOLDER, ...linked],
  }
  return runInContainer(container, { ...base, env: { ...run.env, ...variables } }, stop)
}

/** The environment of the project's commands outside containers. */
function environmentIn(source: TestedFolders, { env }: Pick<RunContext, 'env'>): NodeJS.ProcessEnv {
  return withProjectCommands(env, source)
}

/** An environment whose PATH begins with the project's own commands. */
function withProjectCommands(env: NodeJS.ProcessEnv, place: TestedFolders): NodeJS.ProcessEnv {
  const path = [...commandFoldersOf(place), ...(env.PATH === undefined ? [] : [env.PATH])]
  return { ...env, PATH: path.join(delimiter) }
}

/** What starts the project's framework. Undefined if the framework is not installed. */
export function frameworkProgram(run: Pick<RunContext, 'project' | 'env'>, source: TestedFolders): Program | undefined {
  const { framework, command, container } = run.project
  if (command !== undefined) return { argv: command }
  const script = findPackageCommand(framework, source)
  if (container !== undefined) return script === undefined ? undefined : programOf(script, 'node')
  // PATH may have no Node, because a person can start the service by the path of its Node.
  const node = findExecutable('node', environmentIn(source, run)) ?? process.execPath
  return script === undefined ? undefined : programOf(script, node)
}

function programOf(script: string, node: string): Program {
  return { argv: [node, script], script, node }
}

function findExecutable(name: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  return PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    // A folder can be executable too.
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Says that the framework is too old. Undefined if it is not, or if a command of the project chooses it. */
export function whyTooOld({ project }: RunContext, source: TestedFolders): string | undefined {
  return project.command === undefined ? whyFrameworkTooOld(project.framework, source) : undefined
}

/** If the run has a setup, the setup must install the framework. Otherwise a person must install it. */
export function describeMissing(run: RunContext, source: TestedFolders): string {
  const { framework, folder } = run.project
  const place = needsSetup(run) ? `the work tree, in ${relative(source.root, source.folder) || 'its root'}` : folder
  const remedy = needsSetup(run) ? 'Let "setup" install' : 'Install'
  const next = howToUsePlugAndPlay(framework, source) ?? `${remedy} it, or set "command".`
  return `${framework.packageName} is not installed in ${place}. ${next}`
}

/** The person's own environment, without the variables by which a git hook ties git commands to its own repository. */
export function personalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !GIT_VARIABLES.test(name)))
}

/** What git sets for a hook. A person sets `GIT_CONFIG_COUNT`, for example for `safe.directory`, so the tests get it. */
const GIT_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|CONFIG_PARAMETERS)$/

/**
 * What every test process has. Outside containers, it has the person's environment. In a container, it has almost nothing,
 * because the image brings its own.
 */
export function baseEnvironment(
  { testsTemporaryFolder: folder }: RunResources,
  person: NodeJS.ProcessEnv | undefined,
): NodeJS.ProcessEnv {
  const temporary = { TMPDIR: folder, TMP: folder, TEMP: folder }
  if (person !== undefined) return { CI: 'true', ...person, ...temporary }
  // If the image does not know the user, the user has no home folder. But npm, for example, writes to the home folder.
  return { CI: 'true', ...(process.getuid?.() === 0 ? {} : { HOME: folder }), ...temporary }
}
