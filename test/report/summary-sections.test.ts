import { describe, expect, it } from 'vitest'
import { html, render } from '../../src/report/safe-text.ts'
import { sectionFoot, sectionHead, summarySections } from '../../src/report/summary-sections.ts'
import { aTestCase, testCasesBy } from '../support/builders.ts'

const told = (counts: Record<string, number>) => {
  const { listed, excerpts } = summarySections(testCasesBy(counts))
  return [...listed, ...excerpts].map(({ name, isOpen, testCases }) => [
    render(html`${name}`),
    isOpen,
    testCases.length,
  ])
}

describe('the sections of the summary', () => {
  it('open what did not pass and fold the rest', () => {
    expect(told({ PASSED: 3, FAILED: 2, TIMEDOUT: 1, FLAKY: 1, SKIPPED: 2, NEW: 1 })).toEqual([
      ['Not passed', true, 4],
      ['Flaky', false, 1],
      ['Skipped', false, 2],
      ['Passed', false, 3],
      ['Slowest', false, 5],
    ])
  })

  it('fold what did not pass from the hundred and first on', () => {
    expect(told({ FAILED: 150 })).toEqual([
      ['Not passed', true, 100],
      ['More that did not pass', false, 50],
      ['Slowest', false, 5],
    ])
  })

  it('list every case once', () => {
    const testCases = testCasesBy({ PASSED: 3, FAILED: 150, FLAKY: 1, SKIPPED: 2, NEW: 1, CANCELLED: 4 })
    const listed = summarySections(testCases).listed.flatMap((section) => section.testCases)
    expect(listed).toHaveLength(testCases.length)
    expect(new Set(listed)).toEqual(new Set(testCases))
  })

  it('are none for no cases, and know no slowest without durations', () => {
    expect(summarySections([])).toEqual({ listed: [], excerpts: [] })
    expect(summarySections([aTestCase({ durationMs: undefined })]).excerpts).toEqual([])
  })
})

describe('the head of a section', () => {
  const [section] = summarySections(testCasesBy({ SKIPPED: 1234 })).listed
  if (section === undefined) throw new Error('a section is missing')

  it('says how many cases there are, and how many of them it shows', () => {
    expect(render(sectionHead(section, 1234))).toBe('<details><summary>Skipped (1,234)</summary>\n')
    expect(render(sectionHead(section, 7))).toBe('<details><summary>Skipped (1,234, the first 7 shown)</summary>\n')
    expect(render(sectionFoot(section))).toBe('</details>\n')
  })

  it('is nothing where the section stands open', () => {
    expect(render(sectionHead({ ...section, isOpen: true }, 7))).toBe('')
    expect(render(sectionFoot({ ...section, isOpen: true }))).toBe('')
  })
})
