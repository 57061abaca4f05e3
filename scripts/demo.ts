// `npm start` runs steps of a workflow on this machine. DEMO_USAGE lists its options.
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { readManifest } from '../tools/runner-emulator/step-runner/manifest.ts'
import { DEMO_USAGE, parseDemoArguments, UsageError } from './demo-options.ts'
import { runDemo } from './run-demo.ts'

const ROOT = resolve(import.meta.dirname, '..')
const USAGE_ERROR_EXIT_CODE = 2

async function main(): Promise<void> {
  // npm runs scripts in the folder of this repository. INIT_CWD is the folder in which a person called npm.
  const options = parseDemoArguments(process.argv.slice(2), process.env.INIT_CWD)
  if (options === 'help') return console.log(DEMO_USAGE)
  const script = readManifest(ROOT).main
  if (!existsSync(script)) throw new UsageError(`There is no ${relative(ROOT, script)}: run "npm run build" first.`)

  // Ctrl-C cancels the workflow. The demo then ends what it started, so a second Ctrl-C changes nothing.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  // If the reader of the log exits first, the demo still ends what it started.
  process.stdout.on('error', () => {})
  process.exitCode = await runDemo(options, {
    folder: resolve(ROOT, '.demo'),
    print: (line) => console.log(line),
    stop: stop.signal,
  })
}

await main().catch((error: Error) => {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = USAGE_ERROR_EXIT_CODE
})
