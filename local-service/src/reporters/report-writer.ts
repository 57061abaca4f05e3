import { randomUUID } from 'node:crypto'
import { fstatSync, openSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'

// The service's reporters in Vitest, Playwright Test and Jest write the same report with this file. It runs in the project's own
// Node, so it must bring no packages and must run on Node 18. Each event is written at once, as a line of JSON. The last event has
// all tests with their final results. If a run is killed, there is no last event, and the others show how far it came. A small file
// beside the report counts the tests, for clients that ask meanwhile.

/** The frameworks load the files of this folder by their paths. */
export const REPORTERS_FOLDER = import.meta.dirname

export const REPORT_FILE = 'LOCAL_SERVICE_REPORT_FILE'
/** The root of the repository, or the project's folder. A place outside it is of no use. */
export const REPORT_ROOT = 'LOCAL_SERVICE_REPORT_ROOT'
/** A list in JSON: the folders of the tests on the machines of the shards whose reports Playwright merges. */
export const SHARD_ROOTS = 'LOCAL_SERVICE_SHARD_ROOTS'

export interface FileFacts {
  /** The name of the framework project. Empty if the framework has one project, without a name, or if the project is not known. */
  readonly project: string
  /** What tells the same file of several merged reports apart. */
  readonly label?: string | undefined
  readonly file: string
}

export interface TestFacts extends FileFacts {
  readonly id: string
  /** Where the test begins in the file, if the framework says it. */
  readonly line?: number | undefined
  /** The titles of the describe blocks, then the test's own. */
  readonly path: readonly string[]
  /** Whether it is no test, but a describe block of which a hook failed. */
  readonly isBlock?: boolean | undefined
}

/** The interface leaves the statuses of a test case open. This service sends these statuses. */
export const STATUSES = ['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'SKIPPED'] as const
export type TestCaseStatus = (typeof STATUSES)[number]

export interface ResultFacts {
  readonly status: TestCaseStatus
  readonly durationMs: number
  /** Why the last failed attempt failed. */
  readonly failure?: Failure | undefined
}

/** `startedAtMs` is the time at which a test began that has not finished. */
export type ReportedTest = TestFacts & ResultFacts & { readonly startedAtMs?: number | undefined }

export interface Failure {
  readonly message: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** The frames in the repository, the innermost first. */
  readonly frames?: readonly Place[] | undefined
}

export interface Place {
  readonly file: string
  readonly line?: number | undefined
  /** Only a frame of a stack has a column, and the name of a function. */
  readonly column?: number | undefined
  readonly method?: string | undefined
}

/** What the frameworks give for something that was thrown. `value` is set if it is not an Error. Vitest has `type` and `diff`. */
export type Thrown = {
  readonly [Field in 'name' | 'message' | 'value' | 'stack' | 'cause' | 'type' | 'diff' | 'errors' | 'code']?: unknown
}

/** A line of the report. A command may start the framework several times, so each line says which writer wrote it. */
export type ReportLine = ReportEvent & { readonly writer: string }

export type ReportEvent =
  | { readonly event: 'file-started' | 'file-finished'; readonly file: FileFacts }
  /** What is known of a test now. It replaces what an earlier event says of this test. */
  | { readonly event: 'test'; readonly test: ReportedTest }
  | { readonly event: 'said'; readonly message: string }
  | ({ readonly event: 'finished' } & ReportEnd)

export interface ReportEnd {
  readonly tests: readonly (TestFacts & ResultFacts)[]
  /** The files that could not be loaded, or in which something failed outside the tests. */
  readonly files: readonly (FileFacts & { readonly failure: Failure | undefined })[]
  /** The errors that belong to no test and to no file. `origin` is what the framework prints behind the place. */
  readonly errors: readonly (Partial<Failure> & { readonly origin?: string | undefined })[]
  /** Why the run must not pass although no test failed, as a sentence. */
  readonly problem?: string | undefined
  /** What Playwright says about the whole run. */
  readonly status?: string | undefined
  readonly hasCoverage?: boolean | undefined
}

/** Every text in the file has this length, because a shorter text would leave the end of a longer one there. */
export const PROGRESS_BYTES = 200

export function progressFileOf(reportFile: string): string {
  return `${reportFile}.progress`
}

/** So much of each message is written. The service removes the colours and cuts what is left. */
const WRITTEN_CHARS = 20_000
/** A test may throw any text as the stack. */
const WRITTEN_FRAMES = 100
/** A cause may be a circle, and each of a thousand errors may have a thousand errors. */
const MOST_CAUSES = 100

/** Taken now, because tests may replace functions of `Buffer` and `TextEncoder`. */
const encode = TextEncoder.prototype.encode.bind(new TextEncoder())

const UNFINISHED = { status: 'INTERRUPTED', durationMs: 0 } as const

export class ReportWriter {
  /** Not the id of the process, because two containers may have processes with the same id. */
  readonly #id = randomUUID()
  readonly #files = openFiles()
  readonly #root = takeVariable(REPORT_ROOT)
  readonly #shardRoots: readonly string[] = JSON.parse(takeVariable(SHARD_ROOTS) ?? '[]')
  /** What was written last about each test. */
  readonly #tests = new Map<string, Pick<ReportedTest, 'status' | 'startedAtMs'>>()
  /** How many tests have this status now. A test that is running is INTERRUPTED so far. */
  readonly #counts = { PASSED: 0, FLAKY: 0, FAILED: 0, TIMEDOUT: 0, INTERRUPTED: 0, SKIPPED: 0 }
  #total: number | undefined
  #writtenProgress = ''
  /** What could not be written yet. */
  readonly #unwritten: Uint8Array[] = []
  #writesAtExit = false
  hasFinished = false

  /** When the number of all tests is known. */
  setTotal(total: number): void {
    this.#total = total
    this.#writeProgress()
  }

  announceFile(event: 'file-started' | 'file-finished', file: FileFacts): void {
    this.#write({ event, file })
  }

  startTest(test: TestFacts): void {
    this.#writeTest({ ...test, ...UNFINISHED, startedAtMs: Date.now() })
  }

  finishTest(test: TestFacts, result: ResultFacts): void {
    this.#writeTest({ ...test, ...result })
  }

  /** What the framework says about itself. */
  say(message: string): void {
    this.#write({ event: 'said', message: cutMessage(message, WRITTEN_CHARS) })
  }

  isRunning(id: string): boolean {
    return this.#tests.get(id)?.startedAtMs !== undefined
  }

  /** The result of a test that has not finished. It was interrupted if it had begun. */
  unfinished(id: string): ResultFacts {
    const { startedAtMs } = this.#tests.get(id) ?? {}
    if (startedAtMs === undefined) return { ...UNFINISHED, status: 'SKIPPED' }
    return { ...UNFINISHED, durationMs: Date.now() - startedAtMs }
  }

  finish(end: ReportEnd): void {
    this.hasFinished = true
    this.#write({ event: 'finished', ...end })
  }

  #writeTest(test: ReportedTest): void {
    this.#write({ event: 'test', test })
    const { id, status, startedAtMs } = test
    const before = this.#tests.get(id)
    if (before !== undefined) this.#counts[before.status]--
    this.#counts[status]++
    this.#tests.set(id, { status, startedAtMs })
    this.#writeProgress()
  }

  #write(event: ReportEvent): void {
    if (this.#files === undefined) return
    const line: ReportLine = { ...event, writer: this.#id }
    this.#unwritten.push(encode(`${JSON.stringify(line)}\n`))
    if (this.#writeRest() === undefined || this.#writesAtExit) return
    this.#writesAtExit = true
    process.once('exit', () => {
      const problem = this.#writeRest()
      if (problem !== undefined) process.stderr.write(`The report of the tests could not be written: ${problem}\n`)
    })
  }

  /**
   * Jest may run tests in this process, and they may replace functions of `fs`. So this calls only functions that were imported before. If a test
   * has replaced all files, as `mock-fs` does, the lines are written later. Returns the error if lines are left.
   */
  #writeRest(): unknown {
    try {
      for (;;) {
        const [line] = this.#unwritten
        if (this.#files === undefined || line === undefined) return undefined
        const written = writeSync(ownDescriptor(this.#files.report), line)
        // A full disk may take only a part of the line.
        if (written < line.length) this.#unwritten[0] = line.subarray(written)
        else this.#unwritten.shift()
      }
    } catch (error) {
      // If the lines can never be written, the report is not complete, and the run does not pass.
      return error
    }
  }

  #writeProgress(): void {
    const { PASSED, FLAKY, FAILED, TIMEDOUT, SKIPPED } = this.#counts
    const counts = { passed: PASSED + FLAKY, failed: FAILED + TIMEDOUT, flaky: FLAKY, skipped: SKIPPED }
    const text = JSON.stringify({ ...counts, total: this.#total }).padEnd(PROGRESS_BYTES)
    // The start of a test changes no number.
    if (this.#files === undefined || text === this.#writtenProgress) return
    try {
      writeSync(ownDescriptor(this.#files.progress), text, 0)
      this.#writtenProgress = text
    } catch {
      // The next change writes all numbers again.
    }
  }

  /** The place and the frames are those of the first error, or of the first cause, that has a place in the repository. */
  describeFailure<T extends Thrown>(errors: readonly T[], placesOf: (error: T) => Place[]): Failure | undefined {
    if (errors.length === 0) return undefined
    const described = errors.flatMap((error, index) => describe(index === 0 ? '' : '\n\n', error))
    const places = described.map(({ thrown }) => placesOf(thrown as T).filter((one) => this.isInRepository(one)))
    const found = places.find(({ length }) => length > 0) ?? []
    const frames = found.filter(({ column }) => typeof column === 'number').slice(0, WRITTEN_FRAMES)
    return {
      message: cutMessage(described.map(({ text }) => text).join(''), WRITTEN_CHARS),
      file: found[0]?.file,
      line: found[0]?.line,
      frames: frames.map(({ file, line, column, method }) => ({ file, line, column, method: method || undefined })),
    }
  }

  /** If shards ran in a folder with another path, such as in a container, their paths become those of this job. */
  withOwnPaths<T>(errors: T, testFolder: string): T {
    if (this.#shardRoots.every((root) => root === testFolder)) return errors
    const own = new Map(this.#shardRoots.map((root) => this.#ownFolderOf(root, testFolder)))
    const replace = folderReplacer(own)
    return JSON.parse(JSON.stringify(errors), (_, value) => (typeof value === 'string' ? replace(value) : value))
  }

  /**
   * A folder of the shard, and the folder of this job in its place. For example, this job has the repository in `/home/shop`, and the
   * tests in `/home/shop/e2e`. If the shard had the tests in `/work/shop/e2e`, its repository was in `/work/shop`, so `/work/shop`
   * becomes `/home/shop`. If the shard had the tests in `/tests` or in `/e2e`, it had no repository, so this folder becomes
   * `/home/shop/e2e`.
   */
  #ownFolderOf(shardRoot: string, testFolder: string): readonly [ofShard: string, own: string] {
    const path = this.pathInRepository(testFolder)
    // The tests are in the root itself.
    if (path === undefined) return [shardRoot, testFolder]
    const end = `/${path}`
    const hasRepository = shardRoot.endsWith(end) && shardRoot !== end
    return hasRepository ? [shardRoot.slice(0, -end.length), `${this.#root}`] : [shardRoot, testFolder]
  }

  isInRepository({ file }: Place): boolean {
    // A test can throw an object whose place has no path.
    if (typeof file !== 'string') return false
    return this.pathInRepository(file) !== undefined && !file.includes('/node_modules/')
  }

  pathInRepository(file: string): string | undefined {
    return file.startsWith(`${this.#root}/`) ? file.slice(`${this.#root}/`.length) : undefined
  }
}

/**
 * What can stand before an absolute path. Otherwise, `/app` would also be replaced in the middle of `/app/src/app/cart.test.ts` and of
 * `/app/src/(shop)/app/cart.test.ts`. The text may be raw JSON, where a line end is the two characters `\` and `n`.
 */
const BEFORE_PATH = [
  '^',
  String.raw`[\s"'\x60([{<=,;:|]`,
  'file://',
  // A colour.
  String.raw`(?:\u001b|\\u001b)\[[\d;]*m`,
  // Characters in JSON, such as the end of a line.
  String.raw`\\[nrt]|\\u[\da-f]{4}`,
]

/** Puts the second folder of each entry in the place of the first one, wherever a path in a text begins with the first one. */
export function folderReplacer(folders: ReadonlyMap<string, string>): (text: string) => string {
  // The longest first, because one may be below another.
  const found = [...folders.keys()].sort((one, other) => other.length - one.length).map(inPattern)
  const path = new RegExp(`(?<=${BEFORE_PATH.join('|')})(?:${found.join('|')})(?=/)`, 'g')
  return (text) => text.replace(path, (folder) => folders.get(folder) ?? folder)
}

/** RegExp.escape is not in Node 18. */
function inPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const LEFT_OUT = '\n[the middle is left out]\n'

/** If a text is too long, its middle is left out, and a line says so. */
export function cutMessage(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const half = Math.floor((limitChars - LEFT_OUT.length) / 2)
  // A cut must not divide a character.
  const beginning = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, '')
  const end = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '')
  return `${beginning}${LEFT_OUT}${end}`
}

/** A test may start a framework itself, which must not write to this report. So the variable goes. */
function takeVariable(name: string): string | undefined {
  const value = process.env[name]
  delete process.env[name]
  return value
}

/** Nothing is written if no file is named. */
function openFiles() {
  const file = takeVariable(REPORT_FILE)
  if (file === undefined) return undefined
  return { report: openFile(file, 'a'), progress: openFile(progressFileOf(file), 'w') }
}

interface OpenFile {
  readonly descriptor: number
  readonly inode: number
}

function openFile(path: string, flags: 'a' | 'w'): OpenFile {
  const descriptor = openSync(path, flags)
  return { descriptor, inode: fstatSync(descriptor).ino }
}

/** Throws if another file has the descriptor now. While `mock-fs` replaces all files, this may be a file of the test. */
function ownDescriptor({ descriptor, inode }: OpenFile): number {
  if (fstatSync(descriptor).ino !== inode) throw new Error('a test has replaced the file')
  return descriptor
}

interface Described {
  readonly thrown: Thrown
  readonly text: string
}

/**
 * The texts to print, in this order: what was thrown, the errors of an AggregateError, and the cause. The first text begins with `begin`,
 * such as `\nCaused by: `.
 */
function describe(begin: string, thrown: unknown, seen = new Set<unknown>()): Described[] {
  if (typeof thrown !== 'object' || thrown === null) return [{ thrown: {}, text: `${begin}${String(thrown)}` }]
  if (seen.has(thrown) || seen.size === MOST_CAUSES) return [{ thrown: {}, text: `${begin}…` }]
  seen.add(thrown)
  const { errors, cause }: Thrown = Array.isArray(thrown) ? { errors: thrown } : thrown
  const list = Array.isArray(errors) ? errors.slice(0, MOST_CAUSES) : []
  const parts = [
    ...list.flatMap((one) => describe('\nOne of its errors: ', one, seen)),
    ...(cause === undefined || cause === null ? [] : describe('\nCaused by: ', cause, seen)),
  ]
  if ('message' in thrown || 'value' in thrown) return [{ thrown, text: begin + textOf(thrown) }, ...parts]
  // What has no message, such as a list, is printed with all its parts by `inspect`, which can also print large integers and circles. So the parts need
  // no text of their own, but `describeFailure` looks for a place in each of them.
  return [{ thrown, text: begin + inspect(thrown) }, ...parts.map((one) => ({ ...one, text: '' }))]
}

/** `TypeError: x is not a function`, as Node prints it. */
function textOf({ type, name, message, value, code, diff }: Thrown): string {
  const text = typeof message === 'string' ? message : String(value ?? '')
  // When Vitest prints a cause, it renames it "Caused by: Error". So blob reports have this name.
  const [own = ''] = /^\w+$/.exec(typeof name === 'string' ? name.replace(/^(?:Caused by: )+/, '') : '') ?? []
  const needsNoName = own === '' || text.startsWith(`${own}:`)
  // Without a message, nothing stands behind the name: `AggregateError: ` becomes `AggregateError`.
  const named = (needsNoName ? text : `${own}: ${text}`).replace(/^(\w+): $/, '$1')
  // The code is added if the text does not have it. Node's own codes, such as ERR_ASSERTION, repeat the message.
  const addsCode = typeof code === 'string' && !named.includes(code) && (text === '' || !code.startsWith('ERR_'))
  return [
    type === 'Unhandled Rejection' ? 'Unhandled Rejection: ' : '',
    addsCode ? `${named} (${code})` : named,
    typeof diff === 'string' ? `\n\n${diff}` : '',
  ].join('')
}

/** A stack may be any text of any length, because a test may throw anything. So this takes a time that is linear in the length of a line. */
const FRAME = /^\s+at (?:async )?(?:([^(]*)\()?((?:file:\/\/)?\/.*):(\d+):(\d+)\)?$/

export function framesIn(stack: unknown): Place[] {
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap((text) => {
    const [, method, path, line, column] = FRAME.exec(text) ?? []
    if (path === undefined) return []
    return { file: toPath(path), line: Number(line), column: Number(column), method: method?.trim() }
  })
}

function toPath(path: string): string {
  try {
    return path.startsWith('file:') ? fileURLToPath(path) : path
  } catch {
    // A test may throw a broken URL.
    return path
  }
}
