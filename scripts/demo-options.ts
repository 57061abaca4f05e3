import { readFileSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const DEMO_USAGE = `Usage: npm start -- [options]

Runs both built actions as GitHub's runner would: local-service starts a test run service on this machine, and the gate
runs the tests of examples/web-shop there. Run "npm run build" first if you have changed src/ or local-service/src/. Proxies
that are set here are ignored.

  --folder FOLDER          tests the project in this folder instead
  --base-url ADDRESS       uses the service at this address instead, a service of your own. It tests the branch main, or
                           the branch that you name with --input branch=NAME
  --key-file FILE          with --base-url, a file with an API key of this service
  --project ID             with --base-url, a project of this service
  --input NAME=VALUE       an input of the gate's step, as in its \`with\`; may be given several times
  --service-input NAME=VALUE
                           an input of the step of local-service; may be given several times
  --fail                   brings a bug into the shop, for a run that fails
  --signal-after SECONDS   cancels the workflow this number of seconds after the start of the gate's step
  --help

Examples:
  npm start -- --input framework-project=unit --input summary=on-failure
  npm start -- --fail
  npm start -- --fail --input framework-project=unit --input report-dir=/tmp/reports
  npm start -- --fail --input baseline=/tmp/reports
  npm start -- --folder ../shop --signal-after 5
  npm start -- --folder /path/to/project
  npm start -- --folder /path/to/project --service-input report=junit.xml \\
    --service-input 'command=python -m pytest --junit-xml=junit.xml'
  npm start -- --base-url https://tests.example.com --key-file key.txt --project web-shop`

export interface DemoOptions {
  /** The `with` of the gate's step. */
  readonly inputs: Readonly<Record<string, string>>
  /** The project to test, and the `with` of the step of local-service. Undefined with a service of your own. */
  readonly localService?: { readonly folder: string; readonly inputs: Readonly<Record<string, string>> } | undefined
  readonly signalAfterMs?: number | undefined
}

const SHOP = resolve(import.meta.dirname, '../examples/web-shop')
/** With this variable, the shop has a bug. */
const BUG = 'WEB_SHOP_BUG=rounding'

/** Its message says what is wrong, which value was given, and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A relative path starts in `currentFolder`. */
export function parseDemoArguments(args: readonly string[], currentFolder = process.cwd()): DemoOptions | 'help' {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    return values.help ? 'help' : optionsOf(values, currentFolder)
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\.\s/)
    throw new UsageError(`${sentence}: see --help.`)
  }
}

const OPTIONS = {
  fail: { type: 'boolean', default: false },
  folder: { type: 'string' },
  'base-url': { type: 'string' },
  'key-file': { type: 'string' },
  project: { type: 'string' },
  input: { type: 'string', multiple: true, default: [] as string[] },
  'service-input': { type: 'string', multiple: true, default: [] as string[] },
  'signal-after': { type: 'string' },
  help: { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

function optionsOf(values: Values, currentFolder: string): DemoOptions {
  const { fail, folder, 'base-url': baseUrl } = values
  const named = readInputs('--input', values.input)
  if (fail && 'env-overrides' in named) throw new Error(`--fail sets env-overrides=${BUG}: give only one of them`)
  const given = [fail && '--fail', folder !== undefined && '--folder', baseUrl !== undefined && '--base-url']
  const [first, second] = given.filter((option) => option !== false)
  if (second !== undefined) throw new Error(`give only one of ${first} and ${second}`)
  return {
    inputs: {
      ...(baseUrl !== undefined && inputsOfOwnService(baseUrl, values, currentFolder)),
      ...(fail && { 'env-overrides': BUG }),
      ...named,
    },
    localService: baseUrl === undefined ? readLocalService(values, currentFolder) : undefined,
    signalAfterMs: readSeconds(values['signal-after']),
  }
}

function readInputs(option: string, given: readonly string[]): Record<string, string> {
  const inputs: Record<string, string> = {}
  for (const input of given) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(input) ?? []
    if (name === undefined || text === undefined) throw new Error(`${option} takes NAME=VALUE, but got "${input}"`)
    inputs[name] = text
  }
  return inputs
}

function readLocalService(values: Values, currentFolder: string): DemoOptions['localService'] {
  if (values['key-file'] !== undefined || values.project !== undefined) {
    throw new Error('--key-file and --project need --base-url')
  }
  const inputs = readInputs('--service-input', values['service-input'])
  if (values.folder === undefined) return { folder: SHOP, inputs }
  const folder = resolve(currentFolder, values.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`--folder takes the folder of a project, but there is no folder "${folder}"`)
  }
  return { folder: realpathSync(folder), inputs }
}

function inputsOfOwnService(baseUrl: string, values: Values, currentFolder: string): Record<string, string> {
  const { 'key-file': keyFile, project = '' } = values
  if (values['service-input'].length > 0) throw new Error('--service-input is not for a service of your own')
  if (keyFile === undefined) throw new Error('--base-url needs --key-file')
  const file = resolve(currentFolder, keyFile)
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new Error(`--key-file takes a file with an API key, but there is no file "${file}"`)
  }
  const key = readFileSync(file, 'utf8').trim()
  if (key === '') throw new Error(`The key file "${file}" is empty`)
  return { 'base-url': baseUrl, 'api-key': key, project }
}

function readSeconds(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const seconds = Number(given)
  if (given.trim() === '' || !(seconds >= 0 && seconds <= 3600)) {
    throw new Error(`--signal-after takes a number of seconds from 0 to 3600, but got "${given}"`)
  }
  return seconds * 1000
}
