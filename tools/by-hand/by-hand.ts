import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { readReport } from './report.ts'
import { type ByHand, FRAMEWORKS, type Framework, type ProcessEnd, type Subject, UsageError } from './results.ts'

/** What a person types. */
export const COMMANDS = {
  vitest: ['vitest', 'run'],
  playwright: ['playwright', 'test'],
  jest: ['jest', '--ci'],
} as const satisfies Record<Framework, readonly string[]>

/**
 * Runs the framework's own command twice. The first run is exactly what a person types, and its exit code counts. The second
 * run writes the report with the tests, because in Vitest an argument that names a reporter replaces the project's reporters.
 */
export async function runByHand(subject: Subject, temporaryFolder: string, stop: AbortSignal): Promise<ByHand> {
  const { framework, args } = subject
  const [program, ...first] = COMMANDS[framework]
  const start = (folder: string, extraArgs: readonly string[], extraEnv: NodeJS.ProcessEnv, name: string) => {
    const argv = [program, ...first, ...extraArgs, ...args] as const
    const env = { ...environmentIn(folder, subject.env), ...extraEnv }
    return runToEnd(argv, { cwd: folder, env }, join(temporaryFolder, name), stop)
  }
  // Jest writes the report beside what its reporters write.
  const plain =
    subject.isOnce || framework === 'jest'
      ? undefined
      : await start(await subject.folder(), [], {}, 'output-of-plain-run')

  const folder = await subject.folder()
  const reportFile = join(temporaryFolder, 'report.json')
  // Vitest's default reporter can set the exit code, so it stays. These arguments come first, because a last argument without its
  // value would take one of them.
  const reporter = {
    vitest: ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`],
    playwright: [],
    jest: ['--json', `--outputFile=${reportFile}`],
  }[framework]
  const variables =
    framework === 'playwright' ? { PW_TEST_REPORTER: 'json', PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile } : {}
  const withReport = await start(folder, reporter, variables, 'output-of-run-with-report')
  return {
    command: [...COMMANDS[framework], ...args].join(' '),
    ...(plain ?? withReport),
    report: readReport(framework, reportFile, realpathSync(folder)),
    endWithReport: withReport.end,
  }
}

/** Runs a command to its end. What it leaves in its process group is then killed. */
async function runToEnd(
  [program, ...args]: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  outputFile: string,
  stop: AbortSignal,
): Promise<{ readonly end: ProcessEnd; readonly output: string }> {
  // A process that the command leaves could hold a pipe open. A file has no such end to wait for.
  const file = openSync(outputFile, 'w')
  const child = spawn(program, args, { ...options, stdio: ['ignore', file, file], detached: true })
  closeSync(file)
  const killGroup = () => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL')
    } catch {
      // The group is empty.
    }
  }
  stop.addEventListener('abort', killGroup)
  if (stop.aborted) killGroup()
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  stop.removeEventListener('abort', killGroup)
  killGroup()
  return { end: stop.aborted ? 'stopped' : (code ?? signal ?? 'stopped'), output: readFileSync(outputFile, 'utf8') }
}

export const packageOf = (framework: Framework) => (framework === 'playwright' ? '@playwright/test' : framework)

/** The framework on which the folder's package depends. */
export function frameworkIn(folder: string): Framework {
  const manifest = join(folder, 'package.json')
  const { dependencies, devDependencies } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
  const packages = { ...dependencies, ...devDependencies }
  const found = FRAMEWORKS.filter((framework) => packageOf(framework) in packages)
  const [framework] = found
  if (framework !== undefined && found.length === 1) return framework
  throw new UsageError(
    `${manifest} names ${found.join(' and ') || 'none of the frameworks that this program compares'}. Write --framework=${FRAMEWORKS.join(' or --framework=')} first.`,
  )
}

/** The version of the installed framework, such as `5.1.1`. */
export function versionOf(folder: string, framework: Framework): string {
  const name = packageOf(framework)
  try {
    return createRequire(join(folder, 'package.json'))(`${name}/package.json`).version
  } catch {
    throw new UsageError(`${name} is not installed in ${folder} or in a folder above it. Install the packages first.`)
  }
}

/** npx puts the commands of the folder and of all folders above it first. */
function environmentIn(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const packages = createRequire(join(folder, 'package.json')).resolve.paths('a-package') ?? []
  return { ...env, PATH: [...packages.map((at) => join(at, '.bin')), env.PATH ?? ''].join(delimiter) }
}
