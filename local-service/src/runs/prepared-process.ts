import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { REPORT_FILE } from '../frameworks/report-writer.ts'
import type { Project } from '../project.ts'
import { commandFoldersOf } from '../workspace/packages.ts'
import { repositoryFolderOf } from '../workspace/paths.ts'
import { frameworkProgram } from './framework-command.ts'
import { signalProcess } from './processes.ts'
import { type Command, spawnMarked } from './run-command.ts'
import { environmentIn } from './run-in-source.ts'
import { resourcesOf } from './run-resources.ts'
import { baseEnvironment } from './test-environment.ts'

/** The process needs 100 MB of memory. */
const WAIT_LIMIT_MS = 60_000

/**
 * Starts the framework before the first run of a project is requested. The process loads the framework and waits. It loads no
 * file of the project's own. Undefined if the framework cannot wait.
 */
export function prepareProcess(
  project: Project,
  env: NodeJS.ProcessEnv,
  temporaryFolder: string,
): PreparedProcess | undefined {
  const { framework, folder, args, container, defaultEnvironment = '', environments } = project
  if (container !== undefined) return undefined
  const runId = randomUUID()
  const root = repositoryFolderOf(folder)
  const place = { root, folder: relative(root, folder) }
  const source = { ...place, needsSetup: false, mounts: [] }
  const base = baseEnvironment(resourcesOf(runId, { dataFolder: '', temporaryFolder }), env)
  const run = {
    project,
    checkout: { kind: 'in-place', place },
    env: { ...base, ...environments.get(defaultEnvironment) },
  } as const
  try {
    const program = frameworkProgram(run, source)
    // With Plug'n'Play, no script and no folder would show that packages have changed.
    if (program?.script === undefined) return undefined
    const call = framework.run(program, { isInPlace: true, reportFile: '', outputFolder: '' })
    if (call.waitingArgv === undefined) return undefined
    const watched = [...program.argv, ...commandFoldersOf(place).map(dirname)]
    const command = { argv: [...call.argv, ...args], folder, env: environmentIn(source, run), runId }
    return new PreparedProcess(command, [...call.waitingArgv, ...args], watched)
  } catch {
    // A run says why its framework cannot be started.
    return undefined
  }
}

type PreparedCommand = Pick<Command, 'argv' | 'folder' | 'env' | 'runId'>

/** A process that waits for its run. If the service dies, its input ends, and it exits. */
export class PreparedProcess {
  /** The run has this id, because the process has its marker from the beginning. */
  readonly runId: string
  readonly #command: PreparedCommand
  readonly #child: ChildProcess
  readonly #watched: readonly string[]
  readonly #stamps: readonly string[]
  readonly #exit: Promise<unknown>
  readonly #limit: NodeJS.Timeout
  #state: 'waiting' | 'claimed' | 'taken' | 'dismissed' = 'waiting'

  /** If one of the watched files and folders changes, the process is not used. */
  constructor(command: PreparedCommand, waitingArgv: readonly string[], watched: readonly string[]) {
    this.runId = command.runId
    this.#command = command
    this.#watched = watched
    this.#stamps = watched.map(stampOf)
    this.#child = spawnMarked({ ...command, argv: waitingArgv }, 'pipe')
    this.#exit = new Promise((resolve) => this.#child.once('exit', resolve).once('error', resolve))
    this.#limit = setTimeout(() => this.dismiss(), WAIT_LIMIT_MS).unref()
  }

  /** Only the first run gets the process. If there is a process, the service has only one project. */
  claim(): PreparedProcess | undefined {
    if (this.#state !== 'waiting') return undefined
    this.#state = 'claimed'
    return this
  }

  /**
   * The process for a command, or undefined if the command is not what was prepared. It may have further arguments and a file
   * for the report. The process is used at most once.
   */
  take({ argv, folder, env, runId }: PreparedCommand): ChildProcess | undefined {
    if (this.#state !== 'claimed') return undefined
    const prepared = this.#command
    const further = argv.slice(prepared.argv.length)
    const { [REPORT_FILE]: reportFile = '', ...others } = env
    const fits =
      isDeepStrictEqual([...prepared.argv, ...further], argv) &&
      folder === prepared.folder &&
      runId === prepared.runId &&
      isDeepStrictEqual(others, { ...prepared.env }) &&
      isDeepStrictEqual(this.#watched.map(stampOf), this.#stamps)
    if (!fits || !this.#isAlive()) {
      void this.dismiss()
      return undefined
    }
    this.#state = 'taken'
    clearTimeout(this.#limit)
    this.#child.stdin?.end(JSON.stringify({ args: further, env: { [REPORT_FILE]: reportFile } }))
    return this.#child
  }

  /** Ends the process, unless a run has taken it. */
  async dismiss(): Promise<void> {
    if (this.#state === 'taken') return
    this.#state = 'dismissed'
    clearTimeout(this.#limit)
    if (this.#isAlive()) signalProcess(-Number(this.#child.pid), 'SIGKILL')
    await this.#exit
  }

  #isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.#child
    return pid !== undefined && exitCode === null && signalCode === null
  }
}

/** Changes if a file is replaced, or if an entry of a folder is. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return `${found?.ino} ${found?.mtimeMs} ${found?.ctimeMs}`
}
