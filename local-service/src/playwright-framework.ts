import {
  brokenFile,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  tellApart,
  textIn,
  titleOf,
  wholeMs,
} from './framework.ts'
import type { TestCaseStatus } from './run.ts'

export const playwright: Framework = {
  name: 'playwright',
  packageName: '@playwright/test',
  configFile: /^playwright(-ct)?\.config\.\w+$/,
  arguments: ({ frameworkProjects, files, titles }, { outputFolder }) => [
    'test',
    ...files,
    '--reporter=json',
    // Its default would be emptied by each run and shared by all that run in the same folder.
    `--output=${outputFolder}`,
    ...frameworkProjects.map((name) => `--project=${name}`),
    ...(titles === undefined ? [] : [`--grep=${titles}`]),
  ],
  // The second name is the one that versions before 1.45 know.
  env: ({ reportFile }) => ({
    PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile,
    PLAYWRIGHT_JSON_OUTPUT_NAME: reportFile,
  }),
  readReport(report, folder) {
    if (!isObject(report) || !Array.isArray(report.suites)) return undefined
    // The outermost suites are the files.
    const cases = objectsIn(report.suites).flatMap((file) => readSuite(file, [], textIn(file.file ?? file.title)))
    const brokenFiles = new Set(
      objectsIn(report.errors).flatMap(({ location }) => (isObject(location) ? [textIn(location.file)] : [])),
    )
    return [...tellApart(cases), ...[...brokenFiles].map((file) => brokenFile(file, folder))]
  },
}

function readSuite(suite: Record<string, unknown>, path: readonly string[], file: string): LocatedCase[] {
  return [
    ...objectsIn(suite.specs).flatMap((spec) =>
      objectsIn(spec.tests).map((test) => ({
        title: titleOf([...path, textIn(spec.title)]),
        status: statusOf(test),
        durationMs: durationOf(test),
        where: [`[${textIn(test.projectName)}]`, file],
      })),
    ),
    ...objectsIn(suite.suites).flatMap((inner) => readSuite(inner, [...path, textIn(inner.title)], file)),
  ]
}

function durationOf(test: Record<string, unknown>): number {
  return objectsIn(test.results).reduce((sum, attempt) => sum + wholeMs(attempt.duration), 0)
}

/** Playwright says how a test went against what was expected of it; the last attempt says why it did not go well. */
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
