import { fieldsOf } from '../../../src/text/json.ts'
import { readPartOfFile } from '../machine/files.ts'
import {
  type FileFacts,
  PROGRESS_BYTES,
  progressFileOf,
  type ReportEnd,
  type ReportedTest,
  type ReportLine,
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

/** What the report says of all processes together. */
export interface Events {
  readonly tests: readonly ReportedTest[]
  /** Files that have started and not finished, and of which no test is known to run. Something else, such as a hook, keeps them busy. */
  readonly filesWithoutTest: readonly FileFacts[]
  readonly failedFiles: ReportEnd['files']
  readonly errors: ReportEnd['errors']
  readonly said: readonly string[]
  readonly isComplete: boolean
  readonly problem?: string | undefined
  readonly status?: string | undefined
  readonly hasCoverage?: boolean | undefined
  /** What processes that have not finished said of tests and files, unless a later process has run the files. */
  readonly unfinished: readonly Unfinished[]
}

/** A test, or a file of which no test is known to run. */
type Unfinished = FileFacts & Partial<Pick<ReportedTest, 'status'>>

/** What 100,000 failing test cases with short messages need. */
const LIMIT_BYTES = 256 * 1024 * 1024

/**
 * Reads all events. If a process was killed while it wrote a line, this line is left out. Throws if the file cannot be read, or if a
 * line is no event. If anything else stands in the file, reading may take long, so only the thread with limits calls this.
 */
export function readEvents(file: string): Events {
  const bytes = readPartOfFile(file, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES)
  const processes = new Map<string, EventsOfProcess>()
  let at = 0
  for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', at)) {
    const line: ReportLine = JSON.parse(bytes.toString('utf8', at, end))
    at = end + 1
    const events = processes.get(line.writer) ?? new EventsOfProcess()
    events.add(line)
    processes.set(line.writer, events)
  }
  // Most commands start the framework once. Then nothing is joined, because this takes long.
  const [first = NO_EVENTS, ...others] = [...processes.values()].map((events) => events.toEvents())
  return others.reduce(joinEvents, first)
}

class EventsOfProcess {
  readonly #tests = new Map<string, ReportedTest>()
  readonly #openFiles = new Map<string, FileFacts>()
  readonly #said: string[] = []
  #finished: ReportEnd | undefined

  add(event: ReportLine): void {
    switch (event.event) {
      case 'file-started':
        this.#openFiles.set(keyOfFile(event.file), event.file)
        break
      case 'file-finished':
        this.#openFiles.delete(keyOfFile(event.file))
        break
      case 'test':
        this.#tests.set(event.test.id, event.test)
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

  /** If there is a `finished` event, only it counts, because it repeats all results. If not, the other events show how far the process came. */
  toEvents(): Events {
    const said = this.#said
    if (this.#finished !== undefined) {
      const { files: failedFiles, ...end } = this.#finished
      return { ...end, failedFiles, filesWithoutTest: [], said, isComplete: true, unfinished: [] }
    }
    const tests = [...this.#tests.values()]
    // A test is INTERRUPTED from its start on, until a later event says how it finished.
    const running = tests.filter(({ status }) => status === 'INTERRUPTED')
    for (const test of running) this.#openFiles.delete(keyOfFile(test))
    const filesWithoutTest = [...this.#openFiles.values()]
    return { ...NO_EVENTS, tests, filesWithoutTest, said, unfinished: [...tests, ...filesWithoutTest] }
  }
}

const NO_EVENTS: Events = {
  tests: [],
  filesWithoutTest: [],
  failedFiles: [],
  errors: [],
  said: [],
  isComplete: false,
  unfinished: [],
}

/**
 * A command may start the framework several times, for example in each package of a workspace, or again for the tests that failed. Then:
 * 1. The results of the same test are joined by `joinTests`.
 * 2. If a later process runs a file again, what it says of the file as a whole replaces what earlier processes said of it.
 * 3. The report is complete if the last process has finished, and if later processes have run each file of the processes that have not. If such a
 *    process has only skipped tests of a file, a later process may skip them too.
 * 4. A process that neither finished nor found a test file does not count. If it failed, the exit code of the command says so.
 */
function joinEvents(earlier: Events, later: Events): Events {
  const said = [...earlier.said, ...later.said]
  const { tests, filesWithoutTest, failedFiles } = later
  const namedFiles = new Set([...tests, ...filesWithoutTest, ...failedFiles].map(keyOfFile))
  if (!later.isComplete && namedFiles.size === 0) return { ...earlier, said }
  const rerunFiles = new Set([...tests.filter(hasRun), ...filesWithoutTest, ...failedFiles].map(keyOfFile))
  const isNotRerun = (one: FileFacts) => !rerunFiles.has(keyOfFile(one))
  const isStillUnfinished = (one: Unfinished) =>
    isNotRerun(one) && (one.status !== 'SKIPPED' || !namedFiles.has(keyOfFile(one)))
  const unfinished = [...earlier.unfinished.filter(isStillUnfinished), ...later.unfinished]
  return {
    isComplete: later.isComplete && unfinished.length === 0,
    unfinished,
    status: later.status,
    hasCoverage: later.hasCoverage,
    tests: joinTests(earlier.tests, tests),
    filesWithoutTest: [...earlier.filesWithoutTest.filter(isNotRerun), ...filesWithoutTest],
    failedFiles: [...earlier.failedFiles.filter(isNotRerun), ...failedFiles],
    errors: [...earlier.errors, ...later.errors],
    problem: earlier.problem ?? later.problem,
    said,
  }
}

/**
 * 1. If a later process runs a test again, its result replaces the earlier one. If the later process only skips the test, the earlier result stays,
 *    because the later process may have selected other tests of the file.
 * 2. If the hook of a describe block failed, and a test of the block runs again, the failure is gone unless the hook fails again.
 */
function joinTests(earlier: readonly ReportedTest[], later: readonly ReportedTest[]): ReportedTest[] {
  const rerun = later.filter(hasRun)
  const [rerunTests, rerunBlocks] = [new Set(rerun.map(keyOfTest)), new Set(rerun.flatMap(keysOfBlocks))]
  const isReplaced = (test: ReportedTest) => {
    const key = keyOfTest(test)
    return rerunTests.has(key) || (test.isBlock === true && rerunBlocks.has(key))
  }
  const kept = earlier.filter((test) => !isReplaced(test))
  const keptTests = new Set(kept.map(keyOfTest))
  return [...kept, ...later.filter((test) => !keptTests.has(keyOfTest(test)))]
}

function hasRun({ status }: ReportedTest): boolean {
  return status !== 'SKIPPED'
}

/** Two framework projects may have the same file. */
function keyOfFile({ project, file }: FileFacts): string {
  return JSON.stringify([project, file])
}

function keyOfTest({ path, ...file }: ReportedTest): string {
  return JSON.stringify([keyOfFile(file), path])
}

/** The describe blocks around a test. */
function keysOfBlocks(test: ReportedTest): string[] {
  return test.path.slice(1).map((_, index) => keyOfTest({ ...test, path: test.path.slice(0, index + 1) }))
}
