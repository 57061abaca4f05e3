import { describe, expect, it } from 'vitest'
import { describeTable, type KnownDifference, type RowResult } from '../table/describe-table.ts'
import { nameOf, ROWS, type Row } from '../table/rows.ts'

const row = (args: readonly string[], version = 5): Row => ({
  project: { name: 'shop', framework: 'vitest', files: {} },
  args,
  version,
})
const result = (args: readonly string[], differences: readonly string[], version = 5): RowResult => ({
  row: row(args, version),
  result: {
    byHand: { command: 'vitest run', end: 0, output: '', endWithReport: 0 },
    throughService: { kind: 'finished', status: 'PASSED', testCases: [] },
    comparison: { differences, tests: [] },
  },
})

describe('the page of differences', () => {
  const known: KnownDifference = { framework: 'vitest', args: [['-w']], says: 'refuses', reason: 'It would not end.' }

  it('has one line for the versions that differ in the same way', () => {
    const { text, isAsKnown } = describeTable(
      [3, 4, 5].map((version) => result(['-x'], ['It | differs.'], version)),
      [],
    )
    expect(isAsKnown).toBe(false)
    expect(text).toContain('Rows: 3. With a difference: 3. With one that is not known: 3.')
    expect(text).toContain('| vitest 3, vitest 4, vitest 5 | vitest run -x (shop) | It \\| differs. |')
  })

  it('gives the reason of a known difference', () => {
    const { text, isAsKnown } = describeTable([result(['-w'], ['The service refuses it.'])], [known])
    expect(isAsKnown).toBe(true)
    expect(text).toContain('## Differences that are known')
    expect(text).toContain('| It would not end. |')
  })

  it('does not take another difference of the same row for the known one', () => {
    expect(describeTable([result(['-w'], ['The service refuses it.', 'It is red.'])], [known]).isAsKnown).toBe(false)
  })

  it('says that a known difference is gone', () => {
    const { text, isAsKnown } = describeTable([result(['-w'], [])], [known])
    expect(isAsKnown).toBe(false)
    expect(text).toContain('## Known differences that are gone')
  })

  it('has a row that could not be run', () => {
    expect(describeTable([{ row: row([]), problem: 'Error: no room' }], []).text).toContain('Error: no room')
  })
})

describe('the table', () => {
  it('has no row twice', () => {
    const names = ROWS.map((one) => `${one.project.framework} ${one.version} ${nameOf(one)}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('has for each framework the sets of arguments and the projects that it must have', () => {
    const setsOf = (framework: string) =>
      new Set(ROWS.filter(({ project }) => project.framework === framework).map(({ args }) => args.join('\n'))).size
    const projectsOf = (framework: string) =>
      new Set(ROWS.filter(({ project }) => project.framework === framework).map(({ project }) => project.name)).size
    expect(setsOf('vitest')).toBeGreaterThanOrEqual(40)
    expect(setsOf('playwright')).toBeGreaterThanOrEqual(25)
    expect(projectsOf('vitest') + projectsOf('playwright')).toBeGreaterThanOrEqual(20)
  })
})
