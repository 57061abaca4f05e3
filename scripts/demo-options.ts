import { parseArgs } from 'node:util'

export const DEMO_USAGE = `Usage: npm start -- [options]

Runs the built action as GitHub's runner would, against a test run service on this machine that really runs the tests
of examples/web-shop. Run "npm run build" first if you have changed src/. Proxies that are set here are ignored.

  --input NAME=VALUE       an input of the step, as in its \`with\`; may be given several times
  --fail                   brings a bug into the shop, for a run that fails
  --signal-after SECONDS   cancels the workflow so many seconds after the step's start
  --help

Examples:
  npm start -- --input framework-project=unit --input summary=on-failure
  npm start -- --input branch=main --input wait=false
  npm start -- --fail
  npm start -- --signal-after 1`

export interface DemoOptions {
  /** The step's \`with\`, beside what the demo fills in. */
  readonly inputs: Readonly<Record<string, string>>
  readonly signalAfterMs?: number | undefined
}

export type ParsedArguments =
  | { readonly kind: 'run'; readonly options: DemoOptions }
  | { readonly kind: 'help' }
  /** One sentence: what is wrong, which value was given, what to do. */
  | { readonly kind: 'problem'; readonly message: string }

/** The switch in examples/web-shop that brings a bug into it. */
const BUG = 'WEB_SHOP_BUG=rounding'

export function parseDemoArguments(args: readonly string[]): ParsedArguments {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true })
  const inputs: Record<string, string> = {}
  let fail = false
  let signalAfterMs: number | undefined
  for (const token of tokens) {
    if (token.kind !== 'option') {
      if (token.kind === 'option-terminator') continue
      return problem(`"${token.value}" is not an option: this command takes only options, see --help.`)
    }
    const { value } = token
    switch (token.name) {
      case 'help':
        return { kind: 'help' }
      case 'fail':
        if (value !== undefined) return problem(`--fail takes no value, but "${value}" was given: leave it out.`)
        fail = true
        break
      case 'input': {
        const [, name, text] = /^([^=]+)=(.*)$/s.exec(value ?? '') ?? []
        if (name === undefined || text === undefined) {
          return problem(`--input takes NAME=VALUE, but got "${value ?? ''}": write for example --input wait=false.`)
        }
        inputs[name] = text
        break
      }
      case 'signal-after': {
        const seconds = Number(value)
        if (value === undefined || value.trim() === '' || !(seconds >= 0 && seconds <= 3600)) {
          return problem(`--signal-after takes a number of seconds from 0 to 3600, but got "${value ?? ''}".`)
        }
        signalAfterMs = seconds * 1000
        break
      }
      default:
        return problem(
          `There is no option ${token.rawName}: the options are --fail, --input, --signal-after and --help.`,
        )
    }
  }
  if (fail && 'env-overrides' in inputs) {
    return problem(
      `--fail sets the input env-overrides itself: leave one of the two out, or add ${BUG} to your own value.`,
    )
  }
  return {
    kind: 'run',
    options: { inputs: fail ? { 'env-overrides': BUG, ...inputs } : inputs, signalAfterMs },
  }
}

const OPTIONS = {
  fail: { type: 'boolean' },
  input: { type: 'string', multiple: true },
  'signal-after': { type: 'string' },
  help: { type: 'boolean' },
} as const

function problem(message: string): ParsedArguments {
  return { kind: 'problem', message }
}
