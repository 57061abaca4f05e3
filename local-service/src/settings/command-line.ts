import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../../../src/text/untrusted.ts'
import { ConfigurationError, readOrder } from './configuration.ts'

export const USAGE = `Usage: npm run service -- [FOLDER] [options]

Runs the tests of a project for the clients of the test run service's interface. It finds Vitest, Playwright Test and
Jest itself. The project is in FOLDER, or in the current folder. The service prints its address, an API key and the id of the
project. Ctrl-C stops the service.

  --config FILE      a JSON file with every other setting of a project; see "Configuration" in the README
  --run-limit-minutes NUMBER  how long a run may take; default: 55
  --data FOLDER      the folder in which runs are kept, outside of the project; default: a folder in your home
  --json             print address, key and projects as one line of JSON
  --help             print this text

If it cannot start with these arguments or this configuration, it exits with 2.`

const OPTIONS = {
  config: { type: 'string' },
  'run-limit-minutes': { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Reads the command line. Undefined if it asks for help. Throws a ConfigurationError if it cannot be understood. */
export function readCommandLine(args: readonly string[], env: NodeJS.ProcessEnv, currentFolder: string) {
  const { values, positionals } = parseCommandLine(args)
  if (values.help) return undefined
  const [folder, ...others] = positionals
  if (others.length > 0) throw new ConfigurationError(`Give one folder, not also ${others.join(', ')}.`)
  const { config, data, json, 'run-limit-minutes': runLimitMinutes } = values
  const { source, ...read } = readOrder({ folder, config, runLimitMinutes }, currentFolder)
  return {
    ...read,
    // Each configuration file and each folder that is served has its own data.
    dataFolder: data === undefined ? defaultDataFolder(source, env) : resolve(currentFolder, data),
    json,
  }
}

function parseCommandLine(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\n\n${USAGE}`)
  }
}

/** Nobody else can write below the user's own state. So the tests of a work tree find no packages of somebody else. */
function defaultDataFolder(source: string, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME?.startsWith('/') ? env.XDG_STATE_HOME : join(homedir(), '.local/state')
  return join(state, 'test-run-service', `${basename(source)}-${hash('sha256', source).slice(0, 8)}`)
}
