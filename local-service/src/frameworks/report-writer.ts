import { appendFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cutMessage } from './message.ts'

// The service's reporters in Vitest and in Playwright Test write the same report with this file. It runs in the project's own
// Node, so it must bring no packages and must run on Node 18. Each event is written at once, as a line of JSON. If a run is
// killed, the lines show how far it came.

export const REPORT_FILE = 'LOCAL_SERVICE_REPORT_FILE'

export interface TestFacts {
  readonly id: string
  /** The name of the framework project. Empty if there is only one without a name. */
  readonly project: string
  readonly file: string
  /** Where the test begins in the file, if the framework says it. */
  readonly line?: number | undefined
  /** The titles of the describe blocks, then the test's own. */
  readonly path: readonly string[]
}

export interface ResultFacts {
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending' | 'timedOut' | 'interrupted'
  readonly isFlaky: boolean
  readonly durationMs: number
  /** Why the last failed attempt failed. */
  readonly failure?: Failure | undefined
}

/** Why something failed, and where. */
export interface Failure {
  readonly message: string
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/** What the frameworks give for something that was thrown. Any field may be missing. */
export interface Thrown {
  readonly name?: unknown
  readonly message?: unknown
  /** Set if it is not an Error. */
  readonly value?: unknown
  readonly stack?: unknown
  readonly cause?: unknown
  /** What was expected and received, as Vitest shows it. */
  readonly diff?: unknown
}

export interface Place {
  readonly file: string
  readonly line: number
}

/** The events that tell how far a run is. */
export type ReportEvent =
  | { readonly event: 'total'; readonly total: number }
  | {
      readonly event: 'test-finished'
      readonly test: Pick<TestFacts, 'id'> & ResultFacts
      /** The attempt failed, and the framework tries the test again. */
      readonly isTriedAgain?: true | undefined
    }

/** Of each message. The service removes the colours and cuts what is left. */
const WRITTEN_CHARS = 20_000
/** A report with many long messages could be too large to be read. From this size on, further messages are short. */
const WHOLE_MESSAGES_CHARS = 64 * 1024 * 1024
const SHORT_MESSAGE_CHARS = 500

export class ReportWriter {
  readonly #file = process.env[REPORT_FILE]
  #writtenChars = 0
  /** The ids of the tests that have started, and of the tests that have finished. */
  readonly #started = new Set<string>()
  readonly #finished = new Set<string>()

  write(event: object): void {
    const isLarge = this.#writtenChars > WHOLE_MESSAGES_CHARS
    const line = isLarge ? JSON.stringify(event, withShortMessages) : JSON.stringify(event)
    this.#writtenChars += line.length
    if (this.#file !== undefined) appendFileSync(this.#file, `${line}\n`)
  }

  startTest(test: TestFacts): void {
    this.#started.add(test.id)
    this.write({ event: 'test-started', test, atMs: Date.now() })
  }

  finishTest(test: TestFacts, result: ResultFacts, isTriedAgain?: true): void {
    this.#finished.add(test.id)
    const about = this.#started.has(test.id) ? { id: test.id } : test
    this.write({ event: 'test-finished', test: { ...about, ...result }, isTriedAgain } satisfies ReportEvent)
  }

  /** Call this when the number of all tests is known. */
  announceTotal(total: number): void {
    this.write({ event: 'total', total } satisfies ReportEvent)
  }

  hasFinished(id: string): boolean {
    return this.#finished.has(id)
  }
}

function withShortMessages(key: string, value: unknown): unknown {
  return key === 'message' && typeof value === 'string' ? cutMessage(value, SHORT_MESSAGE_CHARS) : value
}

/** Describes one or more errors by the texts of all and by the place of the first that has one. Undefined without an error. */
export function describeFailure<Error extends Thrown>(
  errors: readonly Error[],
  describe: (error: Error) => string,
  framesOf: (error: Error) => readonly Place[],
): Failure | undefined {
  if (errors.length === 0) return undefined
  const place = errors.flatMap(framesOf).find(isInProject)
  return { message: cutMessage(errors.map(describe).join('\n\n'), WRITTEN_CHARS), file: place?.file, line: place?.line }
}

/** The frameworks run in the project's folder. */
export function isInProject({ file }: Place): boolean {
  return file.startsWith(`${process.cwd()}/`) && !file.includes('/node_modules/')
}

/** The text of what caused an error, on lines of its own. */
export function describeCause({ cause }: Thrown): string {
  if (typeof cause !== 'object' || cause === null || !('message' in cause)) return ''
  return `\nCaused by: ${nameAndMessage(cause)}`
}

/** `TypeError: x is not a function`, as Node prints it. */
export function nameAndMessage({ name, message, value }: Thrown): string {
  const text = typeof message === 'string' ? message : String(value ?? '')
  // Vitest names some causes "Caused by: Error".
  const isName = typeof name === 'string' && /^\w+$/.test(name)
  return isName && !text.startsWith(`${name}:`) ? `${name}: ${text}` : text
}

/** The frames in a stack as Node writes it. */
export function framesIn(stack: unknown): Place[] {
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap((text) => {
    const [, path, line] = /^\s+at (?:async )?(?:.*\()?((?:file:\/\/)?\/.*?):(\d+):\d+\)?$/.exec(text) ?? []
    return path === undefined ? [] : { file: toPath(path), line: Number(line) }
  })
}

function toPath(path: string): string {
  try {
    return path.startsWith('file:') ? fileURLToPath(path) : path
  } catch {
    // It is no URL of a file, for example because of a broken escape.
    return path
  }
}
