import { existsSync, lstatSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  /** Whether the run may be cancelled. */
  readonly mayCancel?: boolean | undefined
}

/** The file as main has it. Each version is one line, so that it counts whole or not at all. */
export interface StepFile {
  readonly name: string
  /** The runner empties the folder at the job's end. */
  readonly isInRunnerFolder: boolean
  readonly phase: MainRecord['phase']
  /** Returns whether it could be written. A file that was removed is never made a second time. */
  update(version: Pick<MainRecord, 'phase' | 'runId' | 'mayCancel'>): boolean
  isThere(): boolean
  remove(): void
}

const PREFIX = 'test-run-action-'

/** Creates the file in the runner's temporary folder, or in the system's; undefined if neither can be written. */
export function createStepFile(env: Environment): StepFile | undefined {
  const name = `${namePrefix(env)}${crypto.randomUUID()}`
  for (const folder of folders(env)) {
    try {
      const file = openStepFile(name, join(folder, name), folder === env.RUNNER_TEMP)
      if (file.update({ phase: 'nothing-started' })) return file
      file.remove()
    } catch {
      // The next folder.
    }
  }
  return undefined
}

function openStepFile(name: string, path: string, isInRunnerFolder: boolean): StepFile {
  const { pid } = process
  const self = { pid, startTime: processStat(pid)?.startTime, bootId: bootId() }
  const file = openSync(path, 'ax', 0o600)
  let phase: MainRecord['phase'] = 'nothing-started'
  const isThere = () => existsSync(path)
  return {
    name,
    isInRunnerFolder,
    get phase() {
      return phase
    },
    update(version) {
      phase = version.phase
      try {
        // The line break before it ends a version that a full disk has cut.
        writeSync(file, `\n${JSON.stringify({ ...self, ...version })}\n`)
        return isThere()
      } catch {
        return false
      }
    },
    isThere,
    remove: () => removeFile(path),
  }
}

/** A file that cannot be removed stays: neither the verdict nor the job depends on it. */
export function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Post finds it, or nobody does.
  }
}

/** The path of the file with this name; undefined if there is none any more. */
export function findStepFile(env: Environment, name: string): string | undefined {
  return folders(env)
    .map((folder) => join(folder, name))
    .find(isOurs)
}

/** The files of all steps that have this step's identity. */
export function findStepFiles(env: Environment): string[] {
  const prefix = namePrefix(env)
  return folders(env).flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(folder, name))
      .filter(isOurs),
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A main, as post finds it. */
export interface FoundMain {
  /** The newest version of its file; undefined once main has removed it, because nothing is left to do. */
  read(): MainRecord | undefined
  removeFile(): void
  isAlive(record: MainRecord): boolean
  /** Does nothing if main does not live any more, or where there is no `/proc`. */
  signal(record: MainRecord, signal: 'SIGHUP' | 'SIGKILL'): void
}

export function mainOf(path: string): FoundMain {
  return {
    read() {
      try {
        const versions = readFileSync(path, 'utf8').split('\n').map(parseRecord)
        return versions.findLast((version) => version !== undefined)
      } catch {
        return undefined
      }
    },
    removeFile: () => removeFile(path),
    isAlive,
    signal: signalMain,
  }
}

function parseRecord(line: string): MainRecord | undefined {
  try {
    const record: MainRecord | null = JSON.parse(line)
    return PHASES.some((phase) => phase === record?.phase) ? (record ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/** The system's folder is anybody's: what another user put there is not ours. */
function isOurs(path: string): boolean {
  try {
    const status = lstatSync(path)
    return status.isFile() && (process.getuid === undefined || status.uid === process.getuid())
  } catch {
    return false
  }
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

// --- the process

/** Whether main still lives. Where there is no `/proc`, whether there is a process of its id. A zombie has exited. */
function isAlive({ pid, startTime, bootId: itsBootId }: MainRecord): boolean {
  if (startTime === undefined) return isProcess(pid)
  const stat = itsBootId === bootId() ? processStat(pid) : undefined
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X'
}

/** Sends a signal to main if it still lives. Never without `/proc`, where another process may have its id by now. */
function signalMain(main: MainRecord, signal: NodeJS.Signals): void {
  if (main.startTime === undefined || !isAlive(main)) return
  try {
    process.kill(main.pid, signal)
  } catch {
    // It has just exited, or is another user's.
  }
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function processStat(pid: number): { readonly state?: string; readonly startTime?: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field, the program's name in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', startTime: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
