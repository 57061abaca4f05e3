import { describe, expect, it } from 'vitest'
import { caseTable, hasDurations } from '../../src/report/case-table.ts'
import { cellHtml, html, render, untruncatedHtml } from '../../src/report/safe-text.ts'
import { aTestCase, type TestCaseFields } from '../support/builders.ts'
import { renderedPage, tableRows } from '../support/rendered-page.ts'

function rows(cases: readonly TestCaseFields[], withDuration = true, cell: typeof cellHtml = cellHtml) {
  const table = caseTable(withDuration, cell)
  return tableRows(
    renderedPage(render(html`${table.head}${cases.map((fields) => table.row(aTestCase(fields)))}${table.foot}`)),
  )
}

describe('a table of test cases', () => {
  it('has status, test and duration, each status in words beside its sign', () => {
    const statuses = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW <b>', 'FLAKY', 'SKIPPED', 'PASSED']
    expect(rows(statuses.map((status) => ({ title: 'a', status })))).toEqual([
      ['Status', 'Test', 'Duration'],
      ['❌ Failed', 'a', '1.2 s'],
      ['❌ Failed', 'a', '1.2 s'],
      ['⏱️ Timed out', 'a', '1.2 s'],
      ['⚠️ Interrupted', 'a', '1.2 s'],
      ['❔ NEW <b>', 'a', '1.2 s'],
      ['🔁 Flaky', 'a', '1.2 s'],
      ['⏭️ Skipped', 'a', '1.2 s'],
      ['✅ Passed', 'a', '1.2 s'],
    ])
  })

  it('has no column for durations that nobody sent, and a dash for a single one', () => {
    expect(rows([{ title: 'a', durationMs: undefined }], false)).toEqual([
      ['Status', 'Test'],
      ['✅ Passed', 'a'],
    ])
    expect(rows([{ title: 'a', durationMs: undefined }])[1]).toEqual(['✅ Passed', 'a', '–'])
    expect(hasDurations([aTestCase({ durationMs: undefined }), aTestCase({ durationMs: 0 })])).toBe(true)
    expect(hasDurations([aTestCase({ durationMs: undefined })])).toBe(false)
  })

  it('has a word for a title in which there is nothing to see', () => {
    expect(rows([{ title: '' }, { title: '\u200b\n' }]).map(([, title]) => title)).toEqual([
      'Test',
      '(untitled)',
      '(untitled)',
    ])
  })

  it('cuts titles, except where it is told not to', () => {
    const title = 'word '.repeat(200).trim()
    expect(rows([{ title }])[1]?.[1]).toHaveLength(300)
    expect(rows([{ title }], true, untruncatedHtml)[1]?.[1]).toBe(title)
  })
})
