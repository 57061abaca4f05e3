import type { CommandEnd } from '../machine/command.ts'
import type { TestedFolders } from '../machine/paths.ts'
import type { Report } from './report.ts'

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

/** The settings of a project that a framework checks. */
export interface FrameworkSettings {
  readonly args: readonly string[]
  readonly command?: readonly string[] | undefined
  readonly report?: string | undefined
  /** The folder with the blob reports of shards. Then a run merges them, and runs no test. */
  readonly merge?: string | undefined
}

export interface RunOptions extends FrameworkSettings {
  readonly folders: TestedFolders
  /** What the service's reporter reads. */
  readonly env: Readonly<Record<string, string>>
  /** The folder for everything else that the framework writes while it runs. */
  readonly outputFolder: string
  /** A folder of the run that does not exist yet, for the reports to merge. */
  readonly mergeFolder: string
  /** Whether the run tests the project's folder itself. It then runs as by hand: with its own reporters and output folder. */
  readonly isInPlace: boolean
}

/** How a framework is called: a program with its first arguments, and further variables. */
export interface FrameworkCall {
  /** Empty if no program runs, because the reports of an earlier step are read. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether the reporters of the project write nothing, because the call names other reporters. */
  readonly replacesReporters?: boolean | undefined
  /** What sentences call it. By default, the name of the framework. */
  readonly title?: string | undefined
  /** Reads the results when the process has ended, and is told how. Throws if they cannot be read. By default, the service's reporter wrote them. */
  readReport?(end: CommandEnd): Promise<Report | undefined>
}

/** By what a folder shows which frameworks it uses. */
export interface FolderFacts {
  /** The names of its files. */
  readonly files: readonly string[]
  /** The packages that its package.json names. */
  readonly dependencies: ReadonlySet<string>
  /** The packages that a package.json above it names, up to the root of the repository. */
  readonly dependenciesAbove: ReadonlySet<string>
}

/** A test framework: how it is recognized and called. */
export interface Framework {
  readonly name: 'vitest' | 'playwright' | 'junit'
  /** The packages that have its command. If there are none, only a `command` of the project can start the framework. */
  readonly packages: readonly string[]
  /** The oldest version whose tests the service can run, such as `1.45`. */
  readonly oldestVersion?: string | undefined
  /** Without this argument, the framework fails if it finds no tests. */
  readonly noTestsArgument?: string | undefined
  /** Whether a folder uses it. If its packages or its files name the framework, the folder uses it. */
  isUsedIn(facts: FolderFacts): boolean
  /** Whether runs can select framework projects. */
  readonly hasProjects: boolean
  /** The rest of a sentence that begins with the project. Undefined if the framework can use the settings. */
  refuse(settings: FrameworkSettings): string | undefined
  /** Runs tests. Without further arguments, all tests run. Throws UnusableReports if there is nothing to merge. */
  run(program: Program, options: RunOptions): FrameworkCall | Promise<FrameworkCall>
}
