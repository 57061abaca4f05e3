import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { JSONReport, JSONReportSuite, JSONReportTest } from '@playwright/test/reporter'
import type { Framework, ReportByHand, TestByHand } from './results.ts'

/** Reads a JSON report of a framework. Undefined if there is none. Paths in the result start in the folder. */
export function readReport(framework: Framework, file: string, folder: string): ReportByHand | undefined {
  if (!existsSync(file)) return undefined
  const report = JSON.parse(readFileSync(file, 'utf8'))
  return framework === 'playwright' ? readPlaywright(report, folder) : readJest(report, folder, framework)
}

/** What is read of a report of Jest. Vitest writes such a report too. */
interface JestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly JestTest[]
  }[]
}

interface JestTest {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
  readonly failureMessages?: readonly string[] | null
  readonly invocations?: number
}

function readJest({ testResults }: JestReport, folder: string, framework: 'vitest' | 'jest'): ReportByHand {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => {
      // In Vitest, the titles of a type test begin with the path of its file.
      const titles = test.ancestorTitles.filter((title, index) => index > 0 || !name.endsWith(`/${title}`))
      return {
        file: relative(folder, name),
        path: withoutEmpty([...titles, test.title]),
        status: test.status === 'pending' && framework === 'vitest' ? ('PENDING' as const) : jestStatus(test),
      }
    }),
  )
  const failed = testResults.filter(({ status }) => status === 'failed')
  const isExplained = ({ message, assertionResults }: (typeof failed)[number]) =>
    message !== '' || assertionResults.length > 0
  const namesOf = (files: typeof failed) => files.map(({ name }) => relative(folder, name))
  return {
    tests,
    failedFiles: namesOf(failed.filter(isExplained)),
    unexplainedFiles: namesOf(failed.filter((one) => !isExplained(one))),
  }
}

/** The report has no word for a flaky test. Jest counts its attempts, and Vitest keeps the messages of those that failed. */
function jestStatus({ status, failureMessages, invocations = 1 }: JestTest): TestByHand['status'] {
  if (status === 'failed') return 'FAILED'
  if (status !== 'passed') return 'SKIPPED'
  return invocations > 1 || failureMessages?.length ? 'FLAKY' : 'PASSED'
}

function readPlaywright(report: JSONReport, folder: string): ReportByHand {
  const fromFolder = (path: string) => relative(folder, resolve(report.config.rootDir, path))
  // The outermost suites are files.
  const tests = report.suites.flatMap((suite) => testsOf({ ...suite, title: '' }, []))
  const files = report.errors.flatMap(({ location }) => (location === undefined ? [] : [fromFolder(location.file)]))
  return {
    tests: tests.map((test) => ({ ...test, file: fromFolder(test.file) })),
    // The place of an error can be "<anonymous>".
    failedFiles: files.filter((path) => existsSync(resolve(folder, path))),
  }
}

function testsOf({ title, suites = [], specs }: JSONReportSuite, above: readonly string[]): TestByHand[] {
  const path = [...above, title]
  const own = specs.flatMap((spec) =>
    spec.tests.map((test) => ({
      file: spec.file,
      project: test.projectName,
      path: withoutEmpty([...path, spec.title]),
      status: playwrightStatus(test),
    })),
  )
  return [...own, ...suites.flatMap((suite) => testsOf(suite, path))]
}

function playwrightStatus({ status, expectedStatus, results }: JSONReportTest): TestByHand['status'] {
  const last = results.at(-1)
  switch (status) {
    case 'expected':
      return 'PASSED'
    case 'flaky':
      return 'FLAKY'
    case 'unexpected':
      return last?.status === 'timedOut' ? 'TIMEDOUT' : 'FAILED'
    case 'skipped':
      // Playwright counts a test that was cut off as skipped. It says "interrupted" only of the attempt. If its worker could not be
      // ended in time, the attempt is skipped too, although a worker had begun it.
      if (last?.status === 'interrupted') return 'INTERRUPTED'
      return expectedStatus !== 'skipped' && last !== undefined && last.workerIndex >= 0 ? 'INTERRUPTED' : 'SKIPPED'
  }
}

function withoutEmpty(path: readonly string[]): string[] {
  return path.filter((part) => part !== '')
}
