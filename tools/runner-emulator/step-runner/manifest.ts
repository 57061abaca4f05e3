import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Contexts, renderTemplate } from './expressions.ts'

export interface ActionManifest {
  readonly name: string
  /** The default of each declared input, as in the file. It may contain expressions. */
  readonly defaults: Readonly<Record<string, string>>
  /** Absolute paths. */
  readonly main: string
  readonly post?: string | undefined
}

export function readManifest(actionDir: string): ActionManifest {
  const { name, inputs, runs } = parse(readFileSync(join(actionDir, 'action.yml'), 'utf8'))
  const postIf = runs['post-if'] ?? 'always()'
  if (postIf !== 'always()') throw new Error(`The emulator runs post always, but its post-if is ${postIf}.`)
  return {
    name: String(name),
    defaults: Object.fromEntries(
      Object.entries<{ default?: unknown } | null>(inputs ?? {}).map(([name, declared]) => [
        name,
        String(declared?.default ?? ''),
      ]),
    ),
    main: join(actionDir, runs.main),
    post: runs.post && join(actionDir, runs.post),
  }
}

/**
 * The input values that a process of the step gets. A given value wins, even if it is empty. A default is evaluated again
 * for each process, so that post sees the status of the job. The runner writes the warnings.
 */
export function resolveInputs(
  { defaults }: ActionManifest,
  given: Readonly<Record<string, string>>,
  contexts: Contexts,
) {
  const names = Object.keys(defaults)
  const rendered = Object.entries(defaults).map(([name, text]) => [name, renderTemplate(text, contexts)] as const)
  const unexpected = Object.keys(given).filter((name) => !names.includes(name))
  const warnings =
    unexpected.length === 0
      ? []
      : [`Unexpected input(s) '${unexpected.join("', '")}', valid inputs are ['${names.join("', '")}']`]
  return { values: { ...Object.fromEntries(rendered), ...given }, warnings }
}

/** The variable that has the value of an input. */
export function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`
}
