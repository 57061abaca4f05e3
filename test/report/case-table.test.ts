import { describe, expect, it } from 'vitest'
import { comparePast, earlierRun, type PastOfCase } from '../../src/model/baseline.ts'
import type { TestCase } from '../../src/model/run.ts'
import { caseRow, caseTable, columnsFor } from '../../src/report/case-table.ts'
import { render } from '../../src/text/safe-text.ts'
import { aBaseline, aTestCase, type TestCaseFields } from '../support/builders.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

describe('a table of test cases', () => {
  function markdown(cases: readonly TestCaseFields[]) {
    const testCases = cases.map(aTestCase)
    const columns = columnsFor(testCases, {})
    const rows = testCases.map((testCase) => caseRow(testCase, 'place', columns))
    return render(caseTable(rows, columns))
  }
  const rows = (...args: Parameters<typeof markdown>) => tableRows(renderedPage(markdown(...args)))

  it('has status, test and duration, and each status has words and a sign', () => {
    const statuses = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW <b>', '', 'FLAKY', 'SKIPPED', 'PASSED']
    const cases = statuses.map((status) => ({ title: 'a', status }))
    expect(rows(cases)).toEqual([
      ['Status', 'Test', 'Duration'],
      ['❌ Failed', 'a', '1.2 s'],
      ['❌ Failed', 'a', '1.2 s'],
      ['⏱️ Timed out', 'a', '1.2 s'],
      ['⚠️ Interrupted', 'a', '1.2 s'],
      ['❔ NEW <b>', 'a', '1.2 s'],
      ['❔ No status', 'a', '1.2 s'],
      ['🔁 Flaky', 'a', '1.2 s'],
      ['⏭️ Skipped', 'a', '1.2 s'],
      ['✅ Passed', 'a', '1.2 s'],
    ])
  })

  it('never wraps a status or a duration, and truncates an unknown status', () => {
    const cases = [{ status: 'PASSED' }, { status: 'X'.repeat(500) }]
    const cells = renderedPage(markdown(cases)).elements.filter(({ tagName }) => tagName === 'td')
    const nowrap = cells.map(({ attrs }) => attrs.some(({ name }) => name === 'nowrap'))
    expect(nowrap).toEqual([true, false, true, true, false, true])
    expect(rows(cases)[2]?.[0]).toBe(`❔ ${'X'.repeat(29)}…`)
  })

  it('has no column for durations if all are missing, and a dash if one is missing', () => {
    const untimed = { title: 'a', durationMs: undefined }
    expect(rows([untimed])).toEqual([
      ['Status', 'Test'],
      ['✅ Passed', 'a'],
    ])
    expect(rows([untimed, { durationMs: 0 }])[1]).toEqual(['✅ Passed', 'a', '–'])
  })

  it('says beside the status of a failure whether it is new, if there is a baseline', () => {
    const testCases = ['FAILED', 'TIMEDOUT', 'NEW', 'PASSED'].map((status) => aTestCase({ title: status, status }))
    const statusesOf = (past: ReadonlyMap<TestCase, PastOfCase> | undefined) =>
      testCases.map((testCase) => {
        const columns = columnsFor(testCases, { past })
        return tableRows(renderedPage(render(caseTable([caseRow(testCase, 'title', columns)], columns))))[1]?.[0]
      })
    const baseline = aBaseline({})
    const before = earlierRun(testCases.slice(1), undefined)
    expect(statusesOf(comparePast(testCases, [before, ...baseline]))).toEqual([
      '❌ Failed\nnew',
      '⏱️ Timed out\nfailed before',
      '❔ NEW',
      '✅ Passed',
    ])
    expect(statusesOf(undefined)).toEqual(['❌ Failed', '⏱️ Timed out', '❔ NEW', '✅ Passed'])
  })

  it('truncates titles', () => {
    const title = 'word '.repeat(200).trim()
    expect(rows([{ title }])[1]?.[1]).toHaveLength(300)
  })
})
