// Writes the tables of inputs and outputs of both READMEs from the two files action.yml.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isMap, isNode, parse, parseDocument, type Scalar } from 'yaml'

interface Manifest {
  readonly outputs: Readonly<Record<string, { readonly description: string }>>
}

interface DeclaredInput {
  readonly description: string
  readonly required?: boolean
  readonly default?: string
}

const NOT_FOR_USERS = /^Do not set this input\./

/** The README with both tables replaced between their marks. */
export function withTables(readme: string, actionYml: string): string {
  const { outputs }: Manifest = parse(actionYml)
  const ofInputs = inputGroups(actionYml).map(({ title, inputs }) => {
    const rows = inputs
      .filter(([, { description }]) => !NOT_FOR_USERS.test(description))
      .map(([name, input]) => [`\`${name}\``, defaultOf(input), input.description])
    return `${title === '' ? '' : `### ${title}\n\n`}${table(['input', 'default', 'meaning'], rows)}`
  })
  const ofOutputs = table(
    ['output', 'meaning'],
    Object.entries(outputs).map(([name, { description }]) => [`\`${name}\``, description]),
  )
  return between(between(readme, 'inputs', ofInputs.join('\n\n')), 'outputs', ofOutputs)
}

interface InputGroup {
  readonly title: string
  readonly inputs: [name: string, input: DeclaredInput][]
}

/** In action.yml, a comment above an input begins a group. The comment is the group's title. */
function inputGroups(actionYml: string): InputGroup[] {
  const document = parseDocument(actionYml)
  const inputs = document.get('inputs')
  if (!isMap<Scalar<string>>(inputs)) throw new Error('action.yml has no inputs.')
  const groups: InputGroup[] = []
  for (const [index, { key, value }] of inputs.items.entries()) {
    // The parser gives the comment above the first key to the whole map.
    const comment = index === 0 ? inputs.commentBefore : key.commentBefore
    if (groups.length === 0 || comment) groups.push({ title: comment?.trim() ?? '', inputs: [] })
    groups.at(-1)?.inputs.push([key.value, isNode(value) ? value.toJS(document) : {}])
  }
  return groups
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

function between(readme: string, name: string, content: string): string {
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [readme.indexOf(opening), readme.indexOf(closing)]
  if (from === -1 || to < from) {
    throw new Error(
      `The README has no place for the table of ${name}. Put ${opening} and ${closing} on lines of their own.`,
    )
  }
  return `${readme.slice(0, from)}${opening}\n${content}\n${readme.slice(to)}`
}

/** The two READMEs, and the files whose inputs and outputs they list. */
export const PAGES = [
  ['README.md', 'action.yml'],
  ['local-service/README.md', 'local-service/action.yml'],
] as const

if (import.meta.main) {
  for (const [page, manifest] of PAGES) {
    const [path, actionYml] = [page, manifest].map((file) => resolve(import.meta.dirname, '..', file)) as [
      string,
      string,
    ]
    const readme = readFileSync(path, 'utf8')
    writeFileSync(path, withTables(readme, readFileSync(actionYml, 'utf8')))
  }
}
