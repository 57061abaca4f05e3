import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const DEMO_USAGE = `Usage: npm start -- [options]

Runs the built action as GitHub's runner would, against a test run service on this machine that really runs the tests
of examples/web-shop. Run "npm run build" first if you have changed src/. Proxies that are set here are ignored.

  --folder FOLDER          tests the Vitest or Playwright project in this folder instead, with both actions: local-service
                           starts the service, and the gate runs the tests there
  --input NAME=VALUE       an input of the gate's step, as in its \`with\`; may be given several times
  --service-input NAME=VALUE
                           with --folder, an input of the step of local-service; may be given several times
  --fail                   brings a bug into the shop, for a run that fails
  --signal-after SECONDS   cancels the workflow this number of seconds after the start of the gate's step
  --help

Examples:
  npm start -- --input framework-project=unit --input summary=on-failure
  npm start -- --input branch=main --input wait=false
  npm start -- --fail
  npm start -- --signal-after 1
  npm start -- --folder /path/to/project`

export interface DemoOptions {
  /** The `with` of the gate's step, without the inputs that the demo sets. */
  readonly inputs: Readonly<Record<string, string>>
  /** The project to test instead of the shop. */
  readonly project?: OwnProject | undefined
  readonly signalAfterMs?: number | undefined
}

export interface OwnProject {
  readonly folder: string
  /** The `with` of the step of local-service. */
  readonly serviceInputs: Readonly<Record<string, string>>
}

/** With this variable, examples/web-shop has a bug. */
const BUG = 'WEB_SHOP_BUG=rounding'

/** Its message says what is wrong, which value was given, and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A relative folder starts in `currentFolder`. */
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
  input: { type: 'string', multiple: true, default: [] as string[] },
  'service-input': { type: 'string', multiple: true, default: [] as string[] },
  'signal-after': { type: 'string' },
  help: { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

function optionsOf(values: Values, currentFolder: string): DemoOptions {
  const { fail, folder } = values
  const given = readInputs('--input', values.input)
  if (fail && 'env-overrides' in given) throw new Error(`--fail sets env-overrides=${BUG}: give only one of them`)
  if (fail && folder !== undefined) throw new Error('--fail is for the shop: give only one of --fail and --folder')
  const inputs = { ...(fail && { 'env-overrides': BUG }), ...given }
  const project = readProject(folder, readInputs('--service-input', values['service-input']), currentFolder)
  return { inputs, project, signalAfterMs: readSeconds(values['signal-after']) }
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

function readProject(
  given: string | undefined,
  serviceInputs: Readonly<Record<string, string>>,
  currentFolder: string,
): OwnProject | undefined {
  if (given === undefined) {
    if (Object.keys(serviceInputs).length > 0) throw new Error('--service-input needs --folder')
    return undefined
  }
  const folder = resolve(currentFolder, given)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`--folder takes the folder of a project, but there is no folder "${folder}"`)
  }
  return { folder: realpathSync(folder), serviceInputs }
}

function readSeconds(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const seconds = Number(given)
  if (given.trim() === '' || !(seconds >= 0 && seconds <= 3600)) {
    throw new Error(`--signal-after takes a number of seconds from 0 to 3600, but got "${given}"`)
  }
  return seconds * 1000
}
