import { describe, expect, it } from 'vitest'
import { annotations } from '../../src/report/annotations.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

const ofRun = (status: string, counts: Record<string, number>) =>
  annotations(anOutcome({ run: aRun({ status, testCases: testCasesBy(counts) }) }), true)

/** The annotation of a failing case, beside another one. */
function messageOf(fields: TestCaseFields): string {
  const run = aRun({ status: 'FAILED', testCases: [aTestCase(fields), aTestCase({ status: 'FAILED' })] })
  return render(annotations(anOutcome({ run }), true)[0]?.message ?? expect.fail())
}

describe('the annotations', () => {
  it('name each failing case, in the order of reports, with constant titles', () => {
    const shown = annotations(ENDINGS.failed, true).map(({ level, title, message }) => [level, title, render(message)])
    expect(shown).toEqual([
      ['error', 'Test failed', 'failed case 1: FAILED after 1.2 s'],
      ['error', 'Test failed', 'failed case 2: FAILED after 1.2 s'],
      ['error', 'Test failed', 'failed case 3: FAILED after 1.2 s'],
      ['error', 'Test timed out', 'timedout case 1: TIMEDOUT after 1.2 s'],
      ['error', 'Test interrupted', 'interrupted case 1: INTERRUPTED after 1.2 s'],
    ])
  })

  it.each([
    [8, 8, undefined],
    [9, 9, '1 more test case failed; the job summary lists what did not pass.'],
    [2008, 9, '2,000 more test cases failed; the job summary lists what did not pass.'],
  ])('for %d failing cases are %d', (failing, count, last) => {
    const shown = ofRun('FAILED', { FAILED: failing })
    expect(shown).toHaveLength(count)
    if (last !== undefined) expect(render(shown[8]?.message ?? expect.fail())).toBe(last)
  })

  it('send nobody to a summary that is not there', () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 10 }) })
    const last = annotations(anOutcome({ run }), false).at(-1)
    expect(render(last?.message ?? expect.fail())).toBe('2 more test cases failed.')
  })

  it('name a case that has no title', () => {
    expect(messageOf({ title: ' \u200b', status: 'FAILED' })).toBe('(untitled): FAILED after 1.2 s')
  })

  it('are none beside the verdict, which names it, if one case failed', () => {
    expect(ofRun('FAILED', { PASSED: 2, TIMEDOUT: 1 })).toEqual([])
  })

  it('are none if nothing failed', () => {
    for (const name of ['passed', 'noResults', 'started', 'waitLimit', 'cancelled'] as const) {
      expect(annotations(ENDINGS[name], true)).toEqual([])
    }
  })

  it('say nothing of a duration that the service did not send', () => {
    expect(messageOf({ status: 'ERROR', durationMs: undefined })).toBe('adds to the cart: ERROR')
  })

  it('cannot be turned into a command by a title', () => {
    const message = messageOf({ title: '::error::x\n##[group]', status: 'FAILED' })
    expect(message).toBe(': :error::x # #[group]: FAILED after 1.2 s')
  })
})
