import { fieldsOf } from '../../../src/text/json.ts'
import { readPartOfFile } from '../machine/files.ts'
import {
  type FileFacts,
  PROGRESS_BYTES,
  progressFileOf,
  type ReportEnd,
  type ReportEvent,
  type ReportedTest,
} from '../reporters/report-writer.ts'

// Reads what the service's reporters write. Tests can write to these files too.

const COUNTS = ['total', 'passed', 'failed', 'flaky', 'skipped'] as const

/** Numbers of test cases, as the interface has them. */
export type Progress = { readonly [Name in (typeof COUNTS)[number]]?: number }

/** Undefined if no reporter has begun. This needs no thread, because the file is small and only its numbers are used. */
export function readProgress(reportFile: string): Progress | undefined {
  try {
    const text = readPartOfFile(progressFileOf(reportFile), 0, PROGRESS_BYTES).toString()
    const fields = fieldsOf(JSON.parse(text))
    const isCount = (name: keyof Progress) => Number.isSafeInteger(fields[name]) && Number(fields[name]) >= 0
    return Object.fromEntries(COUNTS.filter(isCount).map((name) => [name, fields[name]]))
  } catch {
    // A test may have put something else in place of the file.
    return undefined
  }
}

export interface Events {
  readonly tests: readonly ReportedTest[]
  /** Files that have started and not finished, and of which no test is known to run. Something else, such as a hook, keeps them busy. */
  readonly filesWithoutTest: readonly FileFacts[]
  readonly said: readonly string[]
  readonly finished: ReportEnd | undefined
}

/** What 100,000 failing test cases with short messages need. */
const LIMIT_BYTES = 256 * 1024 * 1024

/**
 * Reads all events. If a process was killed while it wrote a line, this line is left out. Throws if the file cannot be read, or if a
 * line is no event. If anything else stands in the file, reading may take long, so only the thread with limits calls this.
 */
export function readEvents(file: string): Events {
  const bytes = readPartOfFile(file, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES)
  const tests = new Map<string, ReportedTest>()
  const filesWithoutTest = new Map<string, FileFacts>()
  const said: string[] = []
  let finished: ReportEnd | undefined
  let at = 0
  for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', at)) {
    const event: ReportEvent = JSON.parse(bytes.toString('utf8', at, end))
    at = end + 1
    switch (event.event) {
      case 'file-started':
        filesWithoutTest.set(keyOfFile(event.file), event.file)
        break
      case 'file-finished':
        filesWithoutTest.delete(keyOfFile(event.file))
        break
      case 'test':
        tests.set(event.test.id, event.test)
        break
      case 'said':
        said.push(event.message)
        break
      case 'finished':
        finished = event
        break
      default:
        throw new Error('it has a line that is no event')
    }
  }
  const running = [...tests.values()].filter(({ status }) => status === 'INTERRUPTED')
  for (const test of running) filesWithoutTest.delete(keyOfFile(test))
  return { tests: [...tests.values()], filesWithoutTest: [...filesWithoutTest.values()], said, finished }
}

/** Two framework projects may have the same file. */
function keyOfFile({ project, file }: FileFacts): string {
  return JSON.stringify([project, file])
}
