import { readPartOfFile } from '../machine/files.ts'
import type { FileFacts, ReportEnd, ReportEvent, ResultFacts, TestFacts } from '../reporters/report-writer.ts'

// Reads the events that the service's reporters write, while they write. Tests can write to the report too. If anything else stands in
// it, reading may throw. So only the thread with limits reads it.

/** Numbers of test cases, as the interface has them. */
export interface Progress {
  /** Left out until the framework knows it. */
  readonly total?: number | undefined
  readonly passed: number
  readonly failed: number
  readonly flaky: number
  readonly skipped: number
}

/** What is known of a test. It has no state while it runs. Then its failure is that of an earlier attempt. */
export type TestSoFar = TestFacts &
  Partial<Omit<ResultFacts, 'state'>> & {
    readonly state: ResultFacts['state'] | undefined
    readonly atMs?: number | undefined
  }

export type Events = ReturnType<ReportReader['readAll']>

/** What 100,000 failing test cases with short messages need, if each is tried twice. */
const LIMIT_BYTES = 256 * 1024 * 1024

/** Each call reads the lines that were written since the last call. If a process was killed while it wrote a line, this line is left out. */
export class ReportReader {
  readonly #file: string
  #readBytes = 0
  #total: number | undefined
  readonly #tests = new Map<string, TestSoFar>()
  readonly #files = new Map<string, FileFacts>()
  readonly #said: string[] = []
  #finished: ReportEnd | undefined

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
      else if (state !== undefined) counts.failed++
      if (state === 'passed' && isFlaky) counts.flaky++
    }
    return { total: this.#total, ...counts }
  }

  /** All events, when the tests have ended. Throws if the file cannot be read, or if a line is no event. */
  readAll() {
    this.#readLines()
    const [tests, files] = [[...this.#tests.values()], [...this.#files.values()]]
    return { tests, files, said: this.#said, finished: this.#finished }
  }

  #readLines(): void {
    const part = readPartOfFile(this.#file, this.#readBytes, Number.POSITIVE_INFINITY, LIMIT_BYTES)
    let at = 0
    for (let end = part.indexOf('\n'); end !== -1; end = part.indexOf('\n', at)) {
      this.#take(JSON.parse(part.toString('utf8', at, end)))
      this.#readBytes += end + 1 - at
      at = end + 1
    }
  }

  #take(event: ReportEvent): void {
    switch (event.event) {
      case 'total':
        this.#total = event.total
        break
      case 'file-started':
        this.#files.set(keyOfFile(event.file), event.file)
        break
      case 'file-finished':
        this.#files.delete(keyOfFile(event.file))
        break
      case 'test-started':
        this.#addToTest({ ...event.test, atMs: event.atMs, state: undefined })
        break
      case 'test-finished':
        this.#addToTest({ ...event.test, state: event.isTriedAgain ? undefined : event.test.state })
        break
      case 'said':
        this.#said.push(event.message)
        break
      case 'finished':
        this.#finished = event
        break
      default:
        throw new Error('it has a line that is no event')
    }
  }

  /** The first event of a test has all facts about it. */
  #addToTest(facts: Pick<TestSoFar, 'id'> & Partial<TestSoFar>): void {
    this.#tests.set(facts.id, { ...(this.#tests.get(facts.id) as TestSoFar), ...facts })
  }
}

/** Two framework projects may have the same file. */
export function keyOfFile({ project, file }: FileFacts): string {
  return JSON.stringify([project, file])
}
