import type { Framework } from '../results.ts'
import type { Result } from '../run.ts'
import { nameOf, type Row } from './rows.ts'

export interface RowResult {
  readonly row: Row
  readonly result?: Result
  /** Why there is no result. */
  readonly problem?: string
}

/** A difference that stays. Undefined fields fit every row. */
export interface KnownDifference {
  readonly framework: Framework
  readonly project?: string
  readonly args?: readonly (readonly string[])[]
  readonly versions?: readonly number[]
  /** A part of each difference of these rows. */
  readonly says: string
  readonly reason: string
}

/** The differences as a page in Markdown. The table is as known if every difference is known, and every known one is there. */
export function describeTable(
  results: readonly RowResult[],
  known: readonly KnownDifference[],
): { readonly text: string; readonly isAsKnown: boolean } {
  const different = results.filter((one) => differencesOf(one).length > 0)
  const reasonOf = (one: RowResult) => known.find((difference) => explains(difference, one))?.reason
  const unknown = different.filter((one) => reasonOf(one) === undefined)
  const expectedFor = ({ row }: RowResult) => known.find((difference) => fits(difference, row))
  const gone = results.filter((one) => expectedFor(one) !== undefined && differencesOf(one).length === 0)
  const stricter = results.filter(({ result }) => result?.comparison.stricter !== undefined)
  const sections = [
    ['Differences that are not known', unknown, describeDifferences],
    ['Differences that are known', different.filter((one) => !unknown.includes(one)), reasonOf],
    ['Known differences that are gone', gone, (one: RowResult) => expectedFor(one)?.reason],
    ['Runs that are red by a rule of the service', stricter, ({ result }: RowResult) => result?.comparison.stricter],
  ] as const
  const counts = `Rows: ${results.length}. With a difference: ${different.length}. With one that is not known: ${unknown.length}.`
  const texts = sections.flatMap(([title, rows, describe]) => (rows.length === 0 ? [] : section(title, rows, describe)))
  return {
    text: `${['# By hand and through the service', counts, ...texts].join('\n\n')}\n`,
    isAsKnown: unknown.length === 0 && gone.length === 0,
  }
}

function explains(known: KnownDifference, one: RowResult): boolean {
  return fits(known, one.row) && differencesOf(one).every((difference) => difference.includes(known.says))
}

function fits({ framework, project, args, versions }: KnownDifference, row: Row): boolean {
  return (
    framework === row.project.framework &&
    (project === undefined || project === row.project.name) &&
    (args === undefined || args.some((set) => JSON.stringify(set) === JSON.stringify(row.args))) &&
    (versions === undefined || versions.includes(row.version))
  )
}

/** A sentence for each difference. If the row could not be run, it says why. */
export function differencesOf({ result, problem }: RowResult): readonly string[] {
  return result?.comparison.differences ?? [problem ?? 'The row was not run.']
}

/** Of a row with more differences, the page has only the first ones. */
const SHOWN = 4

function describeDifferences(one: RowResult): string {
  const all = differencesOf(one)
  const more = all.length > SHOWN ? [`And ${all.length - SHOWN} more.`] : []
  return [...all.slice(0, SHOWN), ...more].join('\n')
}

/** Rows that differ only in the version of the framework are one line. */
function section(
  title: string,
  rows: readonly RowResult[],
  describe: (one: RowResult) => string | undefined,
): string[] {
  const lines = new Map<string, { readonly name: string; readonly text: string; readonly versions: string[] }>()
  for (const one of rows) {
    const [name, text] = [nameOf(one.row), describe(one) ?? '']
    const line = lines.get(`${name}\n${text}`) ?? { name, text, versions: [] }
    line.versions.push(`${one.row.project.framework} ${one.row.version}`)
    lines.set(`${name}\n${text}`, line)
  }
  const cells = [...lines.values()].map(({ name, text, versions }) => [versions.join(', '), name, text].map(toCell))
  const table = [['framework', 'command (project)', 'difference'], ['---', '---', '---'], ...cells]
  return [`## ${title}`, table.map((row) => `| ${row.join(' | ')} |`).join('\n')]
}

function toCell(text: string): string {
  return text
    .trim()
    .replace(/[\\|<`]/g, '\\$&')
    .replace(/\s*\n\s*/g, '<br>')
}
