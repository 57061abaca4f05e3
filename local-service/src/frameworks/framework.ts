import { cp } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { CommandEnd } from '../machine/command.ts'
import type { TestedFolders } from '../machine/files.ts'
import type { GitOptions } from '../machine/git.ts'
import { argvOf, type UserCommand } from '../machine/script.ts'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import type { Blobs } from './blob-folder.ts'
import type { ResultReader } from './reading.ts'
import type { Report } from './report.ts'
import type { Unusable } from './unusable.ts'

/** Which tests of a project to run. Without restrictions, all tests run. */
export interface Selection {
  readonly frameworkProjects: readonly string[]
  /** Parts of the paths of test files. */
  readonly files: readonly string[]
}

export interface FrameworkSettings {
  /** Further arguments of the user. */
  readonly args: readonly string[]
  readonly command?: UserCommand | undefined
  readonly report?: string | undefined
  /** The folder with the blobs of shards. Then a run merges them, and runs no test. */
  readonly merge?: string | undefined
}

export interface CallOptions extends FrameworkSettings {
  /** Node, and the script of the package. Undefined if the project has a command, or if the run only reads JUnit files. */
  readonly installed: { readonly node: string; readonly script: string } | undefined
  /** What a run merges, and what is known of it. */
  readonly blobs: Blobs | undefined
  readonly selection: Selection
  readonly folders: TestedFolders
  /** How git runs in the repository for this run. */
  readonly git: GitOptions
  /** Whether the run tests the project's folder itself. It then runs as by hand: with its own reporters and output folder. */
  readonly isInPlace: boolean
  /** The output folder of a run that is not in place. */
  readonly outputFolder: string
  /** The service can put its reporter here. It does not exist yet. */
  readonly reporterFolder: string
}

/** The argument of Vitest and Jest without which they fail if they find no tests. */
export const PASS_WITH_NO_TESTS = '--passWithNoTests'

/** Why a command of the project may leave no report. */
export const NOT_PASSED_ON =
  'The "command" of the project may not have passed on the arguments and the variables that the service adds.'

/** The service's reporters are TypeScript here and JavaScript in the bundle. */
export const EXTENSION = extname(import.meta.filename)

export interface FrameworkCall {
  /** The whole command. Undefined if no program runs, because the reports of an earlier step are read. */
  readonly argv: readonly string[] | undefined
  /** Further variables of the framework. */
  readonly env?: Readonly<Record<string, string>>
  /** How messages name what was run. */
  readonly title: string
  /** Whether the reporters of the project write nothing, because the call names other reporters. */
  readonly replacesReporters: boolean
  /** Reads the results when the process has ended. By default, they are in the file of events of the service's reporter. */
  readJunitFiles?(end: CommandEnd, reader: ResultReader): Promise<Report | Unusable>
}

export interface Framework {
  readonly name: 'vitest' | 'playwright' | 'jest' | 'junit'
  /** How messages name it, such as `Playwright Test`. */
  readonly title: string
  /** The packages that have its command. If there are none, only a `command` of the project can start the framework. */
  readonly packages: readonly string[]
  /** The oldest version whose tests the service can run, such as `1.45`. */
  readonly oldestVersion: string
  /** Without this argument, the framework fails if it finds no tests. */
  readonly noTestsArgument?: string | undefined
  /** What to know if a `command` of the project leaves no report, as sentences. */
  readonly hintWithoutReport?: string | undefined
  prepareCall(options: CallOptions): Promise<FrameworkCall>
}

/**
 * Where a framework loads a reporter of the service. The bundled files are copied below a folder `node_modules`, for two reasons:
 * 1. Playwright translates each other file. For the files of the reporter, this would take 0.15 s.
 * 2. From 6.4.2 on, Vite 6 loads no other file for Vitest 3 that is outside the project.
 *
 * The package.json beside the files says that they are ES modules. Node ignores a package.json directly in `node_modules`, so the copy is one
 * folder below.
 */
export async function placeReporter(name: string, reporterFolder: string): Promise<string> {
  // Node does not run TypeScript below `node_modules`.
  if (EXTENSION === '.ts') return join(REPORTERS_FOLDER, `${name}.ts`)
  const folder = join(reporterFolder, 'node_modules/local-service')
  await cp(REPORTERS_FOLDER, folder, { recursive: true })
  return join(folder, `${name}.js`)
}

/**
 * The whole command: `start`, or the project's own command, then `ours`, then the selected tests, and then the arguments of the user. If
 * the command ends with `--`, as `./test.sh --` does, its program must pass on what stands behind it.
 */
export function commandLine(
  start: readonly string[] | undefined,
  { command = [], selection, args }: CallOptions,
  ours: readonly string[],
  selected: readonly string[] = [...selection.frameworkProjects.map((name) => `--project=${name}`), ...selection.files],
): readonly string[] {
  // The arguments of the user may have a `--`. Behind it, nothing is an option, so they are the last.
  const added = [...ours, ...selected, ...args]
  return start === undefined ? argvOf(command, added) : [...start, ...added]
}
