import { existsSync, statSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { findFramework } from '../checkout/packages.ts'
import type { Start, Unusable } from '../frameworks/framework.ts'
import { type CommandEnd, runCommand } from '../machine/command.ts'
import { runInContainer } from '../machine/container.ts'
import { foldersBetween, type TestedFolders } from '../machine/files.ts'
import { argvOf, type UserCommand } from '../machine/script.ts'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { type RunContext, setupOf, tell } from './context.ts'
import type { RunResources } from './resources.ts'

/** Runs a command in the project's folder of the tested files. If the project has a container, runs it in a new container. */
export function runProjectCommand(
  folders: TestedFolders,
  run: RunContext,
  command: UserCommand,
  stop: AbortSignal,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, project, checkout, resources, stopGraceMs, output, personEnv } = run
  const logError = (text: string) => tell({ log: run.logError, output }, text)
  const base = { argv: argvOf(command), folder: folders.folder, runId, stopGraceMs, output, logError }
  const settings = project.container
  if (settings === undefined) {
    return runCommand({ ...base, env: { ...withProjectCommands(run.testEnv, folders), ...variables } }, stop)
  }
  // The packages of a work tree are links into the project's folder, and its git folder is there too.
  const linked = checkout.kind === 'work-tree' ? [checkout.place.root] : []
  const container = {
    ...settings,
    env: personEnv,
    folder: project.folder,
    folders: [folders.root, resources.frameworkFolder, resources.tmpdir],
    readOnlyFolders: [REPORTERS_FOLDER, ...linked],
  }
  return runInContainer(container, { ...base, env: { ...run.testEnv, ...variables } }, stop)
}

function withProjectCommands(env: NodeJS.ProcessEnv, place: TestedFolders): NodeJS.ProcessEnv {
  const commands = foldersBetween(place).map((at) => join(at, 'node_modules/.bin'))
  return { ...env, PATH: [...commands, env.PATH ?? []].flat().join(delimiter) }
}

/** What starts the tests of the project. */
export function startOf(run: RunContext, folders: TestedFolders): Start | Unusable {
  const { framework, command, container, folder } = run.project
  if (command !== undefined) return { kind: 'command', command }
  if (framework.packages.length === 0) return { kind: 'nothing' }
  const tree = `the work tree, in ${relative(folders.root, folders.folder) || 'its root'}`
  const found =
    setupOf(run) === undefined
      ? findFramework(framework, folders, folder)
      : findFramework(framework, folders, tree, 'Let "setup" install it, or set "command".')
  if ('kind' in found) return found
  const installed = (node: string) => ({ kind: 'installed', node, script: found.script }) as const
  if (container !== undefined) return installed('node')
  // PATH may have no Node, because a person can start the service by the path of its Node.
  const { PATH = '' } = withProjectCommands(run.testEnv, folders)
  const nodes = PATH.split(delimiter).flatMap((at) => (at === '' ? [] : join(at, 'node')))
  // A folder can have this name too.
  return installed(nodes.find((node) => existsSync(node) && statSync(node).isFile()) ?? process.execPath)
}

/** The person's own environment, without the variables by which a git hook ties git commands to its own repository. */
export function personalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !GIT_VARIABLES.test(name)))
}

/** What git sets for a hook. A person sets `GIT_CONFIG_COUNT`, for example for `safe.directory`, so the tests get it. */
const GIT_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|CONFIG_PARAMETERS)$/

/** What every test process has. In a container, it has none of the person's environment. */
export function baseEnvironment({ tmpdir }: RunResources, person: NodeJS.ProcessEnv | undefined): NodeJS.ProcessEnv {
  const temporary = { TMPDIR: tmpdir, TMP: tmpdir, TEMP: tmpdir }
  if (person !== undefined) return { CI: 'true', ...person, ...temporary }
  // If the image does not know the user, the user has no home folder. But npm, for example, writes to the home folder.
  return { CI: 'true', ...(process.getuid?.() === 0 ? {} : { HOME: tmpdir }), ...temporary }
}
