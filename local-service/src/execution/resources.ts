import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeWorkTree } from '../checkout/repository.ts'
import { removeContainers } from '../machine/container.ts'
import { removeFolder } from '../machine/files.ts'
import type { RunExclusive } from '../machine/keyed-mutex.ts'
import { killProcesses } from '../machine/processes.ts'
import { count } from '../text.ts'

// local-service/test/life/deaths.test.ts tests this file.

/** What a run has on the machine while it runs, besides processes. The names are known before anything is created. */
export interface RunResources {
  /** What the service writes. */
  readonly runFolder: string
  /** What the framework writes: report, traces, screenshots. */
  readonly frameworkFolder: string
  /** A folder of the run that only this user can enter. */
  readonly privateFolder: string
  /** The `TMPDIR` of the run's processes, in `privateFolder`. Its path is short, because sockets are created in it. */
  readonly testsTemporaryFolder: string
  /** The work tree that the run tests. It is not created if the run tests the project's own folder. */
  readonly tree: string
  /** The `.git` folder of the repository, which has a record of the work tree. */
  readonly gitFolder?: string | undefined
  /** The command that starts containers, if the run has any. */
  readonly engine?: readonly string[] | undefined
}

interface ResourceOptions extends Pick<RunResources, 'gitFolder' | 'engine'> {
  readonly dataFolder: string
  readonly temporaryFolder: string
}

export function resourcesOf(runId: string, { dataFolder, temporaryFolder, ...others }: ResourceOptions): RunResources {
  const runFolder = join(dataFolder, 'runs', runId)
  const privateFolder = join(temporaryFolder, `test-run-${runId.slice(0, 8)}`)
  return {
    runFolder,
    frameworkFolder: join(runFolder, 'framework'),
    privateFolder,
    testsTemporaryFolder: join(privateFolder, 'tmp'),
    // git names its own record of a work tree by the last part of the path.
    tree: join(dataFolder, 'trees', runId),
    ...others,
  }
}

/** The output folder of the framework. The report lies beside it, because Playwright empties this folder. */
export function filesFolderOf({ frameworkFolder }: RunResources): string {
  return join(frameworkFolder, 'files')
}

export async function createRunFolders(resources: RunResources): Promise<void> {
  const { frameworkFolder, privateFolder, testsTemporaryFolder, tree } = resources
  await mkdir(frameworkFolder, { recursive: true, mode: 0o700 })
  await mkdir(dirname(tree), { recursive: true, mode: 0o700 })
  // The folder must be new. In the machine's temporary folder, somebody else could have created it.
  await mkdir(privateFolder, { mode: 0o700 })
  await mkdir(testsTemporaryFolder, { mode: 0o700 })
}

export interface RemovalOptions {
  readonly personEnv: NodeJS.ProcessEnv
  readonly runExclusive: RunExclusive
}

/**
 * Kills the remaining processes of a run and removes its other resources. This or an earlier process of the service may
 * have left them. Returns what there was, for the log.
 */
export async function removeResources(
  runId: string,
  { runFolder, privateFolder, tree, gitFolder, engine }: RunResources,
  { runExclusive, personEnv }: RemovalOptions,
): Promise<string[]> {
  const processes = await killProcesses({ runId })
  // The engine's program must be gone first, because it could create another container. The folders come last, because
  // containers write to them.
  const containers =
    engine === undefined ? 0 : await removeContainers(engine, runId, personEnv).catch((error: Error) => error)
  const folders = [tree, runFolder, privateFolder].filter((folder) => existsSync(folder))
  const removals = [
    gitFolder === undefined ? removeFolder(tree) : runExclusive(gitFolder, () => removeWorkTree(tree, gitFolder)),
    ...[runFolder, privateFolder].map(removeFolder),
  ]
  // If one removal fails, the others must still finish.
  const results = await Promise.allSettled(removals)
  if (containers instanceof Error) throw containers
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return [
    ...(processes > 0 ? [count(processes, 'process', 'processes')] : []),
    ...(containers > 0 ? [count(containers, 'container')] : []),
    ...folders,
  ]
}
