import type { Report } from './report.ts'

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

/** The arguments and the further variables with which a framework is called. */
export interface FrameworkCall {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A test framework: how it is recognized and called. */
export interface Framework {
  readonly name: 'vitest' | 'playwright'
  readonly packageName: string
  /** The oldest version whose tests the service can run, such as `1.45`. */
  readonly oldestVersion: string
  /** The files in a project's folder by which it is recognized. */
  readonly configFile: RegExp
  /** The option for a regular expression for titles. */
  readonly titleOption: string
  /** Whether its report has the tests with other titles too, as skipped tests. */
  readonly skipsOtherTitles: boolean
  /** Runs tests. The service's own reporter writes the report file. Without further arguments, all tests run. */
  run(paths: ReportPaths): FrameworkCall
  /**
   * Writes the list of its projects to the report file. If a selection matches no project, the framework exits with an
   * error.
   */
  list(paths: ReportPaths): FrameworkCall
  /** The names in such a list. Undefined if the value is not such a list. */
  readList(list: unknown): string[] | undefined
  /** What a person must do before these tests can pass, if the report shows it. */
  findMissing?(report: Report): string | undefined
}

/** The files that a framework loads of this service lie in this folder. */
export const REPORTERS_FOLDER = import.meta.dirname

/** A title with the path of its describe blocks. */
export function titleOf(path: readonly (string | undefined)[]): string {
  return path.filter((part) => part !== undefined && part !== '').join(' > ')
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
