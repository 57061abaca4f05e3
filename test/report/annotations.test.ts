import { describe, expect, it } from 'vitest'
import { annotations } from '../../src/report/annotations.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy } from '../support/builders.ts'

const ofRun = (status: string, counts: Record<string, number>) =>
  annotations(anOutcome({ run: aRun({ status, testCases: testCasesBy(counts) }) }), true)

/** The annotation of a failing case, if another case fails too. */
function messageOf(fields: TestCaseFields): string {
  const run = aRun({ status: 'FAILED', testCases: [aTestCase(fields), aTestCase({ status: 'FAILED' })] })
  return render(annotations(anOutcome({ run }), true)[0]?.message ?? expect.fail())
}

// endings.md has their order and words.

describe('the annotations', () => {
  it.each([
    [8, 8, undefined],
    [9, 9, '1 more test case failed. See the job summary.'],
    [2008, 9, '2,000 more test cases failed. See the job summary.'],
  ])('for %d failing cases are %d', (failing, count, last) => {
    const shown = ofRun('FAILED', { FAILED: failing })
    expect(shown).toHaveLength(count)
    expect(shown[8] && render(shown[8].message)).toBe(last)
  })

  it('do not mention the summary if there is none', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 10 }) })
    const last = annotations(anOutcome({ run }), false).at(-1)
    expect(last && render(last.message)).toBe('2 more test cases failed.')
  })

  it('are only the verdict if one case failed, because the verdict names the case', () => {
    expect(ofRun('FAILED', { PASSED: 2, TIMEDOUT: 1 })).toEqual([])
  })

  it('name a case without a title, and leave out a duration that the service did not send', () => {
    expect(messageOf({ title: ' \u200b', status: 'ERROR', durationMs: undefined })).toBe('(untitled): ERROR')
  })

  it('cannot become a command through a title', () => {
    const message = messageOf({ title: '::error::x\n##[group]', status: 'FAILED' })
    expect(message).toBe(': :error::x # #[group]: FAILED after 1.2 s')
  })
})
