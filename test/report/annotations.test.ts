import { describe, expect, it } from 'vitest'
import { annotations } from '../../src/report/annotations.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase, testCasesBy } from '../support/builders.ts'

const ofRun = (status: string, counts: Record<string, number>) =>
  annotations(anOutcome({ run: aRun({ status, testCases: testCasesBy(counts) }) }))

// endings.md has their order and words.

describe('the annotations', () => {
  it.each([
    [8, 8, undefined],
    [9, 9, '1 more test case failed.'],
    [2008, 9, '2,000 more test cases failed.'],
  ])('for %d failing cases are %d', (failing, count, last) => {
    const shown = ofRun('FAILED', { FAILED: failing })
    expect(shown).toHaveLength(count)
    expect(shown[8] && render(shown[8].message)).toBe(last)
  })

  it('have a place and a message, also for a single failing case, if the service sent them', () => {
    const testCases = [
      aTestCase({ status: 'PASSED', message: 'not shown', filePath: 'a.ts' }),
      aTestCase({
        title: 'pays',
        status: 'FAILED',
        message: 'expected 41\n  to be 42',
        filePath: 'e2e/pay.ts',
        line: 12,
      }),
    ]
    const [annotation, ...others] = annotations(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    expect(others).toEqual([])
    expect(annotation).toMatchObject({ level: 'error', title: 'Test failed', file: 'e2e/pay.ts', line: 12 })
    expect(annotation && render(annotation.message)).toBe('pays\nexpected 41\n  to be 42')
  })

  it('have a place without a line, and the status if there is no message', () => {
    const fields = { title: 'pays', status: 'TIMEDOUT', filePath: 'e2e/pay.ts', durationMs: 30_000 }
    const run = aRun({ status: 'FAILED', testCases: [aTestCase(fields)] })
    const [annotation] = annotations(anOutcome({ run }))
    expect(annotation).toMatchObject({ title: 'Test timed out', file: 'e2e/pay.ts', line: undefined })
    expect(annotation && render(annotation.message)).toBe('pays: TIMEDOUT')
  })
})
