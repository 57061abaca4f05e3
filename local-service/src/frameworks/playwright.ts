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

export const playwright: Framework = {
  name: 'playwright',
  packageName: '@playwright/test',
  oldestVersion: '1.45',
  ownFiles: [],
  configFile: /^playwright(-ct)?\.config\.\w+$/,
  titleOption: '--grep',
  skipsOtherTitles: false,
  // The failures' messages go to the log. Playwright empties its output folder, and by default all runs of a project share one
  // folder.
  runArguments: ({ outputFolder }) => ['test', '--reporter=dot,json', `--output=${outputFolder}`],
  env: ({ reportFile }) => ({ PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile }),
  listArguments: () => ['test', '--list', '--reporter=json'],
  readList: (list) =>
    isObject(list) && isObject(list.config)
      ? objectsIn(list.config.projects).map(({ name }) => stringOf(name))
      : undefined,
  readReport(text, folder) {
    const report = parseJson(text)
    if (!isObject(report) || !Array.isArray(report.suites)) return undefined
    // The outermost suites are the files.
    const cases = objectsIn(report.suites).flatMap((file) => readSuite(file, [], stringOf(file.file ?? file.title)))
    const unloadableFiles = new Set(
      objectsIn(report.errors).flatMap(({ location }) => (isObject(location) ? [stringOf(location.file)] : [])),
    )
    const ofFiles = [...unloadableFiles].map((file) => caseOfFile(file, folder))
    return {
      testCases: [...disambiguateTitles(cases), ...ofFiles],
      // Playwright writes its report once, at its end, also if it is stopped. So every report is complete.
      isComplete: true,
      problem: findMissingBrowser(text),
    }
  },
}

/** What Playwright says in each test that needs a missing browser. */
function findMissingBrowser(report: string): string | undefined {
  const isMissing = report.includes("Executable doesn't exist at") && report.includes('playwright install')
  return isMissing ? 'playwright has not installed the browser: run "npx playwright install"' : undefined
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

/** Playwright compares each test with its expected status. The last attempt says why the test failed. */
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
