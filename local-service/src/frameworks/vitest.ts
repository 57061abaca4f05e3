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
    const contents = finished ?? readUnfinished(events)
    const tests = objectsIn(contents.tests)
    const files = objectsIn(contents.files)
    // A file that could not be loaded; or, in an unfinished run, one whose test keeps its process busy, or a hook.
    const bad = finished ? 'FAILED' : 'INTERRUPTED'
    const explained = new Set(tests.filter((test) => statusOf(test) === bad).map(keyOf))
    const unexplained = files.filter((file) => file.hasFailed === true && !explained.has(keyOf(file)))
    return {
      testCases: [
        ...disambiguateTitles(tests.map((test) => caseOf(test, folder))),
        ...unexplained.map(({ file }) => caseOfFile(stringOf(file), folder, bad)),
      ],
      isComplete: finished !== undefined,
      frameworkProjects: finished && new Set(files.map(({ project }) => stringOf(project))),
    }
  },
}

type Fields = Readonly<Record<string, unknown>>

/** What is known of a run that was killed: the tests that finished, those that were running, and the unfinished files. */
function readUnfinished(events: readonly Fields[]): Fields {
  const tests = new Map<string, Fields>()
  const files = new Map<string, Fields>()
  for (const { event, test, file, atMs } of events) {
    if (event === 'file-started' && isObject(file)) files.set(keyOf(file), { ...file, hasFailed: true })
    if (event === 'file-finished' && isObject(file)) files.delete(keyOf(file))
    if (event === 'test-finished' && isObject(test)) tests.set(stringOf(test.id), test)
    if (event === 'test-started' && isObject(test)) {
      tests.set(stringOf(test.id), { ...test, state: 'pending', durationMs: Date.now() - Number(atMs) })
    }
  }
  return { tests: [...tests.values()], files: [...files.values()] }
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
