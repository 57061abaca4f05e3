import { join } from 'node:path'
import { runInContainer } from '../containers/container.ts'
import { REPORTERS_FOLDER } from '../frameworks/framework.ts'
import type { Place } from '../workspace/work-tree.ts'
import { type CommandEnd, runCommand } from './run-command.ts'
import { withProjectCommands } from './test-environment.ts'
import type { TestRun } from './test-run.ts'

/** Runs a command in the project's folder of the tested files. If the project has a container, runs it in a new container. */
export function runInSource(
  source: Place,
  run: TestRun,
  argv: readonly string[],
  stop: AbortSignal,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, project, checkout, resources, stopGraceMs, output, personEnv } = run
  const base = { argv, folder: join(source.root, source.folder), runId, stopGraceMs, output }
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
export function environmentIn(source: Place, { env }: Pick<TestRun, 'env'>): NodeJS.ProcessEnv {
  return withProjectCommands(env, source)
}
