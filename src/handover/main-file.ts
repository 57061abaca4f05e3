import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { variableOf } from '../input-variable.ts'
import { isObject, parseJson } from '../text/json.ts'
import { messageOf } from '../text/untrusted.ts'

// Main can be killed at any moment, and then its run must not go on. So main keeps a file that says what is left to do, and post does
// what its last whole line says:
//
//   main                               the file                  post
//   begins                             nothing started           does nothing
//   is about to send the start         starting                  warns
//   knows the run's id                 started, with the id      cancels the run if `mayCancel` is true
//   has nothing more to do             removed                   does nothing
//
// A main that lives may have got no signal, for example in a container. So post first asks it to stop:
//
//   main                               the file .stop            post
//                                      created                   creates it, and waits
//   sees it within a quarter second    removed                   learns that main lives
//   cancels its run, removes its file                            waits for that
//                                      still there after 5 s     takes main for dead, and does what the file says
//
// Main also stops if its file was removed, because GitHub's runner empties its temporary folder when the job ends.
// post.ts loads this module before everything else, so it must load little. main-file-writer.ts is main's side.

/** What is left to do for the step: a line of main's file. */
export type LeftToDo =
  | { readonly phase: 'nothing started' | 'starting' }
  | {
      readonly phase: 'started'
      readonly runId: string
      /** Whether the step may cancel the run. */
      readonly mayCancel: boolean
    }

/** What the last whole line says. A line that is not such a JSON object does not count, for example if a full disk has cut it off. */
export function lastLine(text: string): LeftToDo | undefined {
  return text.split('\n').map(parseJson).findLast(isLeftToDo)
}

function isLeftToDo(json: unknown): json is LeftToDo {
  if (!isObject(json)) return false
  const { phase, runId, mayCancel } = json
  if (phase === 'started') return typeof runId === 'string' && typeof mayCancel === 'boolean'
  return phase === 'nothing started' || phase === 'starting'
}

const PREFIX = 'test-run-action-'
const STOP = '.stop'
/** The entry of the runner's state that has the path. Post gets it as the variable `STATE_file`. */
export const STATE_NAME = 'file'

export class MainFile {
  readonly path: string
  /** Why main could not create it. */
  readonly problem?: string | undefined

  constructor(path: string, problem?: string) {
    this.path = path
    this.problem = problem
  }

  /** If the system cannot say, the file counts as present. Otherwise post could ignore a run, or main could stop. */
  exists(): boolean {
    return isThere(this.path, { ifUnknown: true })
  }

  // What main does with it:

  /** Each line begins with a line break. So if a full disk has cut off the line before, this line is still whole. */
  append(left: LeftToDo): void {
    if (!this.exists()) throw new Error(this.problem ?? `there is no file ${this.path}`)
    const file = openSync(this.path, constants.O_WRONLY | constants.O_APPEND)
    try {
      writeFileSync(file, `\n${JSON.stringify(left)}`)
    } finally {
      closeSync(file)
    }
  }

  /** Removes post's request to stop, if there is one. This is main's answer. Returns whether there was one. */
  answerStopRequest(): boolean {
    if (!isThere(this.path + STOP, { ifUnknown: false })) return false
    succeeds(() => rmSync(this.path + STOP, { force: true }))
    return true
  }

  remove(): void {
    rmSync(this.path, { force: true })
  }

  // What post does with it:

  /** Returns whether there is a request now. Another post with the same identity may have created it. */
  askToStop(): boolean {
    const path = this.path + STOP
    // Main may have answered already, and removed the file again.
    const isCreated = succeeds(() => writeFileSync(path, '', { flag: 'wx', mode: 0o600 }))
    return isCreated || isThere(path, { ifUnknown: false })
  }

  isStopAnswered(): boolean {
    return !isThere(this.path + STOP, { ifUnknown: true })
  }

  read(): LeftToDo {
    const left = lastLine(readFileSync(this.path, 'utf8'))
    if (left === undefined) throw new Error(`${this.path} has no whole line`)
    return left
  }

  /** Post does this at its end. A main that was only blocked then finds no file, and stops. */
  removeAll(): void {
    for (const path of [this.path, this.path + STOP]) succeeds(() => rmSync(path, { force: true }))
  }
}

/** Creates main's file with its first line. If no folder takes the file, there is none, and every `append` fails and says why. */
export function createMainFile(env: NodeJS.ProcessEnv): MainFile {
  const first: LeftToDo = { phase: 'nothing started' }
  const name = `${identity(env)}${Math.random().toString(36).slice(2)}`
  let problem = ''
  for (const folder of folders(env)) {
    const path = join(folder, name)
    try {
      writeFileSync(path, JSON.stringify(first), { flag: 'wx', mode: 0o600 })
      return new MainFile(path)
    } catch (cause) {
      problem = `${path} could not be created (${messageOf(cause)})`
      // A full disk can leave an empty file. Its name is random, so it is ours.
      succeeds(() => rmSync(path, { force: true }))
    }
  }
  return new MainFile(join(tmpdir(), name), problem)
}

/**
 * The file that the runner's state names. If the state is lost, the files of all steps with the identity of this step. Post removes what it finds,
 * so a path without the name of such a file counts as no file. For example, a workflow may set the variable itself.
 */
export function findMainFiles(env: NodeJS.ProcessEnv): MainFile[] {
  const path = env[`STATE_${STATE_NAME}`]
  const paths = path ? [path] : folders(env).flatMap((folder) => filesWithIdentity(folder, env))
  const named = paths.filter((found) => basename(found).startsWith(PREFIX))
  return named.map((found) => new MainFile(found)).filter((file) => file.exists())
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
 * False if the inputs name another service, project or test suite now. GitHub evaluates the inputs again for post, and a step may have
 * changed a variable that they use.
 */
export function hasIdentityOf(env: NodeJS.ProcessEnv, { path }: MainFile): boolean {
  return basename(path).startsWith(identity(env))
}

/**
 * Whether a plain file is there. A link, a named pipe, a folder or a device counts as nothing, so nobody waits for it. If the system cannot
 * say it, the result is `ifUnknown`:
 *
 *   exists               true     main goes on, and post ignores no run
 *   answerStopRequest    false    main goes on
 *   askToStop            false    post takes main for dead
 *   isStopAnswered       true     post sees no answer, because the result is negated
 */
function isThere(path: string, { ifUnknown }: { readonly ifUnknown: boolean }): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return ifUnknown
  }
}

function folders({ RUNNER_TEMP: runnerTemp = '' }: NodeJS.ProcessEnv): string[] {
  return [...new Set([runnerTemp, tmpdir()])].filter((folder) => folder !== '')
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

/**
 * The name of main's file begins with this identity, which has two uses. If the runner has lost the state, post finds the file by the
 * identity. If the inputs name another service or target in post, post notices it by the identity. Two steps of one job with the same service
 * and target have the same identity, so the post of one step may handle the file of the other step. This does no harm, because posts run
 * only after all steps of the job.
 */
function identity(env: NodeJS.ProcessEnv): string {
  const ofTarget = ['base-url', 'project', 'test-suite'].map((input) => variableOf(env, input))
  const hashed = [...SHARED_BY_MAIN_AND_POST, ...ofTarget].map((name) => env[name] ?? '')
  // FNV-1a with 64 bits. To load `node:crypto` would take longer than all that main does before.
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(JSON.stringify(hashed)))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return `${PREFIX}${hash.toString(16)}-`
}

function succeeds(task: () => void): boolean {
  try {
    task()
    return true
  } catch {
    return false
  }
}
