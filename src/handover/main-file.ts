import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { variableOf } from '../github/input-variable.ts'
import { isObject, parseJson } from '../text/json.ts'
import { messageOf } from '../text/untrusted.ts'

// Main can be killed at any moment, and then its run must not go on. So main keeps a file that says what is left to do, and post
// does what the file says.
//
// - While main's file is there, something may be left to do. When nothing is left to do, main removes it.
// - Main appends a record when it begins, before it sends a start, when it knows the run's id, and when it exits although
//   something is left to do. The last whole record counts. Main never creates the file a second time.
// - The runner's state has the path of the file. If the state is lost, as on some runners, post finds the file by its name. The
//   name has a hash of what main and post of a step share.
// - If the file does not say that main has ended, main may still live, because no signal of the runner reaches a container.
//   Only main can receive the id of a start in flight. So post first asks main to stop. It creates an empty file beside main's
//   file, with the ending ".stop". Main looks for it four times a second and removes it. This is main's answer.
// - After the answer, post waits until main's file is gone or says that main has ended. Without an answer, main is dead, or it
//   is blocked. Then post acts, and leaves the ".stop" file, so that a blocked main finds it later and stops.
// - Post removes main's file before it reads the file for the last time. So a main that wakes up at this moment either has
//   written "starting", and post warns, or finds its file removed, and starts nothing.
// - Then post cancels the run, warns, or does nothing, as the last record says.
// - The runner empties its temporary folder when the job ends. If main's file and the file of the runner's state are both gone,
//   nobody comes after main. So main cancels its run and exits.
//
// One way serves every system. There are no process ids and no signals between post and main.
// post.ts loads this file before everything else, so it must load little. recorder.ts and job-watch.ts are main's side.

interface InEachRecord {
  /** Post need not wait for main. Main has exited, or nothing is left to do and main could not remove its file. */
  readonly hasEnded?: true | undefined
}

/** What main knows of its run when it writes a line. */
export type MainRecord =
  | (InEachRecord & { readonly phase: 'nothing started' | 'starting' })
  | (InEachRecord & {
      readonly phase: 'started'
      readonly runId: string
      /** Whether the step may cancel the run. */
      readonly mayCancel: boolean
    })

/** What post reads. The phase is "unknown" if the file has no whole record. */
export type ReadRecord = MainRecord | (InEachRecord & { readonly phase: 'unknown' })

/** The last whole record of the text. */
export function lastRecord(text: string): MainRecord | undefined {
  return text
    .split('\n')
    .map(parseRecord)
    .findLast((record) => record !== undefined)
}

function parseRecord(line: string): MainRecord | undefined {
  const json = parseJson(line)
  if (!isObject(json)) return undefined
  const { phase, runId } = json
  const hasEnded = json.hasEnded === true ? json.hasEnded : undefined
  if (phase === 'nothing started' || phase === 'starting') return { phase, hasEnded }
  if (phase !== 'started' || typeof runId !== 'string') return undefined
  return { phase, runId, mayCancel: json.mayCancel === true, hasEnded }
}

/** Another step can write to the file, and make it very long. */
const READ_BYTES = 64 * 1024

const PREFIX = 'test-run-action-'
const STOP = '.stop'
/** The entry of the runner's state that has the path. Post gets it as the variable `STATE_file`. */
export const STATE_NAME = 'file'

/** What post took. */
export interface TakenFile {
  readonly record: ReadRecord
  /** Why the file could not be removed. */
  readonly problem?: string | undefined
}

/** Main's file on the disk, and the file beside it by which post asks main to stop. */
export class MainFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /**
   * Throws if post cannot read the record, because it was not written or the file was removed. Each record begins with a line
   * break. If a full disk has cut the record before, this one still has a line of its own.
   */
  append(record: MainRecord): void {
    const write = (file: number) => {
      writeFileSync(file, `\n${JSON.stringify(record)}`)
      return true
    }
    if (!withOwn(this.path, O_WRONLY | O_APPEND, write)) throw new Error(`there is no file ${this.path}`)
    if (this.isRemoved()) throw new Error(`${this.path} was removed`)
  }

  isRemoved(): boolean {
    return !mayBeOwn(this.path)
  }

  isOfAnotherUser(): boolean {
    return kindAt(this.path) === "another user's file"
  }

  /** Undefined if the file was removed. Throws if it cannot be read. */
  read(): ReadRecord | undefined {
    return withOwn(this.path, O_RDONLY, recordIn)
  }

  remove(): void {
    rmSync(this.path, { force: true })
  }

  /** Removes the file, and then reads what was in it. Returns undefined, and throws, in the same cases as `read`. */
  take(): TakenFile | undefined {
    return withOwn(this.path, O_RDONLY, (file) => {
      const problem = problemOf(() => this.remove())
      return { record: recordIn(file), problem }
    })
  }

  /** False if nobody can be asked, because the file cannot be created. */
  askToStop(): boolean {
    const path = this.path + STOP
    return succeeds(() => writeFileSync(path, '', { flag: 'wx', mode: 0o600 })) || kindAt(path) === 'own file'
  }

  isStopAnswered(): boolean {
    return !mayBeOwn(this.path + STOP)
  }

  withdrawStop(): void {
    succeeds(() => rmSync(this.path + STOP, { force: true }))
  }

  /** Whether post has asked main to stop. If so, this answers. */
  answerStop(): boolean {
    if (kindAt(this.path + STOP) !== 'own file') return false
    this.withdrawStop()
    return true
  }
}

/** Creates main's file with its first record. If no folder takes the file, every `append` fails. */
export function createMainFile(env: NodeJS.ProcessEnv): MainFile {
  const name = `${identity(env)}${crypto.randomUUID()}`
  const first: MainRecord = { phase: 'nothing started' }
  for (const folder of folders(env)) {
    const path = join(folder, name)
    if (succeeds(() => writeFileSync(path, JSON.stringify(first), { flag: 'wx', mode: 0o600 })))
      return new MainFile(path)
    succeeds(() => rmSync(path, { force: true }))
  }
  return new MainFile(join(tmpdir(), name))
}

/** The file that the runner's state names. If the state is lost, the files of all steps with the identity of this step. */
export function findMainFiles(env: NodeJS.ProcessEnv): MainFile[] {
  const path = pathInState(env)
  const paths = path ? [path] : folders(env).flatMap((folder) => filesWithIdentity(folder, env))
  const isCandidate = (found: string) => basename(found).startsWith(PREFIX) && kindAt(found) !== 'nothing'
  return paths.filter(isCandidate).map((found) => new MainFile(found))
}

/** Whether the runner lost the state. Post then finds files by their names, and such a file may be another step's. */
export function isStateLost(env: NodeJS.ProcessEnv): boolean {
  return !pathInState(env)
}

function pathInState(env: NodeJS.ProcessEnv): string | undefined {
  return env[`STATE_${STATE_NAME}`]
}

function filesWithIdentity(folder: string, env: NodeJS.ProcessEnv): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(identity(env)) && !name.endsWith(STOP))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

/**
 * False if the inputs now may name another project or service. GitHub evaluates the inputs again for post, and a later step
 * may have changed a value, for example an environment variable.
 */
export function hasIdentityOf(env: NodeJS.ProcessEnv, { path }: MainFile): boolean {
  return basename(path).startsWith(identity(env))
}

/** If the check fails, for example because a network drive does not respond, the file does not count as missing. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

// Every user can write to the system's temporary folder, and other steps can write to the runner's. So main and post take only
// plain files of their own user. A link, a named pipe, a folder or a device counts as nothing. Only `openOwn` opens files.

const { O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants

type Found = 'own file' | "another user's file" | 'nothing' | 'unknown'

function kindAt(path: string): Found {
  try {
    return kindOf(lstatSync(path, { throwIfNoEntry: false }))
  } catch {
    return 'unknown'
  }
}

function kindOf(status: Stats | undefined): Found {
  if (status?.isFile() !== true) return 'nothing'
  return process.getuid === undefined || status.uid === process.getuid() ? 'own file' : "another user's file"
}

function mayBeOwn(path: string): boolean {
  return ['own file', 'unknown'].includes(kindAt(path))
}

/** Follows no link and never waits. Undefined if there is no plain file of this user. */
function openOwn(path: string, flags: number): number | undefined {
  if (!mayBeOwn(path)) return undefined
  let file: number
  try {
    file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)
  } catch (cause) {
    if (!mayBeOwn(path)) return undefined
    throw cause
  }
  // Somebody may have replaced the file meanwhile.
  if (kindOf(fstatSync(file)) === 'own file') return file
  closeSync(file)
  return undefined
}

/** Opens the file, uses it and closes it. Undefined if there is no plain file of this user. */
function withOwn<Result>(path: string, flags: number, use: (file: number) => Result): Result | undefined {
  const file = openOwn(path, flags)
  if (file === undefined) return undefined
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

function recordIn(file: number): ReadRecord {
  return lastRecord(endOf(file)) ?? { phase: 'unknown' }
}

function endOf(file: number): string {
  const { size } = fstatSync(file)
  const bytes = Buffer.alloc(Math.min(size, READ_BYTES))
  const read = readSync(file, bytes, 0, bytes.byteLength, size - bytes.byteLength)
  return bytes.toString('utf8', 0, read)
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
]

/** The beginning of the file's name. Other steps of this job with the same service and target have it too. */
function identity(env: NodeJS.ProcessEnv): string {
  const ofTarget = ['base-url', 'project', 'test-suite'].map((input) => variableOf(env, input))
  const hashed = [...SHARED_BY_MAIN_AND_POST, ...ofTarget].map((name) => env[name] ?? '')
  // Loaded here, because post loads this file in every step and seldom needs the hash.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `${PREFIX}${createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 32)}-`
}

/** A problem with main's file must not end main or post. */
function succeeds(task: () => void): boolean {
  return problemOf(task) === undefined
}

/** Why the task failed. Undefined if it did not fail. */
function problemOf(task: () => void): string | undefined {
  try {
    task()
    return undefined
  } catch (cause) {
    return messageOf(cause)
  }
}
