import {
  caseOfFile,
  disambiguateTitles,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  stringOf,
  titleOf,
  wholeMs,
} from './framework.ts'
import type { TestCaseStatus } from './run.ts'

export const playwright: Framework = {
  name: 'playwright',
  packageName: '@playwright/test',
  ownFiles: [],
  configFile: /^playwright(-ct)?\.config\.\w+$/,
  arguments: ({ frameworkProjects, files, titles }, { outputFolder }) => [
    'test',
    ...files,
    '--reporter=json',
    // Each run empties its default folder, which all runs of the same project share.
    `--output=${outputFolder}`,
    ...frameworkProjects.map((name) => `--project=${name}`),
    ...(titles === undefined ? [] : [`--grep=${titles}`]),
  ],
  // Versions before 1.45 know the second name only.
  env: ({ reportFile }) => ({
    PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile,
    PLAYWRIGHT_JSON_OUTPUT_NAME: reportFile,
  }),
  listArguments: (_paths, frameworkProject) => [
    'test',
    '--list',
    '--reporter=json',
    ...(frameworkProject === undefined ? [] : [`--project=${frameworkProject}`]),
  ],
  readList: (list) =>
    isObject(list) && isObject(list.config)
      ? objectsIn(list.config.projects).map(({ name }) => stringOf(name))
      : undefined,
  readReport(report, folder) {
    if (!isObject(report) || !Array.isArray(report.suites)) return undefined
    // The outermost suites are the files.
    const cases = objectsIn(report.suites).flatMap((file) => readSuite(file, [], stringOf(file.file ?? file.title)))
    const unloadableFiles = new Set(
      objectsIn(report.errors).flatMap(({ location }) => (isObject(location) ? [stringOf(location.file)] : [])),
    )
    return [...disambiguateTitles(cases), ...[...unloadableFiles].map((file) => caseOfFile(file, folder))]
  },
  // When it is stopped, it writes its report.
  readEvents: () => undefined,
}

function readSuite(suite: Record<string, unknown>, path: readonly string[], file: string): LocatedCase[] {
  return [
    ...objectsIn(suite.specs).flatMap((spec) =>
      objectsIn(spec.tests).map((test) => ({
        title: titleOf([...path, stringOf(spec.title)]),
        status: statusOf(test),
        durationMs: durationOf(test),
        qualifiers: [`[${stringOf(test.projectName)}]`, file],
      })),
    ),
    ...objectsIn(suite.suites).flatMap((inner) => readSuite(inner, [...path, stringOf(inner.title)], file)),
  ]
}

function durationOf(test: Record<string, unknown>): number {
  return objectsIn(test.results).reduce((sum, attempt) => sum + wholeMs(attempt.duration), 0)
}

/** Playwright compares each test with what was expected of it; the last attempt says why it failed. */
function statusOf(test: Record<string, unknown>): TestCaseStatus {
  const lastAttempt = objectsIn(test.results).at(-1)?.status
  if (lastAttempt === 'interrupted') return 'INTERRUPTED'
  switch (test.status) {
    case 'expected':
      return 'PASSED'
    case 'flaky':
      return 'FLAKY'
    case 'skipped':
      return 'SKIPPED'
    default:
      return lastAttempt === 'timedOut' ? 'TIMEDOUT' : 'FAILED'
  }
}
