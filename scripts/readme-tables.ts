// Writes the tables of inputs and outputs on three pages from the two files action.yml.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '..')

interface Manifest {
  readonly inputs: Readonly<Record<string, DeclaredInput>>
  readonly outputs: Readonly<Record<string, { readonly description: string }>>
}

interface DeclaredInput {
  readonly description: string
  readonly required?: boolean
  readonly default?: string
}

const NOT_FOR_USERS = /^Do not set this input\./

/** A page with the tables of an action. */
interface Page {
  readonly page: string
  readonly manifest: string
  /** Whether the page lists this input. */
  readonly lists: (input: string) => boolean
}

/** The inputs of the gate that matter if the local service runs the tests in the same job. */
const IN_THIS_JOB = [
  ...['framework-project', 'env-overrides', 'timeout-minutes', 'pass-with-no-tests', 'baseline', 'summary'],
  ...['annotations', 'show-output', 'report-dir', 'comment', 'github-token'],
]

/** Each input stands on one page. */
export const PAGES: readonly Page[] = [
  { page: 'README.md', manifest: 'action.yml', lists: (input) => IN_THIS_JOB.includes(input) },
  { page: 'docs/with-a-service.md', manifest: 'action.yml', lists: (input) => !IN_THIS_JOB.includes(input) },
  { page: 'local-service/README.md', manifest: 'local-service/action.yml', lists: () => true },
]

/** The text of the page with its tables replaced between their marks. Only some pages have a table of outputs. */
export function withTables(text: string, actionYml: string, lists: Page['lists']): string {
  const { inputs, outputs }: Manifest = parse(actionYml)
  const ofInputs = table(
    ['input', 'default', 'meaning'],
    Object.entries(inputs)
      .filter(([name, { description }]) => lists(name) && !NOT_FOR_USERS.test(description))
      .map(([name, input]) => [`\`${name}\``, defaultOf(input), input.description]),
  )
  const ofOutputs = table(
    ['output', 'meaning'],
    Object.entries(outputs).map(([name, { description }]) => [`\`${name}\``, description]),
  )
  const withInputs = between(text, 'inputs', ofInputs)
  return text.includes('<!-- outputs -->') ? between(withInputs, 'outputs', ofOutputs) : withInputs
}

function defaultOf(input: DeclaredInput): string {
  if (input.required) return 'required'
  const { default: text = '' } = input
  if (text === '') return ''
  // A long expression would make the column too wide. The meaning says what the default is.
  return text.length <= 40 ? `\`${text}\`` : '[an expression](action.yml)'
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) => `| ${cells.map(toCell).join(' | ')} |`
  return [toRow(head), toRow(head.map(() => '---')), ...rows.map(toRow)].join('\n')
}

function toCell(text: string): string {
  return text.trim().replace(/\s+/g, ' ').replaceAll('|', '\\|')
}

function between(text: string, name: string, content: string): string {
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [text.indexOf(opening), text.indexOf(closing)]
  if (from === -1 || to < from) {
    throw new Error(
      `The page has no place for the table of ${name}. Put ${opening} and ${closing} on lines of their own.`,
    )
  }
  return `${text.slice(0, from)}${opening}\n${content}\n${text.slice(to)}`
}

if (import.meta.main) {
  for (const { page, manifest, lists } of PAGES) {
    const [path, actionYml] = [resolve(ROOT, page), readFileSync(resolve(ROOT, manifest), 'utf8')]
    writeFileSync(path, withTables(readFileSync(path, 'utf8'), actionYml, lists))
  }
}
