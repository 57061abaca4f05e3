import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Contexts, renderTemplate } from './expressions.ts'

/** What `action.yml` says about a JavaScript action. */
export interface ActionManifest {
  readonly name: string
  readonly inputs: readonly DeclaredInput[]
  /** Absolute paths. */
  readonly main: string
  readonly post?: string | undefined
  readonly postIf: string
}

export interface DeclaredInput {
  readonly name: string
  /** As in the file. It may contain expressions. */
  readonly default: string
}

export function readManifest(actionDir: string): ActionManifest {
  const { name, inputs, runs } = parse(readFileSync(join(actionDir, 'action.yml'), 'utf8'))
  return {
    name: String(name),
    inputs: Object.entries<Partial<DeclaredInput> | null>(inputs ?? {}).map(([name, declared]) => ({
      name,
      default: String(declared?.default ?? ''),
    })),
    main: join(actionDir, runs.main),
    post: runs.post && join(actionDir, runs.post),
    postIf: String(runs['post-if'] ?? 'always()'),
  }
}

/**
 * The input values that a process of the step gets. A given value wins, even if it is empty. A default is evaluated again
 * for each process, so that post sees the status of the job. The runner writes the warnings.
 */
export function resolveInputs(manifest: ActionManifest, given: Readonly<Record<string, string>>, contexts: Contexts) {
  const rest = new Map(Object.entries(given))
  const values = new Map<string, string>()
  const warnings: string[] = []
  for (const input of manifest.inputs) {
    const name = [...rest.keys()].find((key) => key.toUpperCase() === input.name.toUpperCase())
    values.set(input.name, name === undefined ? renderTemplate(input.default, contexts) : (rest.get(name) ?? ''))
    if (name !== undefined) rest.delete(name)
  }
  if (rest.size > 0) {
    const declared = manifest.inputs.map(({ name }) => name).join("', '")
    warnings.push(`Unexpected input(s) '${[...rest.keys()].join("', '")}', valid inputs are ['${declared}']`)
    for (const [name, value] of rest) values.set(name, value)
  }
  return { values, warnings }
}
