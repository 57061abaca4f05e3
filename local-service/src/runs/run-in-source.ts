import { join } from 'node:path'
import { runInContainer } from '../containers/container.ts'
import type { Source } from './prepare-files.ts'
import { type CommandEnd, runCommand } from './run-command.ts'
import { withProjectCommands } from './test-environment.ts'
import type { TestRun } from './test-run.ts'

/** Runs a command in the project's folder of the tested files. If the project has a container, runs it in a new container. */
export function runInSource(
  source: Source,
  run: TestRun,
  argv: readonly string[],
  stop: AbortSignal,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { runId, stopGraceMs, engine, output } = run
  const settings = run.project.container
  const base = { argv, folder: join(source.root, source.folder), runId, stopGraceMs, output }
  if (engine === undefined || settings === undefined) {
    return runCommand({ ...base, env: { ...environmentIn(source, run), ...variables } }, stop)
  }
  const env = { ...run.env, ...variables }
  const startedFile = join(run.resources.runFolder, 'started')
  const container = { engine, settings, mounts: source.mounts, folder: run.project.folder, startedFile }
  return runInContainer(container, { ...base, env }, stop)
}

/** The environment of the project's commands outside containers. */
export function environmentIn(source: Source, { env, project }: Pick<TestRun, 'env' | 'project'>): NodeJS.ProcessEnv {
  return withProjectCommands(env, source, project.node)
}
