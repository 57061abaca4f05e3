import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// The parts of the project's own Jest, and what the project has configured. The types have what is used of them.

interface Argv {
  readonly projects?: readonly string[]
  readonly reporters?: readonly Reporter[]
  readonly testResultsProcessor?: string | undefined
}

type Reporter = readonly [path: string, options: object]

export interface GlobalConfig {
  readonly reporters?: readonly Reporter[]
  readonly testResultsProcessor?: string | null
  readonly testFailureExitCode: number
  readonly forceExit: boolean
  readonly detectOpenHandles: boolean
  /** Jest has it from 29.5 on. */
  readonly openHandlesTimeout?: number
}

interface Jest {
  buildArgv(args: readonly string[]): Promise<Argv>
  readConfigs(argv: Argv, projects: readonly string[]): Promise<{ readonly globalConfig: GlobalConfig }>
  runCLI(
    argv: Argv,
    projects: readonly string[],
  ): Promise<{ readonly results?: { readonly success: boolean }; readonly globalConfig: GlobalConfig }>
}

/** `script` is Jest's own command. It may be a link, for example with pnpm. */
export function loadJest(script: string): Jest {
  const pathOfCli = createRequire(realpathSync(script)).resolve('jest-cli')
  const requireOfCli = createRequire(pathOfCli)
  const cli: Pick<Jest, 'buildArgv'> = requireOfCli('jest-cli')
  return {
    // Jest 29 exports it only from a file of its own.
    buildArgv: cli.buildArgv ?? requireOfCli(join(dirname(pathOfCli), 'run.js')).buildArgv,
    readConfigs: requireOfCli('jest-config').readConfigs,
    runCLI: requireOfCli('@jest/core').runCLI,
  }
}

/** The folders or configurations that the command names, else the current folder. Jest's own command does the same. */
export function projectsOf({ projects = [] }: Argv): readonly string[] {
  return projects.length === 0 ? [process.cwd()] : projects
}

/** What the project has configured. Jest reads it too, so its warnings are left out here. */
export async function readConfigured(jest: Jest, argv: Argv): Promise<GlobalConfig> {
  const { warn, error } = console
  console.warn = console.error = () => undefined
  try {
    return (await jest.readConfigs(argv, projectsOf(argv))).globalConfig
  } finally {
    Object.assign(console, { warn, error })
  }
}
