import { describe, expect, it } from 'vitest'
import { nameOf, ROWS } from '../table/rows.ts'
import { runRow } from '../table/run-row.ts'

// A few rows of the table, for the kinds of arguments and of projects. The workflow "Nightly" runs the whole table.

/** The framework and its version, the project and its arguments. */
const CHOSEN = [
  ['vitest 3', 'shop', '--retires=3'],
  ['vitest 4', 'shop', '--grep=smoke'],
  ['vitest 5', 'shop', '--exclude', 'tests/**', '--exclude', '**/cart*'],
  ['vitest 3', 'flaky', '--retry=2'],
  ['vitest 5', 'types', '--typecheck.only'],
  ['vitest 4', 'only', '--allowOnly=false'],
  ['vitest 5', 'every kind of result'],
  ['vitest 5', 'reporter that waits'],
  ['vitest 4', 'hooks that throw'],
  ['vitest 5', 'several projects'],
  ['vitest 3', 'bail in the configuration'],
  ['playwright 1', 'every kind of result'],
  ['playwright 1', 'flaky', '--retries=1', '--fail-on-flaky-tests'],
] as const
/** By hand, these run twice, because the project names a reporter that counts. */
const TWICE = ['reporter that waits']

describe.concurrent('by hand and through the service, there is one result', () => {
  it.each(CHOSEN)('for %s, %s %s', async (framework, project, ...args) => {
    const row = ROWS.find(
      (one) =>
        `${one.project.framework} ${one.version}` === framework &&
        one.project.name === project &&
        JSON.stringify(one.args) === JSON.stringify(args),
    )
    if (row === undefined) throw new Error('The table has no such row.')
    const { comparison } = await runRow(row, new AbortController().signal, { isOnce: !TWICE.includes(project) })
    expect(comparison.differences, nameOf(row)).toEqual([])
  })
})
