import { describe, expect, it } from 'vitest'
import { CASE_KINDS, type CaseKind, FAILING, type TestCase } from '../../src/model/run.ts'
import { casesOfKind, FAILING_OR_OTHER, hasFailedBefore, titleOf } from '../../src/report/cases.ts'
import { aRun, aTestCase } from '../support/builders.ts'

describe('the cases of some kinds', () => {
  const testCases = ['PASSED', 'NEW', 'INTERRUPTED', 'FAILED', 'FLAKY', 'TIMEDOUT', 'ERROR', 'SKIPPED'].map((status) =>
    aTestCase({ title: status, status }),
  )
  const titles = (kinds: readonly CaseKind[]) =>
    casesOfKind(kinds, { run: aRun({ testCases }) }).map(({ title }) => title)

  it('have the order failed, timed out, interrupted, other, and within each the order of the service', () => {
    expect(titles(FAILING_OR_OTHER)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'NEW'])
    expect(titles(FAILING)).toEqual(['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'])
    expect(titles(CASE_KINDS)).toHaveLength(testCases.length)
  })
})

describe('with a baseline', () => {
  const statuses = ['FAILED', 'TIMEDOUT', 'FAILED', 'NEW', 'FAILED', 'PASSED']
  const testCases = statuses.map((status, index) => aTestCase({ title: `${status} ${index}`, status }))
  const outcome = { run: aRun({ testCases }), newFailures: new Set([testCases[2]].filter((one) => one !== undefined)) }

  it('new failures come first within their kind, and the rest keeps the order of the service', () => {
    expect(casesOfKind(FAILING_OR_OTHER, outcome).map(({ title }) => title)).toEqual([
      'FAILED 2',
      'FAILED 0',
      'FAILED 4',
      'TIMEDOUT 1',
      'NEW 3',
    ])
  })

  it('only failures that are not new have failed before, and without a baseline nobody knows', () => {
    const titlesOf = (newFailures: ReadonlySet<TestCase> | undefined) =>
      testCases.filter((testCase) => hasFailedBefore(testCase, { newFailures })).map(({ title }) => title)
    expect(titlesOf(outcome.newFailures)).toEqual(['FAILED 0', 'TIMEDOUT 1', 'FAILED 4'])
    expect(titlesOf(undefined)).toEqual([])
  })
})

it('a word takes the place of an invisible title', () => {
  expect(['', '\u200b\n'].map((title) => titleOf(aTestCase({ title })))).toEqual(['(untitled)', '(untitled)'])
})
