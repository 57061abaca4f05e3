import { describe, expect, it } from 'vitest'
import { nameOf, ROWS, type Row, runRow } from '../table/table.ts'

// A few rows of the table, for the kinds of arguments and of projects. The workflow "Nightly" runs the whole table.

const CHOSEN = [
  row('vitest', 5, 'reporter that throws at the end'),
  row('vitest', 3, 'types', '--typecheck.only'),
  row('playwright', 1, 'most failures while another test runs'),
  row('playwright', 1, 'global teardown that exits with 0'),
  row('jest', 29, 'several projects', '--ignoreProjects=unit'),
]

function row(framework: string, version: number, project: string, ...args: string[]): Row {
  const found = ROWS.find(
    (one) =>
      one.project.framework === framework &&
      one.version === version &&
      one.project.name === project &&
      JSON.stringify(one.args) === JSON.stringify(args),
  )
  if (found === undefined) throw new Error(`The table has no such row for ${framework} ${version}: ${project} ${args}`)
  return found
}

describe.concurrent('by hand and through the service, there is one result for', () => {
  it.each(CHOSEN.map((one) => ({ name: nameOf(one), one })))('$name', async ({ one }) => {
    const { comparison } = await runRow(one, new AbortController().signal)
    expect(comparison.differences).toEqual([])
  })
})
