import { parseArgs } from 'node:util'

export const DEMO_USAGE = `Usage: npm start -- [options]

Runs the built action as GitHub's runner would, against a test run service on this machine that really runs the tests
of examples/web-shop. Run "npm run build" first if you have changed src/. Proxies that are set here are ignored.

  --input NAME=VALUE       an input of the step, as in its \`with\`; may be given several times
  --fail                   brings a bug into the shop, for a run that fails
  --signal-after SECONDS   cancels the workflow this number of seconds after the step's start
  --help

Examples:
  npm start -- --input framework-project=unit --input summary=on-failure
  npm start -- --input branch=main --input wait=false
  npm start -- --fail
  npm start -- --signal-after 1`

export interface DemoOptions {
  /** The step's `with`, without the inputs that the demo sets. */
  readonly inputs: Readonly<Record<string, string>>
  readonly signalAfterMs?: number | undefined
}

/** With this variable, examples/web-shop has a bug. */
const BUG = 'WEB_SHOP_BUG=rounding'

/** Its message says what is wrong, which value was given, and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseDemoArguments(args: readonly string[]): DemoOptions | 'help' {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    return values.help ? 'help' : optionsOf(values)
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\.\s/)
    throw new UsageError(`${sentence}: see --help.`)
  }
}

const OPTIONS = {
  fail: { type: 'boolean', default: false },
  input: { type: 'string', multiple: true, default: [] as string[] },
  'signal-after': { type: 'string' },
  help: { type: 'boolean' },
} as const

function optionsOf(values: { fail: boolean; input: string[]; 'signal-after'?: string | undefined }): DemoOptions {
  const inputs: Record<string, string> = values.fail ? { 'env-overrides': BUG } : {}
  for (const given of values.input) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(given) ?? []
    if (name === undefined || text === undefined) throw new Error(`--input takes NAME=VALUE, but got "${given}"`)
    if (name === 'env-overrides' && values.fail)
      throw new Error(`--fail sets env-overrides=${BUG}: give only one of them`)
    inputs[name] = text
  }
  const given = values['signal-after']
  if (given === undefined) return { inputs }
  const seconds = Number(given)
  if (given.trim() === '' || !(seconds >= 0 && seconds <= 3600)) {
    throw new Error(`--signal-after takes a number of seconds from 0 to 3600, but got "${given}"`)
  }
  return { inputs, signalAfterMs: seconds * 1000 }
}
