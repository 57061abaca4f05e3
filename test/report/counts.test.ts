import { expect, it } from 'vitest'
import { countsLine } from '../../src/report/counts.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, testCasesBy } from '../support/builders.ts'

// endings.md has the counts of every ending.

it('the line of counts has the time waited if the duration of the run is not known', () => {
  const run = aRun({ startedAt: undefined, testCases: testCasesBy({ PASSED: 1 }) })
  const line = countsLine(anOutcome({ run, tookMs: 4_200 }))
  expect(line && render(line)).toBe('1 passed · waited 4.2 s')
})
