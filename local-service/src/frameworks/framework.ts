import { relative } from 'node:path'
import type { TestCase, TestCaseStatus } from '../runs/run.ts'

/** Which tests of a project to run. Without restrictions, all tests run. */
export interface Selection {
  readonly frameworkProjects: readonly string[]
  /** Parts of the paths of test files. */
  readonly files: readonly string[]
  readonly titles?: string | undefined
}

export interface ReportPaths {
  readonly reportFile: string
  /** The folder for everything else that the framework writes while it runs. */
  readonly outputFolder: string
}

/** A test framework: how it is recognized and called, and how its report is read. */
export interface Framework {
  readonly name: 'vitest' | 'playwright'
  readonly packageName: string
  /** The oldest version whose tests the service can run, such as `1.45`. */
  readonly oldestVersion: string
  /** The files in a project's folder by which it is recognized. */
  readonly configFile: RegExp
  /** Files of this service that the framework loads. */
  readonly ownFiles: readonly string[]
  /** The option for a regular expression for titles. */
  readonly titleOption: string
  /** Whether its report has the tests with other titles too, as skipped tests. */
  readonly skipsOtherTitles: boolean
  /** The arguments that run tests. Without further arguments, all tests run. */
  runArguments(paths: ReportPaths): string[]
  env(paths: ReportPaths): Record<string, string>
  /**
   * The arguments with which the framework writes the list of its projects to the report file. If a selection matches no
   * project, the framework exits with an error.
   */
  listArguments(paths: ReportPaths): string[]
  /** The names in such a list. Undefined if the value is not such a list. */
  readList(list: unknown): string[] | undefined
  /** Undefined if the text is not such a report. */
  readReport(text: string, folder: string): Report | undefined
}

export interface Report {
  readonly testCases: readonly TestCase[]
  /** Whether the framework said that the report is complete. */
  readonly isComplete: boolean
  /** What the framework said about itself, not about a test. */
  readonly problem?: string | undefined
  /** The framework projects of the tested files, if the report names them. */
  readonly frameworkProjects?: readonly string[] | undefined
}

/** A title with the path of its describe blocks. */
export function titleOf(path: readonly (string | undefined)[]): string {
  return path.filter((part) => part !== undefined && part !== '').join(' > ')
}

/** A test case for a whole file, for example a file that could not be loaded. It shows why the run failed. */
export function caseOfFile(file: string, folder: string, status: TestCaseStatus = 'FAILED'): TestCase {
  return { title: relative(folder, file), status, durationMs: 0 }
}

export interface LocatedCase extends TestCase {
  /** What tells it from other tests with its title, such as framework project and file. The broadest comes first. */
  readonly qualifiers: readonly string[]
}

/** If two tests share a title, what distinguishes them is put before it. */
export function disambiguateTitles(located: readonly LocatedCase[]): TestCase[] {
  const levels = new Map<string, readonly Set<string>[]>()
  for (const { title, qualifiers } of located) {
    const ofTitle = levels.get(title) ?? qualifiers.map(() => new Set())
    levels.set(title, ofTitle)
    for (const [level, qualifier] of qualifiers.entries()) ofTitle[level]?.add(qualifier)
  }
  return located.map(({ qualifiers, ...testCase }) => {
    const distinguishing = qualifiers.filter((_, level) => (levels.get(testCase.title)?.[level]?.size ?? 0) > 1)
    return distinguishing.length === 0 ? testCase : { ...testCase, title: titleOf([...distinguishing, testCase.title]) }
  })
}

export function wholeMs(durationMs: unknown): number {
  return typeof durationMs === 'number' && durationMs > 0 ? Math.round(durationMs) : 0
}

/** Reads what should be a string. `String()` would throw for some objects that JSON can contain. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The objects in what should be a list. Anything may have written the report. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The file is missing. Or it is truncated, because the process was killed.
    return undefined
  }
}
