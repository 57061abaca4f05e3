import { describe, expect, it } from 'vitest'
import { countsText } from '../../src/report/facts.ts'
import { headline, pageTitle, verdictTitle } from '../../src/report/headline.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

const said = (text: Fragment | undefined) => text && render(text)

describe('the headline', () => {
  it('shows the green tick only if tests passed', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const { conclusion, counts } = outcome
      const hasPassed = conclusion === 'passed' && counts.failed + counts.other === 0
      expect(said(headline(outcome).sign) === '✅', name).toBe(hasPassed)
    }
  })

  it('never says that tests passed if none ran', () => {
    const run = aRun({ testCases: testCasesBy({ PASSED: 1, PENDING: 1, TODO: 1, skipped: 1, '': 1, SKIPPED: 1 }) })
    const outcome = anOutcome({ run })
    expect(said(pageTitle(outcome))).toBe('⚠️ Run passed, with unknown results: 4 of 6')
    expect(said(countsText(outcome))).toBe('1 passed · 1 skipped · 4 without a known result · run time 3 min 4 s')
    expect(said(pageTitle(ENDINGS.nothingRan))).toBe('❌ No tests ran: 0 of 1')
  })

  it('has no text of others in its title', () => {
    const run = aRun({ status: 'secret', branchName: 'secret' })
    expect(verdictTitle(anOutcome({ run, runId: 'secret' }))).toBe('Run finished with an unknown status')
    const failure = { kind: 'status', status: 400, error: untrusted('secret') } as const
    const ending = { kind: 'start-failed', failure } as const
    expect(verdictTitle(anOutcome({ ending, cancellation: { kind: 'no-run' } }))).toBe('Run not started')
  })
})
