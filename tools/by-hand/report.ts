import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { JSONReport, JSONReportSuite, JSONReportTest } from '@playwright/test/reporter'
import type { JsonAssertionResult, JsonTestResults } from 'vitest/node'
import type { ReportByHand, TestByHand } from './results.ts'

// Reads the JSON reports of the frameworks.

/** Undefined if the framework wrote no report. Paths in the result start in the folder. */
export function readVitestReport(file: string, folder: string): ReportByHand | undefined {
  const report = read<JsonTestResults>(file)
  if (report === undefined) return undefined
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({
      file: relative(folder, name),
      path: withoutEmpty([
        ...test.ancestorTitles.filter((title, index) => index > 0 || !isPathOf(title, name)),
        test.title,
      ]),
      status: vitestStatus(test),
    })),
  )
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  const isExplained = ({ message, assertionResults }: (typeof failed)[number]) =>
    message !== '' || assertionResults.length > 0
  const namesOf = (files: typeof failed) => files.map(({ name }) => relative(folder, name))
  return {
    tests,
    failedFiles: namesOf(failed.filter(isExplained)),
    unexplainedFiles: namesOf(failed.filter((one) => !isExplained(one))),
  }
}

/** The titles of a type test begin with the path of its file. */
function isPathOf(title: string, file: string): boolean {
  return file.endsWith(`/${title}`)
}

function vitestStatus({ status, failureMessages }: JsonAssertionResult): TestByHand['status'] {
  switch (status) {
    case 'passed':
      // The report has no word for a flaky test, but a test that passed has messages only of failed attempts.
      return failureMessages?.length ? 'FLAKY' : 'PASSED'
    case 'failed':
      return 'FAILED'
    case 'pending':
      return 'PENDING'
    default:
      return 'SKIPPED'
  }
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
      readonly invocations?: number
    }[]
  }[]
}

/** Undefined if the framework wrote no report. Paths in the result start in the folder. */
export function readJestReport(file: string, folder: string): ReportByHand | undefined {
  const report = read<JestReport>(file)
  if (report === undefined) return undefined
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status, invocations = 1 }) => ({
      file: relative(folder, name),
      path: withoutEmpty([...ancestorTitles, title]),
      status: jestStatus(status, invocations),
    })),
  )
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  return { tests, failedFiles: failed.map(({ name }) => relative(folder, name)) }
}

function jestStatus(status: string, invocations: number): TestByHand['status'] {
  if (status === 'failed') return 'FAILED'
  if (status !== 'passed') return 'SKIPPED'
  return invocations > 1 ? 'FLAKY' : 'PASSED'
}

/** Undefined if the framework wrote no report. Paths in the result start in the folder. */
export function readPlaywrightReport(file: string, folder: string): ReportByHand | undefined {
  const report = read<JSONReport>(file)
  if (report === undefined) return undefined
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

function read<Report>(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
