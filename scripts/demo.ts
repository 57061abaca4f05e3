// `npm start`: one step of a workflow, on this machine. DEMO_USAGE says what it takes.
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { styleText } from 'node:util'
import { ConfigurationError } from '../local-service/src/configuration.ts'
import { readManifest } from '../tools/runner-emulator/manifest.ts'
import { DEMO_USAGE, parseDemoArguments } from './demo-options.ts'
import { FolderInUse, runDemo } from './run-demo.ts'

const ROOT = resolve(import.meta.dirname, '..')
const EXIT_CODE_OF_A_MISTAKE = 2

function refuse(sentence: string): void {
  console.error(sentence)
  process.exitCode = EXIT_CODE_OF_A_MISTAKE
}

async function main(): Promise<void> {
  const parsed = parseDemoArguments(process.argv.slice(2))
  if (parsed.kind === 'mistake') return refuse(parsed.sentence)
  if (parsed.kind === 'help') return console.log(DEMO_USAGE)
  const script = readManifest(ROOT).main
  if (!existsSync(script)) return refuse(`There is no ${relative(ROOT, script)}: run "npm run build" first.`)

  // Ctrl-C is the workflow's Cancel button here. What the demo started is still ended in order, so once is enough.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  // Whoever reads the log may go away first; what was started is still ended.
  process.stdout.on('error', () => {})
  try {
    process.exitCode = await runDemo(parsed.options, {
      folder: resolve(ROOT, '.demo'),
      print: (line) => console.log(line),
      style: (format, text) => styleText(format, text, { stream: process.stdout }),
      stop: stop.signal,
    })
  } catch (error) {
    if (error instanceof FolderInUse || error instanceof ConfigurationError) return refuse(error.message)
    throw error
  }
}

await main()
