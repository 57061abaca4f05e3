import { existsSync, lstatSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseJson } from '../text/json.ts'
import type { Environment } from './event.ts'

// Main's own file, from which post learns of a main that still lives and of a run whose step lost its state. The whole
// rule is in docs/cancelling.md.

const PHASES = ['nothing-started', 'starting', 'started'] as const

/** What main says of itself. No key, and no text of anybody but the run's id. */
export interface MainRecord {
  readonly pid: number
  /** Field 22 of `/proc/<pid>/stat`, and the machine's boot id: absent where there is no `/proc`. */
  readonly startTime?: string | undefined
  readonly bootId?: string | undefined
  readonly phase: (typeof PHASES)[number]
  readonly runId?: string | undefined
  readonly mayCancel?: boolean | undefined
}

/** The file as main has it. Each version is one line, so that it counts whole or not at all. */
export type StepFile = ReturnType<typeof openStepFile>

const PREFIX = 'test-run-action-'

/** Creates the file in the runner's temporary folder, or in the system's; undefined if neither can be written. */
export function createStepFile(env: Environment): StepFile | undefined {
  const name = `${namePrefix(env)}${crypto.randomUUID()}`
  for (const folder of folders(env)) {
    const file = attempt(() => openStepFile(name, join(folder, name), folder === env.RUNNER_TEMP))
    if (file?.update({ phase: 'nothing-started' })) return file
    file?.remove()
  }
  return undefined
}

function openStepFile(name: string, path: string, isInRunnerFolder: boolean) {
  const { pid } = process
  const self = { pid, startTime: processStat(pid)?.startTime, bootId: bootId() }
  const file = openSync(path, 'ax', 0o600)
  let phase: MainRecord['phase'] = 'nothing-started'
  const isThere = () => existsSync(path)
  return {
    name,
    /** The runner empties the folder at the job's end. */
    isInRunnerFolder,
    get phase() {
      return phase
    },
    /** Returns whether it could be written. A file that was removed is never made a second time. */
    update(version: Pick<MainRecord, 'phase' | 'runId' | 'mayCancel'>): boolean {
      phase = version.phase
      // The line break before it ends a version that a full disk has cut.
      const line = `\n${JSON.stringify({ ...self, ...version })}\n`
      return attempt(() => writeSync(file, line)) !== undefined && isThere()
    },
    isThere,
    remove: () => removeFile(path),
  }
}

/** The task's result; undefined if it throws, because nothing here may fail a step or a job. */
function attempt<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}

export function removeFile(path: string): void {
  attempt(() => rmSync(path, { force: true }))
}

/** The file of this name, if there is one; without a name, the files of all steps that have this step's identity. */
export function findStepFiles(env: Environment, name?: string): string[] {
  if (name !== undefined) {
    const paths = folders(env).map((folder) => join(folder, name))
    return paths.filter(isOurs).slice(0, 1)
  }
  const prefix = namePrefix(env)
  const namesIn = (folder: string) => attempt(() => readdirSync(folder)) ?? []
  const paths = folders(env).flatMap((folder) => namesIn(folder).map((one) => join(folder, one)))
  return paths.filter((path) => basename(path).startsWith(prefix) && isOurs(path))
}

/** A main, as post finds it by its file. */
export type FoundMain = ReturnType<typeof mainOf>

export function mainOf(path: string) {
  return {
    /** The newest version of its file; undefined once main has removed it, because nothing is left to do. */
    read: () => readRecord(path),
    removeFile: () => removeFile(path),
    isAlive,
    /** Does nothing if main has exited, or without `/proc`, where another process may have its id by now. */
    signal(main: MainRecord, signal: 'SIGHUP' | 'SIGKILL'): void {
      if (main.startTime !== undefined && isAlive(main)) attempt(() => process.kill(main.pid, signal))
    },
  }
}

function readRecord(path: string): MainRecord | undefined {
  const lines = attempt(() => readFileSync(path, 'utf8').split('\n')) ?? []
  const versions = lines.map((line) => parseJson(line) as MainRecord | undefined | null)
  return versions.findLast((version) => PHASES.some((phase) => phase === version?.phase)) ?? undefined
}

/** The system's folder is anybody's: what another user put there is not ours. */
function isOurs(path: string): boolean {
  const status = attempt(() => lstatSync(path))
  return status?.isFile() === true && (process.getuid === undefined || status.uid === process.getuid())
}

function folders({ RUNNER_TEMP: runnerTemp = '' }: Environment): string[] {
  return [...new Set([runnerTemp, tmpdir()])].filter((folder) => existsSync(folder))
}

/** What main and post of one step share, and other steps do not. */
function namePrefix(env: Environment): string {
  const identity = [
    ...['GITHUB_REPOSITORY', 'GITHUB_RUN_ID', 'GITHUB_RUN_ATTEMPT', 'GITHUB_JOB', 'INPUT_CHECK-RUN-ID', 'RUNNER_NAME'],
    ...['RUNNER_TEMP', 'INPUT_BASE-URL', 'INPUT_PROJECT', 'INPUT_TEST-SUITE'],
  ].map((name) => env[name]?.trim() ?? '')
  // Loaded here, because post's entry imports this file and seldom comes here.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `${PREFIX}${createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32)}-`
}

/** Whether main still lives. Where there is no `/proc`, whether there is a process of its id. A zombie has exited. */
function isAlive({ pid, startTime, bootId: mainsBootId }: MainRecord): boolean {
  if (startTime === undefined) return attempt(() => process.kill(pid, 0)) === true
  const stat = mainsBootId === bootId() ? processStat(pid) : undefined
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X'
}

function processStat(pid: number): { readonly state?: string; readonly startTime?: string } | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === undefined) return undefined
  // The second field, the program's name in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' }
}

function bootId(): string | undefined {
  return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
}
