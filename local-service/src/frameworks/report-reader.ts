import { fieldsOf, parseJson } from '../../../src/text/json.ts'
import { readPartOfFile } from '../machine/files.ts'

// Reads the events that the service's reporters write, while they write. Tests can write to the report too, so anything may stand
// in it.

/** Numbers of test cases, as the interface has them. */
export interface Progress {
  /** Left out until the framework knows it. */
  readonly total?: number | undefined
  readonly passed: number
  readonly failed: number
  readonly flaky: number
  readonly skipped: number
}

export type Fields = Readonly<Record<string, unknown>>

export type Events = ReturnType<ReportReader['readAll']>

/** What 100,000 failing test cases with short messages need, if each is tried twice. */
const LIMIT_BYTES = 256 * 1024 * 1024

/** Reads up to the first line that is not an event. Each call reads what was written since the last call. */
export class ReportReader {
  readonly #file: string
  /** So many bytes of whole lines were read. */
  #readBytes = 0
  #isBroken = false
  #total: number | undefined
  readonly #tests = new Map<unknown, Fields>()
  readonly #files = new Map<string, Fields>()
  readonly #said: unknown[] = []
  /** The last event. If the run was killed, there is none. */
  #finished: Fields | undefined

  constructor(file: string) {
    this.#file = file
  }

  readProgress(): Progress {
    try {
      this.#readLines()
    } catch {
      // A test has put something else in place of the report. The end of the run says so.
    }
    const counts = { passed: 0, failed: 0, flaky: 0, skipped: 0 }
    for (const { state, isFlaky } of this.#tests.values()) {
      if (state === 'passed' || state === 'skipped') counts[state]++
      else if (state !== 'pending') counts.failed++
      if (state === 'passed' && isFlaky === true) counts.flaky++
    }
    return { total: this.#total, ...counts }
  }

  /** All events, when the tests have ended. Throws if the file cannot be read. */
  readAll() {
    // The last line may have no end, or be truncated.
    const last = this.#readLines()
    if (!this.#isBroken && last.length > 0) this.#take(last)
    const [tests, files] = [[...this.#tests.values()], [...this.#files.values()]]
    return { tests, files, said: this.#said, finished: this.#finished }
  }

  /** Returns what is behind the last whole line. */
  #readLines(): Buffer {
    if (this.#isBroken) return Buffer.alloc(0)
    const part = readPartOfFile(this.#file, this.#readBytes, Number.POSITIVE_INFINITY, LIMIT_BYTES)
    let at = 0
    for (let end = part.indexOf('\n'); end !== -1 && !this.#isBroken; end = part.indexOf('\n', at)) {
      this.#take(part.subarray(at, end))
      at = end + 1
    }
    this.#readBytes += at
    return part.subarray(at)
  }

  #take(line: Buffer): void {
    const event = fieldsOf(parseJson(line.toString()))
    const [test, file] = [fieldsOf(event.test), fieldsOf(event.file)]
    switch (event.event) {
      case 'total':
        if (Number.isInteger(event.total)) this.#total = Number(event.total)
        break
      case 'file-started':
        this.#files.set(keyOf(file), file)
        break
      case 'file-finished':
        this.#files.delete(keyOf(file))
        break
      case 'test-started':
        this.#tests.set(test.id, { ...this.#tests.get(test.id), ...test, state: 'pending', atMs: event.atMs })
        break
      case 'test-finished': {
        // A test that is tried again keeps the failure of an earlier attempt.
        const state = event.isTriedAgain === true ? 'pending' : test.state
        this.#tests.set(test.id, { ...this.#tests.get(test.id), ...test, state })
        break
      }
      case 'said':
        this.#said.push(event.message)
        break
      case 'finished':
        this.#finished = event
        break
      default:
        this.#isBroken = true
    }
  }
}

/** Two framework projects may have the same file. */
export function keyOf({ project, file }: Fields): string {
  return JSON.stringify([stringOf(project), stringOf(file)])
}

/** Reads what should be a string. `String()` would throw for some objects that JSON can contain. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
