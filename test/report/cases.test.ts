import { describe, expect, it } from 'vitest'
import { CASE_KINDS, type CaseKind, FAILING } from '../../src/model/run.ts'
import { casesOfKind, FAILING_OR_OTHER, titleOf } from '../../src/report/cases.ts'
import { aTestCase } from '../support/builders.ts'

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

it('a word takes the place of an invisible title', () => {
  expect(['', '\u200b\n'].map((title) => titleOf(aTestCase({ title })))).toEqual(['(untitled)', '(untitled)'])
})
