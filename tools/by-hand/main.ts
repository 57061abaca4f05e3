// `npm run by-hand`: runs a project with the framework's own command and through the local service, and compares.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { frameworkIn, versionOf } from './by-hand.ts'
import { describeEnd } from './compare.ts'
import { FRAMEWORKS, type Framework, UsageError } from './results.ts'
import { type Result, runBoth } from './run.ts'
import { runTable } from './table/table.ts'

const USAGE = `Usage: npm run by-hand -- FOLDER [ARGUMENTS]
       npm run by-hand -- --table [TEXT]

Runs the tests of a project with the framework's own command, and then through the local service. Prints both results, and a
sentence for each difference. ARGUMENTS are those of "npx vitest run", of "npx playwright test" or of "npx jest --ci".

If the package.json of FOLDER does not name one of them, write --framework=vitest, --framework=playwright or --framework=jest before
FOLDER. The tests of Vitest and Playwright run three times, because the framework's command runs once as you would type it, and once
more to write its report. If a run changes files, such as snapshots, later runs see the change.

--table runs this repository's table of projects and arguments. If TEXT is given, only rows whose name contains it run.

The exit code is 0 if both say the same, 1 if they differ, and 2 if nothing could be compared.`

const DIFFERENT = 1
const NOTHING_COMPARED = 2

const stop = new AbortController()

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

  const [first, filter = ''] = process.argv.slice(2)
  if (first === '--table') {
    if (await runTable(filter, console.log, stop.signal)) process.exitCode = DIFFERENT
    return
  }
  const { folder, args, named } = readArguments(process.argv.slice(2))
  if (folder === undefined) return console.log(USAGE)
  const framework = named ?? frameworkIn(folder)
  const version = versionOf(folder, framework)
  const given =
    args.length === 0 ? 'without arguments' : `with the arguments ${args.map((arg) => JSON.stringify(arg)).join(' ')}`
  console.log(`${framework} ${version} in ${folder}, ${given}\n`)
  const result = await runBoth({ framework, args, env: process.env, folder: () => folder }, stop.signal)
  console.log(describeResult(result))
  if (result.comparison.differences.length > 0) process.exitCode = DIFFERENT
}

interface Arguments {
  /** Undefined if only the usage is asked for. */
  readonly folder?: string
  readonly args: readonly string[]
  readonly named?: Framework | undefined
}

function readArguments(given: readonly string[]): Arguments {
  const [first = '', ...others] = given
  const [, name] = /^--framework=(.*)$/s.exec(first) ?? []
  if (name === undefined && first.startsWith('-') && first !== '--help')
    throw new UsageError(`The first argument is "${first}". Write the folder of the project first.`)
  const framework = FRAMEWORKS.find((one) => one === name)
  if (name !== undefined && framework === undefined)
    throw new UsageError(`The framework is "${name}". Write --framework=${FRAMEWORKS.join(' or --framework=')}.`)
  const [folder, ...args] = name === undefined ? given : others
  if (folder === undefined || folder === '--help') return { args: [] }
  // npm runs scripts in the folder of this repository. INIT_CWD is the folder in which a person called npm.
  const path = resolve(process.env.INIT_CWD ?? '.', folder)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${path}. Write the folder of the project first, and then the arguments.`)
  return { folder: path, args, named: framework }
}

/** Both results, and a sentence for each difference. */
function describeResult({ byHand, throughService, comparison }: Result): string {
  const { differences, stricter } = comparison
  const conclusion =
    differences.length > 0
      ? ['Differences:', ...differences.map((text) => `- ${text}`)]
      : [stricter === undefined ? 'Both say the same.' : `The service is stricter, as its page says. ${stricter}`]
  const output =
    byHand.end === 0 && differences.length === 0 ? [] : ['', 'The output by hand:', byHand.output.trimEnd()]
  const { report } = byHand
  const ofHand = [describeEnd(byHand), ...(report === undefined ? ['no report'] : countsOf(report.tests))]
  const ofService =
    throughService.kind === 'refused' ? ['refused'] : [throughService.status, ...countsOf(throughService.testCases)]
  const results = [`by hand: ${ofHand.join(', ')}`, `through the service: ${ofService.join(', ')}`]
  return [...results, ...output, '', ...conclusion].join('\n')
}

/** Such as `3 PASSED`. */
function countsOf(tests: readonly { readonly status: string }[]): string[] {
  const byStatus = Map.groupBy(tests, ({ status }) => status)
  return [...byStatus].map(([status, all]) => `${all.length} ${status}`).sort()
}

await main().catch((error: Error) => {
  if (!(error instanceof UsageError || stop.signal.aborted)) throw error
  console.error(stop.signal.aborted ? 'Stopped.' : error.message)
  process.exitCode = NOTHING_COMPARED
})
