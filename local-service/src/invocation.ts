import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { isObject } from './frameworks/framework.ts'

export const USAGE = `Usage: test-run-service [folder] [options]
       test-run-service check --help   checks any service against the interface

Serves a Vitest or Playwright Test project on this machine: the folder, or the current one.

  --config FILE      projects, environments, suites and limits, as JSON (see the README)
  --port NUMBER      the port; default: any free one
  --key-file FILE    API keys, one on each line; default: the variable LOCAL_SERVICE_KEY, or a new key
  --key KEY          an API key; every user of this machine can see it in the list of processes
  --framework NAME   vitest or playwright, if the folder could be either
  --data FOLDER      where runs are kept; none: in memory only; default: a folder of your state
  --json             print address, key and projects as one line of JSON
  --version
  --help`

/** An error that a person can correct. Only its message is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Turns the command line into settings. Throws a UsageError if the command line cannot be understood. */
export async function readInvocation(args: readonly string[], env: NodeJS.ProcessEnv, processFolder: string) {
  const { values, positionals } = parseCommandLine(args, OPTIONS, USAGE)
  if (values.help) return { text: USAGE }
  if (values.version) return { text: await readVersion() }
  const here = currentFolder(env, processFolder)
  const [folder, ...others] = positionals
  if (others.length > 0) throw new UsageError(`One folder at most, got also ${others.join(', ')}.\n\n${USAGE}`)

  const given: Record<string, unknown> = {}
  // A port that is not a number is passed on unchanged, so that the refusal shows it.
  if (values.port !== undefined) given.port = /^\d+$/.test(values.port) ? Number(values.port) : values.port
  const fileKeys = values['key-file'] === undefined ? [] : await readKeys(resolve(here, values['key-file']))
  const givenKeys = [...fileKeys, ...(values.key ?? [])]
  if (givenKeys.length > 0) given.keys = givenKeys
  else if (env.LOCAL_SERVICE_KEY) given.keys = [env.LOCAL_SERVICE_KEY]
  if (values.data !== undefined) given.data = values.data === 'none' ? 'none' : resolve(here, values.data)

  // Each configuration file and each folder that is served has its own data.
  const invocation = (settings: object, served: string, base: string) => ({
    settings: { ...settings, ...given } as object,
    /** Where relative folders in the settings start. */
    folder: base,
    dataFolder: defaultDataFolder(served, env),
    json: values.json,
  })
  if (values.config !== undefined) {
    if (folder !== undefined || values.framework !== undefined) {
      throw new UsageError('With --config, give folder and framework in the file.')
    }
    const file = resolve(here, values.config)
    return invocation(await readSettings(file), file, dirname(file))
  }
  const projectFolder = resolve(here, folder ?? '.')
  const project = { folder: projectFolder, framework: values.framework }
  return invocation({ projects: { [basename(projectFolder) || 'project']: project } }, projectFolder, here)
}

const OPTIONS = {
  config: { type: 'string' },
  port: { type: 'string' },
  key: { type: 'string', multiple: true },
  'key-file': { type: 'string' },
  framework: { type: 'string' },
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
export function parseCommandLine<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    // After the first sentence, Node gives advice that does not fit this command.
    const [sentence] = (error as Error).message.split('. ')
    throw new UsageError(`${sentence?.replace(/\.$/, '')}.\n\n${usage}`)
  }
}

export async function readKeys(file: string): Promise<string[]> {
  const keys = (await readText(file, 'key file')).split(/\r?\n/).filter((line) => line !== '')
  if (keys.length === 0) throw new UsageError(`The key file ${file} is empty.`)
  return keys
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

/** Every process below npm or npx has their variables. The values show whether npm or npx was called for this command. */
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
