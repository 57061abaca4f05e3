import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { writeWhole } from '../runner/runner-file.ts'

// Main's own file. Main appends lines to it and never creates it a second time. record.ts explains what it is for.

// Of these three, Windows has only O_RDONLY.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

const PREFIX = 'test-run-action-'

interface StepFile {
  /** The file's path, even if the file could not be created. */
  readonly path: string
  /** Whether the file exists and is in the runner's temporary folder. The runner empties this folder at the end of the job. */
  existsInRunnerFolder(): boolean
  /** Throws if post cannot read the line, because it was not written or the file was removed. */
  append(line: string): void
  empty(): void
}

/** Creates the file with its first line, in the runner's temporary folder or else in the system's. */
export function createStepFile(env: NodeJS.ProcessEnv, firstLine: (path: string) => string): StepFile {
  const name = `${hashPrefix(env)}${crypto.randomUUID()}`
  for (const folder of folders(env)) {
    const path = join(folder, name)
    const descriptor = resultOrNone(() => openSync(path, 'wx', 0o600))
    if (descriptor === undefined) continue
    const created = stepFile(path, descriptor, folder === env.RUNNER_TEMP)
    try {
      created.append(firstLine(path))
      return created
    } catch {
      removeStepFile(path)
    }
  }
  return stepFile(join(tmpdir(), name), undefined, false)
}

function stepFile(path: string, descriptor: number | undefined, wasInRunnerFolder: boolean): StepFile {
  const isThere = () => descriptor !== undefined && !isRemoved(path)
  return {
    path,
    existsInRunnerFolder: () => wasInRunnerFolder && isThere(),
    append(line) {
      if (descriptor === undefined) throw new Error(`${path} could not be created`)
      writeWhole(descriptor, `${line}\n`)
      if (!isThere()) throw new Error(`${path} was removed`)
    },
    empty() {
      if (descriptor !== undefined) resultOrNone(() => ftruncateSync(descriptor))
    },
  }
}

/** If the check fails, for example because a network drive does not respond, the file does not count as removed. */
export function isRemoved(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** Returns the task's result. If the task throws, returns undefined. A problem with main's file must not end main or post. */
function resultOrNone<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}

export function removeStepFile(path: string): void {
  if (isStepFile(path)) resultOrNone(() => rmSync(path, { force: true }))
}

/** Protects post from a file to which another step has appended. Main's records are much shorter. */
const READ_LIMIT_BYTES = 131_072

/** The beginning of the file. Undefined if the file was removed, or if it is not a plain file of this user. */
export function readStepFile(path: string): string | undefined {
  return isStepFile(path) ? resultOrNone(() => readOpened(path)) : undefined
}

/**
 * Windows has no O_NOFOLLOW, so the caller looks for a link before this opens the file. The file may be replaced after
 * that, so this checks the open file again.
 */
function readOpened(path: string): string | undefined {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (!isPlainFileOfUser(fstatSync(file))) return undefined
    const bytes = Buffer.alloc(READ_LIMIT_BYTES)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_LIMIT_BYTES, 0))
  } finally {
    closeSync(file)
  }
}

/** The files of all steps that have this step's hash. */
export function findStepFiles(env: NodeJS.ProcessEnv): string[] {
  const namesIn = (folder: string) => resultOrNone(() => readdirSync(folder)) ?? []
  const paths = folders(env).flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
  const prefix = hashPrefix(env)
  return paths.filter((path) => basename(path).startsWith(prefix) && isStepFile(path))
}

/** Whether the name of this file has the hash of this process's job and inputs. */
export function isNamedFor(env: NodeJS.ProcessEnv, path: string): boolean {
  return basename(path).startsWith(hashPrefix(env))
}

/** Every user can write to the system's temporary folder. So a link or another user's file is not main's. */
function isStepFile(path: string): boolean {
  const status = basename(path).startsWith(PREFIX) ? resultOrNone(() => lstatSync(path)) : undefined
  return status !== undefined && isPlainFileOfUser(status)
}

function isPlainFileOfUser(status: Stats): boolean {
  return status.isFile() && (process.getuid === undefined || status.uid === process.getuid())
}

function folders({ RUNNER_TEMP: runnerTemp = '' }: NodeJS.ProcessEnv): string[] {
  return [...new Set([runnerTemp, tmpdir()])].filter((folder) => existsSync(folder))
}

const SHARED_BY_MAIN_AND_POST = [
  'GITHUB_REPOSITORY',
  'GITHUB_RUN_ID',
  'GITHUB_RUN_ATTEMPT',
  'GITHUB_JOB',
  'INPUT_CHECK-RUN-ID',
  'RUNNER_NAME',
  'RUNNER_TEMP',
  'INPUT_BASE-URL',
  'INPUT_PROJECT',
  'INPUT_TEST-SUITE',
]

/** Main and post of a step have the same hash. Other steps of this job with the same service and target have it too. */
function hashPrefix(env: NodeJS.ProcessEnv): string {
  const hashed = SHARED_BY_MAIN_AND_POST.map((name) => env[name] ?? '')
  // Loaded here, because post loads this file in every step and seldom needs the hash.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `${PREFIX}${createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 32)}-`
}
