import { extname, join, relative } from 'node:path'
import {
  caseOfFile,
  disambiguateTitles,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  parseJson,
  type Report,
  stringOf,
  titleOf,
  wholeMs,
} from './framework.ts'
import type { TestCaseStatus } from './run.ts'
import { REPORT_FILE } from './vitest-reporter.ts'

/** In TypeScript here, in JavaScript in the package; Vitest loads either. */
const REPORTER = join(import.meta.dirname, `vitest-reporter${extname(import.meta.filename)}`)

export const vitest: Framework = {
  name: 'vitest',
  packageName: 'vitest',
  configFile: /^vitest\.(config|workspace)\.\w+$/,
  ownFiles: [REPORTER],
  titleOption: '--testNamePattern',
  // Its output, with the failures' messages, goes to the log.
  runArguments: () => ['run', '--reporter=default', `--reporter=${REPORTER}`],
  env: ({ reportFile }) => ({ [REPORT_FILE]: reportFile }),
  listArguments: ({ reportFile }) => ['list', '--filesOnly', `--json=${reportFile}`],
  readList(list) {
    if (!Array.isArray(list)) return undefined
    return [...new Set(objectsIn(list).map(({ projectName }) => stringOf(projectName)))].filter((name) => name !== '')
  },
  readReport(text, folder) {
    // Anything may have written the file, and the last line may be truncated.
    const events = text.split('\n').map(parseJson).filter(isObject)
    if (events.length === 0) return undefined
    const finished = events.find(({ event }) => event === 'finished')
    return finished === undefined ? readUnfinished(events, folder) : readFinished(finished, folder)
  },
}

type Fields = Readonly<Record<string, unknown>>

function readFinished(finished: Fields, folder: string): Report {
  const tests = objectsIn(finished.tests)
  const files = objectsIn(finished.files)
  const withFailedTests = new Set(tests.filter((test) => statusOf(test) === 'FAILED').map(keyOf))
  const unloadable = files.filter((file) => file.hasFailed === true && !withFailedTests.has(keyOf(file)))
  const cases = tests.map((test) => caseOf(test, folder))
  return {
    testCases: [...disambiguateTitles(cases), ...unloadable.map(({ file }) => caseOfFile(stringOf(file), folder))],
    isComplete: true,
    frameworkProjects: new Set(files.map(({ project }) => stringOf(project))),
  }
}

/** What is known of a run that was killed: the tests that finished, those that were running, and the files that had begun. */
function readUnfinished(events: readonly Fields[], folder: string): Report {
  const cases = new Map<string, LocatedCase>()
  const unfinishedFiles = new Map<string, Fields>()
  const runningIn = new Map<string, string>()
  for (const { event, test, file, atMs } of events) {
    if (event === 'file-started' && isObject(file)) unfinishedFiles.set(keyOf(file), file)
    if (event === 'file-finished' && isObject(file)) unfinishedFiles.delete(keyOf(file))
    if (!isObject(test)) continue
    const id = stringOf(test.id)
    if (event === 'test-started') {
      const durationMs = typeof atMs === 'number' ? wholeMs(Date.now() - atMs) : 0
      cases.set(id, { ...caseOf(test, folder), status: 'INTERRUPTED', durationMs })
      runningIn.set(id, keyOf(test))
    }
    if (event === 'test-finished') {
      cases.set(id, caseOf(test, folder))
      runningIn.delete(id)
    }
  }
  // No test in them was known to be running: a test that keeps its process busy, or a hook.
  const withRunningTests = new Set(runningIn.values())
  const silentFiles = [...unfinishedFiles].filter(([key]) => !withRunningTests.has(key))
  return {
    testCases: [
      ...disambiguateTitles([...cases.values()]),
      ...silentFiles.map(([, { file }]) => caseOfFile(stringOf(file), folder, 'INTERRUPTED')),
    ],
    isComplete: false,
  }
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
    durationMs: wholeMs(test.durationMs),
    qualifiers: [project === '' ? '' : `[${project}]`, relative(folder, stringOf(test.file))],
  }
}

function statusOf({ state, isFlaky }: Fields): TestCaseStatus {
  switch (state) {
    case 'passed':
      return isFlaky === true ? 'FLAKY' : 'PASSED'
    case 'skipped':
      return 'SKIPPED'
    // It was still queued or running when the report was written: the worker died.
    case 'pending':
      return 'INTERRUPTED'
    default:
      return 'FAILED'
  }
}
