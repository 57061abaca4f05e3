import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigurationError } from './configuration.ts'
import { type LocalService, startLocalService } from './local-service.ts'

const USAGE = `Usage: test-run-service [folder] [options]

Serves a Vitest or Playwright Test project on this machine: the folder, or the current one.

  --config FILE      projects, environments, suites and limits, as JSON (see the README)
  --port NUMBER      the port; default: any free one
  --key-file FILE    API keys, one on each line; default: the variable LOCAL_SERVICE_KEY, or a new key
  --key KEY          an API key; every user of this machine can see it in the list of processes
  --framework NAME   vitest or playwright, if the folder could be either
  --data FOLDER      where runs are kept; none: in memory only; default: a folder of your state
  --json             print address, key and projects as one line of JSON
  --help`

/** Errors that a person can do something about: their message is all that is shown. */
class UsageError extends Error {}

interface Invocation {
  readonly settings: object
  readonly folder: string
  readonly json: boolean
  /** The configuration file or the folder that is served: each has its own data. */
  readonly served: string
}

/** npm runs the script "service" in the repository's folder; INIT_CWD is the folder in which npm was called. */
function currentFolder(env: NodeJS.ProcessEnv): string {
  return (env.npm_lifecycle_event === 'service' ? env.INIT_CWD : undefined) ?? process.cwd()
}

const PARENT_CHECK_MS = 500

/** A signal that npm or npx gets alone does not reach this process, but ends its parent. */
function onParentExit(env: NodeJS.ProcessEnv, callback: () => void): void {
  if (env.npm_lifecycle_event !== 'service' && env.npm_lifecycle_event !== 'npx') return
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && callback(), PARENT_CHECK_MS).unref()
}

async function readInvocation(args: string[], env: NodeJS.ProcessEnv): Promise<Invocation | 'help'> {
  const { values, positionals } = parseArguments(args)
  if (values.help) return 'help'
  const here = currentFolder(env)
  const [folder, ...others] = positionals
  if (others.length > 0) throw new UsageError(`One folder at most, got also ${others.join(', ')}.\n\n${USAGE}`)

  const given: Record<string, unknown> = {}
  // What is not a number is passed on as it is, so that the message that refuses it shows it.
  if (values.port !== undefined) given.port = /^\d+$/.test(values.port) ? Number(values.port) : values.port
  const fileKeys = values['key-file'] === undefined ? [] : await readKeys(resolve(here, values['key-file']))
  const givenKeys = [...fileKeys, ...(values.key ?? [])]
  if (givenKeys.length > 0) given.keys = givenKeys
  else if (env.LOCAL_SERVICE_KEY) given.keys = [env.LOCAL_SERVICE_KEY]
  if (values.data !== undefined) given.data = values.data === 'none' ? 'none' : resolve(here, values.data)

  if (values.config !== undefined) {
    if (folder !== undefined || values.framework !== undefined) {
      throw new UsageError('With --config, give folder and framework in the file.')
    }
    const file = resolve(here, values.config)
    return {
      settings: { ...(await readSettings(file)), ...given },
      folder: dirname(file),
      json: values.json,
      served: file,
    }
  }
  if (folder === undefined && values.framework === undefined)
    return { settings: given, folder: here, json: values.json, served: here }
  const projectFolder = resolve(here, folder ?? '.')
  const project = {
    folder: projectFolder,
    ...(values.framework === undefined ? {} : { framework: values.framework }),
  }
  const id = projectFolder.split('/').at(-1) || 'project'
  return { settings: { ...given, projects: { [id]: project } }, folder: here, json: values.json, served: projectFolder }
}

function parseArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        port: { type: 'string' },
        key: { type: 'string', multiple: true },
        'key-file': { type: 'string' },
        framework: { type: 'string' },
        data: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // After the first sentence, Node gives advice that does not fit this command.
    const [sentence] = (error as Error).message.split('. ')
    throw new UsageError(`${sentence?.replace(/\.$/, '')}.\n\n${USAGE}`)
  }
}

async function readKeys(file: string): Promise<string[]> {
  const keys = (await readText(file, 'key file')).split(/\r?\n/).filter((line) => line !== '')
  if (keys.length === 0) throw new UsageError(`The key file ${file} is empty.`)
  return keys
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read the ${name}: ${(error as Error).message}`)
  }
}

async function readSettings(file: string): Promise<object> {
  const text = await readText(file, 'configuration file')
  try {
    const settings: unknown = JSON.parse(text)
    if (typeof settings === 'object' && settings !== null) return settings
  } catch (error) {
    throw new UsageError(`The configuration file ${file} is not JSON: ${(error as Error).message}`)
  }
  throw new UsageError(`The configuration file ${file} must hold a JSON object.`)
}

function printAddress({ url, keys, projects }: LocalService, json: boolean): void {
  if (json) {
    console.log(JSON.stringify({ url, key: keys[0], keys, projects }))
    return
  }
  console.log('The test run service is up; Ctrl-C stops it.')
  console.log(`Address: ${url}`)
  for (const key of keys) console.log(`Key: ${key}`)
  for (const { id, framework, folder } of projects) console.log(`Project: ${id} (${framework}, ${folder})`)
}

/** Below the user's own state, so that nobody else can put packages where the tests of a work tree would find them. */
function defaultDataFolder(served: string, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME?.startsWith('/') ? env.XDG_STATE_HOME : join(homedir(), '.local/state')
  const digest = createHash('sha256').update(served).digest('hex').slice(0, 8)
  return join(state, 'test-run-service', `${basename(served)}-${digest}`)
}

async function main(): Promise<void> {
  const stop = Promise.withResolvers<void>()
  // Before anything is started, so that nothing can be left behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())
  onParentExit(process.env, stop.resolve)

  const invocation = await readInvocation(process.argv.slice(2), process.env)
  if (invocation === 'help') {
    console.log(USAGE)
    return
  }
  // Tests must not see the service's key.
  const { LOCAL_SERVICE_KEY: _, ...env } = process.env
  const service = await startLocalService(invocation.settings, {
    folder: invocation.folder,
    env,
    dataFolder: defaultDataFolder(invocation.served, env),
    temporaryFolder: tmpdir(),
    log: (line) => console.error(line),
  })
  printAddress(service, invocation.json)
  await stop.promise
  await service.close()
}

// The reader of the output may exit first; the service continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

main().catch((error: unknown) => {
  const expected = error instanceof UsageError || error instanceof ConfigurationError
  if (isListenError(error)) console.error(`${error.message}. Choose another --port, or leave it out for any free one.`)
  else console.error(expected ? error.message : error)
  process.exitCode = 1
})

function isListenError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
