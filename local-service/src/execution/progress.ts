import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { parseJson } from '../../../src/text/json.ts'
import type { ReportEvent } from '../reporters/report-writer.ts'

// local-service/test/life/live-output.test.ts tests this file.

/** Numbers of test cases, as the interface has them. */
export interface Progress {
  /** Left out until the framework knows it. */
  readonly total?: number | undefined
  readonly passed: number
  readonly failed: number
  readonly flaky: number
  readonly skipped: number
}

/** The report grows by much less between two polls. */
const READ_BYTES = 4 * 1024 * 1024
/** The reporter cuts messages, so its lines are shorter. */
const LONGEST_LINE_BYTES = 1024 * 1024

/** How far a run is. Each call of `read` reads what the framework's reporter has written since the last call. */
export class RunProgress {
  #file: string | undefined
  #readBytes = 0
  /** The beginning of a line that the reporter has not finished. */
  #line = Buffer.alloc(0)
  #total: number | undefined
  readonly #kinds = new Map<string, 'passed' | 'failed' | 'flaky' | 'skipped'>()

  /** The tests begin, and write their report to this file. */
  follow(reportFile: string): void {
    this.#file = reportFile
  }

  /** Undefined until the tests have begun. */
  read(): Progress | undefined {
    if (this.#file === undefined) return undefined
    try {
      this.#readLines(this.#file)
    } catch {
      // There is no report yet, or a test has replaced it.
    }
    const counts = { passed: 0, failed: 0, flaky: 0, skipped: 0 }
    for (const kind of this.#kinds.values()) counts[kind]++
    return { total: this.#total, ...counts, passed: counts.passed + counts.flaky }
  }

  #readLines(path: string): void {
    // Tests may have put a named pipe, a link or a file without end in place of the report.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return
      const bytes = Buffer.alloc(READ_BYTES)
      const size = readSync(file, bytes, 0, READ_BYTES, this.#readBytes)
      this.#readBytes += size
      const text = Buffer.concat([this.#line, bytes.subarray(0, size)])
      const end = text.lastIndexOf('\n') + 1
      const rest = text.subarray(end)
      this.#line = rest.length > LONGEST_LINE_BYTES ? Buffer.alloc(0) : Buffer.from(rest)
      for (const line of text.toString('utf8', 0, end).split('\n')) this.#onLine(line)
    } finally {
      closeSync(file)
    }
  }

  #onLine(line: string): void {
    // Most lines are about other events, and are not parsed.
    if (!/^\{"event":"(?:test-finished|total)"/.test(line)) return
    const event = parseJson(line) as ReportEvent | undefined
    if (event === undefined) return
    if (event.event === 'total') this.#total = event.total
    else if (!event.isTriedAgain) this.#kinds.set(event.test.id, kindOf(event.test))
  }
}

function kindOf({ state, isFlaky }: { readonly state: string; readonly isFlaky: boolean }) {
  if (state === 'passed') return isFlaky ? 'flaky' : 'passed'
  return state === 'skipped' || state === 'pending' ? 'skipped' : 'failed'
}
