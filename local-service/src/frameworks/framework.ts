import type { Report } from './report.ts'

// The tests in local-service/test/frameworks test this file.

/** Which tests of a project to run. Without restrictions, all tests run. */
export interface Selection {
  readonly frameworkProjects: readonly string[]
  /** Parts of the paths of test files. */
  readonly files: readonly string[]
}

/** What starts a framework. */
export interface Program {
  /** The program and its first arguments. */
  readonly argv: readonly string[]
  /** The script of the installed package, if Node runs it and the project has no command of its own. */
  readonly script?: string | undefined
  /** The Node that runs this script. */
  readonly node?: string | undefined
}

export interface RunOptions {
  /** What the service's reporter reads. */
  readonly env: Readonly<Record<string, string>>
  /** The folder for everything else that the framework writes while it runs. */
  readonly outputFolder: string
  /** Whether the run tests the project's folder itself. It then runs as by hand: with its own reporters and output folder. */
  readonly isInPlace: boolean
}

/** How a framework is called: a program with its first arguments, and further variables. */
export interface FrameworkCall {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether the reporters of the project write nothing, because the call names other reporters. */
  readonly replacesReporters?: boolean | undefined
}

/** A test framework: how it is recognized and called. */
export interface Framework {
  readonly name: 'vitest' | 'playwright'
  readonly packageName: string
  /** Packages that have the same command, and may be installed instead. */
  readonly otherPackages?: readonly string[] | undefined
  /** The oldest version whose tests the service can run, such as `1.45`. */
  readonly oldestVersion: string
  /** Without this argument, the framework fails if it finds no tests. */
  readonly noTestsArgument: string
  /** The files in a project's folder by which it is recognized. */
  readonly configFile: RegExp
  /** Runs tests. The service's own reporter writes the report file. Without further arguments, all tests run. */
  run(program: Program, options: RunOptions): FrameworkCall
  /** What a person must do before these tests can pass, if the report shows it. */
  findMissing?(report: Report): string | undefined
}
