import { existsSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Reporter } from 'vitest/node'

// Runs the project's own Vitest as its command does, and adds the service's reporter to those of the project's configuration.
// Vitest's command has no option that adds a reporter. The arguments are the script of that command, then its arguments. With
// `--wait` before them, the process loads Vitest and then waits for a run.

const REPORTER = join(import.meta.dirname, `vitest-reporter${extname(import.meta.filename)}`)

const waits = process.argv[2] === '--wait'
const [script = '', ...args] = process.argv.slice(waits ? 3 : 2)
// The project's configuration may read the arguments.
process.argv.splice(1, process.argv.length, script, ...args)

const api = await loadApi()
if (waits) await waitForRun()
if (api === undefined) {
  process.argv.push('--reporter=default', `--reporter=${REPORTER}`)
  await import(pathToFileURL(script).href)
} else {
  try {
    await run(api)
  } catch (error) {
    // As Vitest's command does.
    console.error('\n⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯')
    console.error(error)
    console.error('\n\n')
    process.exit(process.exitCode ?? 1)
  }
}

/** Waits for what is only known when a run begins. If no run comes, the input ends without it. */
async function waitForRun(): Promise<void> {
  const input = await text(process.stdin)
  if (input === '') process.exit()
  const { args: further, env } = JSON.parse(input)
  args.push(...further)
  process.argv.push(...further)
  Object.assign(process.env, env)
}

/** Undefined if the package has no interface for programs. In all versions from 3.0 on, it lies beside the script. */
async function loadApi(): Promise<typeof import('vitest/node') | undefined> {
  const file = join(dirname(script), 'dist/node.js')
  return existsSync(file) ? import(pathToFileURL(file).href) : undefined
}

async function run(api: typeof import('vitest/node')): Promise<void> {
  const { createVitest, parseCLI } = api
  const { default: EventReporter } = await import('./vitest-reporter.ts')
  refuseUnknownOptions(api)
  const { filter, options } = parseCLI(['vitest', ...args])
  const { exclude, ...others } = options as { readonly exclude?: string | readonly string[] }
  // Vitest's command does this after it has parsed its arguments.
  const cliOptions = {
    ...others,
    ...(exclude === undefined ? {} : { cliExclude: [exclude].flat() }),
    ...(filter.some((name) => name.includes(':')) ? { includeTaskLocation: true } : {}),
  }
  Object.assign(process.env, { TEST: 'true', VITEST: 'true', NODE_ENV: process.env.NODE_ENV ?? 'test' })
  const vitest = await createVitest('test', { ...cliOptions, run: true, watch: false })
  // All versions from 3.0 on have this field, but version 5.1 does not declare it.
  const { reporters } = vitest as unknown as { readonly reporters: Reporter[] }
  reporters.push(new EventReporter())
  try {
    await vitest.start(filter)
  } catch (error) {
    // If there are no tests, Vitest has said so and has set the exit code.
    if (codeOf(error) !== 'VITEST_FILES_NOT_FOUND') {
      process.exitCode = 1
      vitest.logger.printError(error, { fullStack: true, type: 'Unhandled Error' })
    }
  }
  await vitest.exit()
}

/** Vitest's command refuses an unknown option, but `parseCLI` does not. Only from version 5 on, Vitest gives its command. */
function refuseUnknownOptions({ createCLI }: Partial<typeof import('vitest/node')>): void {
  const commandLine = createCLI?.()
  commandLine?.parse(['node', 'vitest', ...args], { run: false })
  commandLine?.matchedCommand?.checkUnknownOptions()
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
