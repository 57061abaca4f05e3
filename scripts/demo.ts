// `npm start`: one step of a workflow, on this machine. DEMO_USAGE lists its options.
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { ConfigurationError } from '../local-service/src/configuration.ts'
import { readManifest } from '../tools/runner-emulator/manifest.ts'
import { DEMO_USAGE, parseDemoArguments } from './demo-options.ts'
import { FolderInUse, runDemo } from './run-demo.ts'

const ROOT = resolve(import.meta.dirname, '..')
const USAGE_ERROR_EXIT_CODE = 2

function refuse(message: string): void {
  console.error(message)
  process.exitCode = USAGE_ERROR_EXIT_CODE
}

async function main(): Promise<void> {
  const parsed = parseDemoArguments(process.argv.slice(2))
  if (parsed.kind === 'problem') return refuse(parsed.message)
  if (parsed.kind === 'help') return console.log(DEMO_USAGE)
  const script = readManifest(ROOT).main
  if (!existsSync(script)) return refuse(`There is no ${relative(ROOT, script)}: run "npm run build" first.`)

  // Ctrl-C cancels the workflow. One is enough: the demo then ends what it started.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  // The reader of the log may exit first; the demo still ends what it started.
  process.stdout.on('error', () => {})
  try {
    process.exitCode = await runDemo(parsed.options, {
      folder: resolve(ROOT, '.demo'),
      print: (line) => console.log(line),
      stop: stop.signal,
    })
  } catch (error) {
    if (error instanceof FolderInUse || error instanceof ConfigurationError) return refuse(error.message)
    throw error
  }
}

await main()
