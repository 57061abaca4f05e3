import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { API_KEY, HIGHEST_PORT } from './configuration.ts'
import { isObject } from './frameworks/framework.ts'
import { FRAMEWORK_NAMES, idOfFolder } from './project.ts'
import { quote } from './text.ts'

export const USAGE = `Usage: test-run-service [FOLDER] [options]

Runs the tests of a Vitest or Playwright Test project for the clients of the test run service's interface. The project is in
FOLDER, or in the current folder. The service prints its address, an API key and the id of the project. Ctrl-C stops it.

  --config FILE      a JSON file with several projects, environments, suites and limits; see "Configuration" in the README
  --port NUMBER      the port; default: any free port
  --key-file FILE    a file with one API key on each line
  --key KEY          an API key; every user of this machine can see it in the list of processes
  --framework NAME   vitest or playwright; needed if the project has both
  --arg=ARGUMENT     a further argument for Vitest or Playwright, such as --arg=--shard=1/4; may be given several times
  --data FOLDER      the folder in which runs are kept; default: a folder in your home
  --json             print address, keys and projects as one line of JSON
  --version          print the version
  --help             print this text

Without --key-file and --key, the API key is the variable LOCAL_SERVICE_KEY, or a key of the configuration file, or a new key.

If it cannot start with these arguments, this configuration or this port, it exits with 2.`

/** An error that a person can correct. Only its message is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Turns the command line into settings. Throws a UsageError if the command line cannot be understood. */
export async function readInvocation(args: readonly string[], env: NodeJS.ProcessEnv, processFolder: string) {
  const { values, positionals } = parseCommandLine(args)
  if (values.help) return { text: USAGE }
  if (values.version) return { text: await readVersion() }
  const here = currentFolder(env, processFolder)
  const [folder, ...others] = positionals
  if (others.length > 0) throw new UsageError(`Give one folder, not also ${others.join(', ')}.\n\n${USAGE}`)

  const given: Record<string, unknown> = {}
  if (values.port !== undefined) given.port = readPort(values.port)
  const fileKeys = values['key-file'] === undefined ? [] : await readKeys(resolve(here, values['key-file']))
  const givenKeys = [...fileKeys, ...usableKeys(values.key ?? [], '--key')]
  if (givenKeys.length > 0) given.keys = givenKeys
  else if (env.LOCAL_SERVICE_KEY) given.keys = usableKeys([env.LOCAL_SERVICE_KEY], 'the variable LOCAL_SERVICE_KEY')

  // Each configuration file and each folder that is served has its own data.
  const invocation = (settings: object, served: string, base: string) => ({
    settings: { ...settings, ...given } as object,
    /** Where relative folders in the settings start. */
    folder: base,
    dataFolder: values.data === undefined ? defaultDataFolder(served, env) : resolve(here, values.data),
    json: values.json,
  })
  if (values.config !== undefined) {
    if (folder !== undefined || values.framework !== undefined || values.arg !== undefined) {
      throw new UsageError('With --config, give folder, framework and args in the file.')
    }
    const file = resolve(here, values.config)
    return invocation(await readSettings(file), file, dirname(file))
  }
  const projectFolder = resolve(here, folder ?? '.')
  if (!statSync(projectFolder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`There is no folder ${projectFolder}. Give the folder of a Vitest or Playwright Test project.`)
  }
  const { framework, arg: furtherArgs } = values
  if (framework !== undefined && !FRAMEWORK_NAMES.some((name) => name === framework)) {
    throw new UsageError(`--framework must be ${FRAMEWORK_NAMES.join(' or ')}, got ${quote(framework)}.`)
  }
  const project = { folder: projectFolder, framework, args: furtherArgs }
  return invocation({ projects: { [idOfFolder(projectFolder)]: project } }, projectFolder, here)
}

const OPTIONS = {
  config: { type: 'string' },
  port: { type: 'string' },
  key: { type: 'string', multiple: true },
  'key-file': { type: 'string' },
  framework: { type: 'string' },
  arg: { type: 'string', multiple: true },
  data: { type: 'string' },
  json: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** The package's manifest lies above this file, in the repository and in the package. */
async function readVersion(): Promise<string> {
  return JSON.parse(await readFile(findPackageJSON('.', import.meta.url) ?? '', 'utf8')).version
}

/** Throws a UsageError that shows the usage. */
function parseCommandLine(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
    const [empty] = Object.entries(parsed.values).find(([, value]) => [value].flat().includes('')) ?? []
    if (empty !== undefined) throw new Error(`--${empty} is empty`)
    return parsed
  } catch (error) {
    // After the first sentence, Node gives advice that does not fit this command.
    const [sentence] = (error as Error).message.split('. ')
    throw new UsageError(`${sentence?.replace(/\.$/, '')}.\n\n${USAGE}`)
  }
}

function readPort(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= HIGHEST_PORT) return Number(text)
  throw new UsageError(`--port must be a whole number from 0 to ${HIGHEST_PORT}, got ${quote(text)}.`)
}

async function readKeys(file: string): Promise<readonly string[]> {
  const keys = (await readText(file, 'key file')).split(/\r?\n/).filter((line) => line !== '')
  if (keys.length === 0) throw new UsageError(`The key file ${file} is empty. Write one API key on each line.`)
  return usableKeys(keys, `the key file ${file}`)
}

/** The message shows no key. */
function usableKeys(keys: readonly string[], source: string): readonly string[] {
  if (keys.every((key) => API_KEY.test(key))) return keys
  throw new UsageError(`An API key in ${source} has a space or a character that no header can have.`)
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(code === 'ENOENT' ? `There is no ${name} ${file}.` : `Cannot read the ${name}: ${message}.`)
  }
}

async function readSettings(file: string): Promise<object> {
  const text = await readText(file, 'configuration file')
  try {
    const settings: unknown = JSON.parse(text)
    if (isObject(settings)) return settings
  } catch (error) {
    throw new UsageError(`The configuration file ${file} is not JSON: ${(error as Error).message}`)
  }
  throw new UsageError(`The configuration file ${file} must be a JSON object.`)
}

/**
 * npm and npx give these variables to every process that they start, directly or not. The values show whether npm or npx
 * was called for this command.
 */
export function isStartedByNpm({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script,
}: NodeJS.ProcessEnv): boolean {
  return event === 'service' || (event === 'npx' && script?.includes('test-run-service') === true)
}

/** npm runs the script "service" in the repository's folder. INIT_CWD is the folder in which npm was called. */
function currentFolder(env: NodeJS.ProcessEnv, processFolder: string): string {
  return (env.npm_lifecycle_event === 'service' ? env.INIT_CWD : undefined) ?? processFolder
}

/**
 * The folder lies below the user's own state. So nobody else can put packages where the tests of a work tree would find
 * them.
 */
function defaultDataFolder(served: string, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME?.startsWith('/') ? env.XDG_STATE_HOME : join(homedir(), '.local/state')
  const digest = createHash('sha256').update(served).digest('hex').slice(0, 8)
  return join(state, 'test-run-service', `${basename(served)}-${digest}`)
}
