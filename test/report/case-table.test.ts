import { describe, expect, it } from 'vitest'
import { CASE_KINDS, type CaseKind, FAILING } from '../../src/model/run.ts'
import { casesOfKind, caseTable, FAILING_OR_OTHER, titleOf } from '../../src/report/case-table.ts'
import { html, render } from '../../src/text/safe-text.ts'
import { aTestCase, type TestCaseFields } from '../support/builders.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

describe('the cases of some kinds', () => {
  const testCases = ['PASSED', 'NEW', 'INTERRUPTED', 'FAILED', 'FLAKY', 'TIMEDOUT', 'ERROR', 'SKIPPED'].map((status) =>
    aTestCase({ title: status, status }),
  )
  const titles = (kinds: readonly CaseKind[]) => casesOfKind(kinds, testCases).map(({ title }) => title)

  it('have the order failed, timed out, interrupted, other, and within each the order of the service', () => {
    expect(titles(FAILING_OR_OTHER)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW'])
    expect(titles(FAILING)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'])
    expect(titles(CASE_KINDS)).toHaveLength(testCases.length)
  })
})

describe('a table of test cases', () => {
  function markdown(cases: readonly TestCaseFields[]) {
    const testCases = cases.map(aTestCase)
    const table = caseTable(testCases)
    return render(html`${table.head}${testCases.map(table.row)}${table.foot}`)
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

  it('has a word in place of an invisible title', () => {
    expect(['', '\u200b\n'].map((title) => titleOf(aTestCase({ title })))).toEqual(['(untitled)', '(untitled)'])
  })

  it('truncates titles', () => {
    const title = 'word '.repeat(200).trim()
    expect(rows([{ title }])[1]?.[1]).toHaveLength(300)
  })
})
