import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OUTCOMES } from '../../src/outcome/run.ts'
import { casesWith, FAILING, NOT_PASSED, slowestCases } from '../../src/report/cases-by-outcome.ts'
import { aTestCase } from '../support/builders.ts'

describe('the cases of some outcomes', () => {
  const testCases = ['PASSED', 'NEW', 'INTERRUPTED', 'FAILED', 'FLAKY', 'TIMEDOUT', 'ERROR', 'SKIPPED'].map((status) =>
    aTestCase({ title: status, status }),
  )
  const titles = (outcomes: readonly (typeof OUTCOMES)[number][]) =>
    casesWith(outcomes, testCases).map(({ title }) => title)

  it('come failed, timed out, interrupted, other, and within one as the service sent them', () => {
    expect(titles(NOT_PASSED)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW'])
    expect(titles(FAILING)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'])
    expect(titles(['passed', 'flaky'])).toEqual(['FLAKY', 'PASSED'])
  })

  it('are all cases for all outcomes', () => {
    expect(titles(OUTCOMES).toSorted()).toEqual(testCases.map(({ title }) => title).toSorted())
  })
})

describe('the slowest cases', () => {
  it('are those that sorting by duration brings first', () => {
    const duration = fc.option(fc.nat(20), { nil: undefined })
    fc.assert(
      fc.property(fc.array(duration), fc.integer({ min: 1, max: 6 }), (durations, count) => {
        const testCases = durations.map((durationMs, index) => aTestCase({ title: `${index}`, durationMs }))
        const timed = testCases.filter(({ durationMs }) => durationMs !== undefined)
        const sorted = timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0))
        expect(slowestCases(testCases, count)).toEqual(sorted.slice(0, count))
      }),
    )
  })
})
