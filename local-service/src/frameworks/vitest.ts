import { extname, join, relative } from 'node:path'
import type { TestCaseStatus } from '../runs/run.ts'
import {
  caseOfFile,
  disambiguateTitles,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  parseJson,
  stringOf,
  titleOf,
  wholeMs,
} from './framework.ts'
import { REPORT_FILE } from './vitest-reporter.ts'

/** The file is TypeScript here and JavaScript in the package. Vitest loads both. */
const REPORTER = join(import.meta.dirname, `vitest-reporter${extname(import.meta.filename)}`)

export const vitest: Framework = {
  name: 'vitest',
  packageName: 'vitest',
  oldestVersion: '3.0',
  configFile: /^vitest\.(config|workspace)\.\w+$/,
  ownFiles: [REPORTER],
  titleOption: '--testNamePattern',
  skipsOtherTitles: true,
  // Its output, with the failures' messages, goes to the log.
  runArguments: () => ['run', '--reporter=default', `--reporter=${REPORTER}`],
  env: ({ reportFile }) => ({ [REPORT_FILE]: reportFile }),
  listArguments: ({ reportFile }) => ['list', '--filesOnly', `--json=${reportFile}`],
  readList(list) {
    if (!Array.isArray(list)) return undefined
    return [...new Set(objectsIn(list).map(({ projectName }) => stringOf(projectName)))].filter((name) => name !== '')
  },
  readReport(text, folder) {
    const { tests, files, finished } = readEvents(text)
    if (finished === undefined && tests.length === 0 && files.length === 0) return undefined
    // If a run has finished, a failed file without a failed test could not be loaded. In an unfinished run, a test or a hook of
    // the file keeps its process busy.
    const bad = finished ? 'FAILED' : 'INTERRUPTED'
    const explained = new Set(tests.filter((test) => statusOf(test) === bad).map(keyOf))
    const unexplained = files.filter((file) => file.hasFailed === true && !explained.has(keyOf(file)))
    const problem = finished && describeWorkerEnd(finished.workerEnd)
    return {
      testCases: [
        ...disambiguateTitles(tests.map((test) => caseOf(test, folder))),
        ...unexplained.map(({ file }) => caseOfFile(stringOf(file), folder, bad)),
      ],
      isComplete: finished !== undefined && problem === undefined,
      problem,
      frameworkProjects: finished && [...new Set(files.map(({ project }) => stringOf(project)))],
    }
  },
}

type Fields = Readonly<Record<string, unknown>>

/** The tests, the files and the last event of a run. If the run was killed, there is no last event. */
function readEvents(text: string): { tests: Fields[]; files: Fields[]; finished: Fields | undefined } {
  const tests = new Map<unknown, Fields>()
  const files = new Map<string, Fields>()
  let finished: Fields | undefined
  for (const event of eventsIn(text)) {
    const test = isObject(event.test) ? event.test : {}
    const file = isObject(event.file) ? event.file : {}
    switch (event.event) {
      case 'file-started':
        files.set(keyOf(file), { ...file, hasFailed: true })
        break
      case 'file-finished':
        files.delete(keyOf(file))
        break
      case 'test-started':
        tests.set(test.id, { ...test, state: 'pending', atMs: event.atMs })
        break
      case 'test-finished':
        tests.set(test.id, { ...tests.get(test.id), ...test })
        break
      case 'finished':
        finished = event
        for (const other of objectsIn(event.tests)) tests.set(other.id ?? other, { ...tests.get(other.id), ...other })
    }
  }
  return { tests: [...tests.values()], files: finished ? objectsIn(finished.files) : [...files.values()], finished }
}

const EVENTS: ReadonlySet<unknown> = new Set([
  'file-started',
  'file-finished',
  'test-started',
  'test-finished',
  'finished',
])

/**
 * The events up to the first line that is not an event. Anything may have written the file, and its last line may be
 * truncated.
 */
function* eventsIn(text: string): Generator<Fields> {
  // Not `split`, because a hostile file of 64 MiB may have as many lines.
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const line = end === -1 ? text.slice(at) : text.slice(at, end)
    const event = parseJson(line)
    if (!isObject(event) || !EVENTS.has(event.event)) return
    yield event
    at += line.length + 1
  }
}

/** Shows only a signal or an exit code, because the rest of what Vitest says about a worker may quote a test. */
function describeWorkerEnd(end: unknown): string | undefined {
  const [, signal, code] = /^(?:signal (SIG[A-Z]{2,7})|exit code (\d{1,3}))$/.exec(stringOf(end)) ?? []
  if (signal !== undefined) return `a worker of vitest was killed by ${signal}`
  if (code !== undefined) return `a worker of vitest exited with code ${code}`
  return end === undefined ? undefined : 'a worker of vitest ended before its tests'
}

/** Two projects may have the same file. */
function keyOf({ project, file }: Fields): string {
  return JSON.stringify([stringOf(project), stringOf(file)])
}

function caseOf(test: Fields, folder: string): LocatedCase {
  const path = Array.isArray(test.path) ? test.path.map(stringOf) : []
  const project = stringOf(test.project)
  return {
    title: titleOf(path),
    status: statusOf(test),
    durationMs: wholeMs(test.state === 'pending' ? Date.now() - Number(test.atMs) : test.durationMs),
    qualifiers: [project === '' ? '' : `[${project}]`, relative(folder, stringOf(test.file))],
  }
}

function statusOf({ state, isFlaky }: Fields): TestCaseStatus {
  switch (state) {
    case 'passed':
      return isFlaky === true ? 'FLAKY' : 'PASSED'
    case 'skipped':
      return 'SKIPPED'
    // The test was still queued or running when the report was written, because its worker died.
    case 'pending':
      return 'INTERRUPTED'
    default:
      return 'FAILED'
  }
}
