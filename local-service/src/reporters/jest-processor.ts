import { pathToFileURL } from 'node:url'
import { loadJest, readConfigured } from './jest-config.ts'
import { describeResults, type JestResults } from './jest-results.ts'
import { ReportWriter } from './report-writer.ts'

// Jest calls this file with the results when the tests have ended, as its option `--testResultsProcessor`. If a project has a command,
// nothing else can carry the results out and leave the project's reporters in force.

export default async function processResults(results: JestResults): Promise<JestResults> {
  const report = new ReportWriter()
  report.finish(describeResults(results, report))
  const configured = await findConfigured()
  return configured === undefined ? results : configured(results)
}

type Processor = (results: JestResults) => Promise<JestResults>

/** The option has replaced the one that the project has configured. If that one cannot be loaded, Jest fails, as it does by hand. */
async function findConfigured(): Promise<Processor | undefined> {
  const path = await findPath().catch((error: Error) => {
    if (error.message.includes(OPTION)) throw error
    // The command may be another program that starts Jest, and then its arguments mean something else.
    console.warn(`The service cannot find out whether the project has a ${OPTION}: ${error.message}`)
  })
  if (typeof path !== 'string') return undefined
  const { default: exported } = await import(pathToFileURL(path).href)
  // Babel and TypeScript put a default export into the exports of CommonJS.
  return exported.default ?? exported
}

const OPTION = 'testResultsProcessor'

async function findPath() {
  const [, script = '', ...args] = process.argv
  const jest = loadJest(script)
  const argv = await jest.buildArgv(args)
  return (await readConfigured(jest, { ...argv, [OPTION]: undefined }))[OPTION]
}
