import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readServiceInputs } from './configuration.ts'
import { ConfigurationError } from './project.ts'

export const USAGE = `Usage: npm run service -- [FOLDER] [options] [-- COMMAND]

Runs the tests of a project for the clients of the test run service's interface. It finds Vitest, Playwright Test and
Jest itself. For every other test tool, give --report and the COMMAND that runs the tests. The project is in FOLDER, or in the
current folder. The service prints its address, an API key and the id of the project. If the variable LOCAL_SERVICE_KEY is set, it
is the key. Ctrl-C stops the service.

  --config FILE      a JSON file with several projects, environments or suites; see "Configuration" in the README
  --port NUMBER      the port; default: any free port
  --framework NAME   vitest, playwright or jest, needed if the project has several
  --report PATTERNS  the JUnit files that the COMMAND writes, such as reports/*.xml; each line is a path or a pattern
  --merge FOLDER     a folder of the project with the blob reports of all shards; a run merges them, and runs no test
  --arg=ARGUMENT     a further argument for the tests, such as --arg=--shard=1/4; may be given several times
  --run-limit-minutes NUMBER  how long a run may take; default: 55
  --data FOLDER      the folder in which runs are kept, outside of the project; default: a folder in your home
  --json             print address, key and projects as one line of JSON
  --help             print this text

It exits with 2 if it cannot start with these arguments, this configuration, this port or this data folder, for example because
another service uses the folder.`

const OPTIONS = {
  config: { type: 'string' },
  port: { type: 'string' },
  framework: { type: 'string' },
  report: { type: 'string' },
  merge: { type: 'string' },
  arg: { type: 'string', multiple: true },
  'run-limit-minutes': { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Reads the command line. Undefined if it asks for help. Throws a ConfigurationError if it cannot be understood. */
export function readCommandLine(args: readonly string[], env: NodeJS.ProcessEnv, currentFolder: string) {
  const { values, positionals, command } = parseCommandLine(args)
  const { config, framework, report, merge, port, data, json, help, arg } = values
  if (help) return undefined
  const [folder, ...others] = positionals
  if (others.length > 0) throw new ConfigurationError(`Give one folder, not also ${others.join(', ')}.`)
  const { source, ...read } = readServiceInputs(
    { config, framework, report, merge, folder, command, args: arg, runLimitMinutes: values['run-limit-minutes'] },
    currentFolder,
  )
  // Each configuration file and each folder that is served has its own data.
  const dataFolder = data === undefined ? defaultDataFolder(source, env) : resolve(currentFolder, data)
  return { ...read, port, key: readKey(env), dataFolder, json }
}

/** A client sends the key in a header, where it ends at a space. Clients encode a letter such as ü in different ways. */
function readKey({ LOCAL_SERVICE_KEY: key = '' }: NodeJS.ProcessEnv): string | undefined {
  if (!/^[!-~]*$/.test(key)) {
    const next = 'Give a key of ASCII letters, digits and punctuation.'
    throw new ConfigurationError(`LOCAL_SERVICE_KEY has a space or a character that is not ASCII. ${next}`)
  }
  return key || undefined
}

function parseCommandLine(args: readonly string[]) {
  try {
    const end = args.includes('--') ? args.indexOf('--') : args.length
    const words = end < args.length ? args.slice(end + 1) : undefined
    // One word is a script, such as `-- 'make && pytest'`.
    const command = words?.length === 1 ? words[0] : words
    return { ...parseArgs({ args: args.slice(0, end), allowPositionals: true, options: OPTIONS }), command }
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\n\n${USAGE}`)
  }
}

/**
 * Below the user's home, where no other user can put packages. This matters, because work trees are in the data folder, and Node also looks
 * for packages in all folders above them.
 */
function defaultDataFolder(source: string, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME?.startsWith('/') ? env.XDG_STATE_HOME : join(homedir(), '.local/state')
  return join(state, 'test-run-service', `${basename(source)}-${hash('sha256', source).slice(0, 8)}`)
}
