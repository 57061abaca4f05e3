import { describe, expect, it } from 'vitest'
import { countsOf, headline } from '../../src/report/headline.ts'
import { html, render } from '../../src/report/safe-text.ts'
import { aRun, aStepResult, testCasesBy } from '../support/builders.ts'
import { ENDINGS, type EndingName } from '../support/endings.ts'

const EXPECTED: Readonly<Record<EndingName, string>> = {
  passed: '✅ Tests passed: 39 of 40, 1 skipped',
  passedWithFailures: '⚠️ Run passed, with failed tests: 2 of 40',
  failed: '❌ Tests failed: 5 of 40',
  failedWithoutFailedCase: '❌ Run failed: 4 of 4 passed',
  failedWithoutResults: '❌ Run failed',
  timedOut: '⏱️ Run timed out: 1 of 4 failed',
  cancelled: '🚫 Run cancelled: 12 of 15 passed',
  interrupted: '⚠️ Run interrupted: 2 of 5 failed',
  noTestsListed: '❌ No tests ran',
  allSkipped: '❌ No tests ran: 0 of 12',
  noResults: '❌ No tests ran',
  noTestsAllowed: '⚠️ No tests ran',
  unknownStatus: '❌ Run status unknown: 2 of 2 passed',
  waitLimit: '⏱️ Wait limit reached after 1 h',
  waitLimitCancelFailed: '⏱️ Wait limit reached after 1 h',
  waitLimitOfSuite: '⏱️ Wait limit reached after 1 min 30 s',
  waitLimitButOver: '✅ Tests passed: 2 of 2',
  aborted: '🚫 Step cancelled',
  abortedCancelFailed: '🚫 Step cancelled',
  abortedRunLeft: '🚫 Step cancelled',
  abortedRunOver: '🚫 Step cancelled: 2 of 2 passed',
  abortedInStart: '🚫 Step cancelled',
  abortedBeforeStart: '🚫 Step cancelled',
  startRefused: '❌ Run not started',
  startUnclear: '❌ Start failed',
  unreachable: '❌ Run could not be read',
  brokenAnswer: '❌ Run could not be read',
  started: '▶️ Run started',
}

const said = (result: Parameters<typeof headline>[0]) => {
  const { sign, title, counts } = headline(result, countsOf(result))
  return render(html`${sign} ${title}${counts}`)
}

describe('the headline', () => {
  it.each(Object.keys(ENDINGS) as EndingName[])('tells the ending %s at a glance', (name) => {
    expect(said(ENDINGS[name])).toBe(EXPECTED[name])
  })

  it('shows the green tick where tests passed and nowhere else', () => {
    for (const result of Object.values(ENDINGS)) {
      expect(said(result).startsWith('✅')).toBe(
        result.verdict.conclusion === 'passed' && !said(result).includes('failed'),
      )
    }
  })

  it('groups the digits of large numbers', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 1234, PASSED: 8766 }) })
    expect(said(aStepResult({ run }))).toBe('❌ Tests failed: 1,234 of 10,000')
  })
})
