import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { describeTable, differencesOf, type RowResult } from './describe-table.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { nameOf, ROWS, type Row } from './rows.ts'
import { runRow } from './run-row.ts'

export interface TableOptions {
  /** The file for the differences, in Markdown. */
  readonly file: string
  /** Only rows whose name contains it. */
  readonly filter?: string | undefined
  readonly print: (line: string) => void
}

/** Runs the whole table and writes the differences. Returns whether there is one that is not known. */
export async function runTable({ file, filter = '', print }: TableOptions, stop: AbortSignal): Promise<boolean> {
  const rows = ROWS.filter((row) => `${row.project.framework} ${row.version} ${nameOf(row)}`.includes(filter))
  const waiting = [...rows.entries()]
  const results: RowResult[] = []
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !stop.aborted; next = waiting.shift()) {
      const [index, row] = next
      const result = await resultOf(row, stop)
      results[index] = result
      print(lineOf(result, results.filter(Boolean).length, rows.length))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  stop.throwIfAborted()
  const { text, isAsKnown } = describeTable(results, KNOWN_DIFFERENCES)
  writeFileSync(file, text)
  return !isAsKnown
}

async function resultOf(row: Row, stop: AbortSignal): Promise<RowResult> {
  try {
    return { row, result: await runRow(row, stop) }
  } catch (error) {
    return { row, problem: String(error) }
  }
}

function lineOf(one: RowResult, done: number, all: number): string {
  const { project, version } = one.row
  const differences = differencesOf(one)
  const sign = differences.length === 0 ? 'same' : 'DIFFERENT'
  const line = `${done}/${all} ${sign} ${project.framework} ${version}: ${nameOf(one.row)}`
  return [line, ...differences.map((text) => `    ${text}`)].join('\n')
}
