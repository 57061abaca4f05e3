import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigurationError } from './configuration.ts'
import { type LocalService, startLocalService } from './local-service.ts'

const USAGE = `Usage: npm run service -- [folder] [options]

Serves a Vitest or Playwright Test project on this machine: the folder, or the one you stand in.

  --config FILE      projects, environments, suites and limits, as JSON (see local-service/README.md)
  --port NUMBER      the port; default: any free one
  --key KEY          an API key, may be given several times; default: LOCAL_SERVICE_KEY, or a new one
  --framework NAME   vitest or playwright, where the folder could be either
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

function isNpmScript(env: NodeJS.ProcessEnv): boolean {
  return env.npm_lifecycle_event === 'service'
}

/** npm runs scripts in the package's folder and says in INIT_CWD where the person stands. */
function standingIn(env: NodeJS.ProcessEnv): string {
  return (isNpmScript(env) ? env.INIT_CWD : undefined) ?? process.cwd()
}

const PARENT_CHECK_MS = 500

/** npm hands a signal that it gets alone to the shell around the script, and the shell just ends: notice that. */
function whenParentEnds(then: () => void): void {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && then(), PARENT_CHECK_MS).unref()
}

async function readInvocation(args: string[], env: NodeJS.ProcessEnv): Promise<Invocation | 'help'> {
  const { values, positionals } = parseArguments(args)
  if (values.help) return 'help'
  const here = standingIn(env)
  const [folder, ...others] = positionals
  if (others.length > 0) throw new UsageError(`One folder at most, got also ${others.join(', ')}.\n\n${USAGE}`)

  const given: Record<string, unknown> = {}
  // What is no number goes on as it is, for the message that refuses it.
  if (values.port !== undefined) given.port = /^\d+$/.test(values.port) ? Number(values.port) : values.port
  const keys = values.key ?? (env.LOCAL_SERVICE_KEY ? [env.LOCAL_SERVICE_KEY] : undefined)
  if (keys !== undefined) given.keys = keys
  if (values.data !== undefined) given.data = values.data === 'none' ? 'none' : resolve(here, values.data)

  if (values.config !== undefined) {
    if (folder !== undefined || values.framework !== undefined) {
      throw new UsageError('With --config, folder and framework belong into the file.')
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
        framework: { type: 'string' },
        data: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // Node's advice on how to pass such a thing on, after the first sentence, is none for this command.
    const [sentence] = (error as Error).message.split('. ')
    throw new UsageError(`${sentence?.replace(/\.$/, '')}.\n\n${USAGE}`)
  }
}

async function readSettings(file: string): Promise<object> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`The configuration file cannot be read: ${(error as Error).message}`)
  }
  try {
    const settings: unknown = JSON.parse(text)
    if (typeof settings === 'object' && settings !== null) return settings
  } catch (error) {
    throw new UsageError(`The configuration file ${file} is not JSON: ${(error as Error).message}`)
  }
  throw new UsageError(`The configuration file ${file} must hold a JSON object.`)
}

function announce({ url, keys, projects }: LocalService, json: boolean): void {
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
  if (isNpmScript(process.env)) whenParentEnds(stop.resolve)

  const invocation = await readInvocation(process.argv.slice(2), process.env)
  if (invocation === 'help') {
    console.log(USAGE)
    return
  }
  // The tests have no business with the service's key.
  const { LOCAL_SERVICE_KEY: _, ...env } = process.env
  const service = await startLocalService(invocation.settings, {
    folder: invocation.folder,
    env,
    dataFolder: defaultDataFolder(invocation.served, env),
    temporaryFolder: tmpdir(),
    log: (line) => console.error(line),
  })
  announce(service, invocation.json)
  await stop.promise
  await service.close()
}

// Whoever reads the output may go away first; the service goes on.
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
