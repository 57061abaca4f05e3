import { describe, expect, it } from 'vitest'
import { pastText, sortedCases, titleOf } from '../../src/report/test-case.ts'
import { render } from '../../src/text/safe-text.ts'
import { aRun, aTestCase } from '../support/builders.ts'

const testCases = ['PASSED', 'NEW', 'INTERRUPTED', 'FAILED', 'FLAKY', 'TIMEDOUT', 'ERROR', 'SKIPPED'].map((status) =>
  aTestCase({ title: status, status }),
)

it('cases are sorted by kind, and within one kind they have the order of the service', () => {
  expect(sortedCases({ run: aRun({ testCases }) }).map(({ title }) => title)).toEqual([
    'FAILED',
    'ERROR',
    'TIMEDOUT',
    'INTERRUPTED',
    'NEW',
    'FLAKY',
    'SKIPPED',
    'PASSED',
  ])
})

describe('with a baseline', () => {
  const statuses = ['FAILED', 'TIMEDOUT', 'FAILED', 'NEW', 'FAILED', 'PASSED']
  const testCases = statuses.map((status, index) => aTestCase({ title: `${status} ${index}`, status }))
  const marks = ['unstable', 'failed before', 'new', undefined, 'failed before'] as const
  const past = new Map(testCases.slice(0, 5).map((one, index) => [one, { mark: marks[index], badRuns: 2, runs: 10 }]))
  const outcome = { run: aRun({ testCases }), past }

  const inWords = (...args: Parameters<typeof pastText>) => {
    const past = pastText(...args)
    return past && render(past)
  }

  it('each failure has a mark, and without a baseline nobody knows', () => {
    const texts = (known: Partial<typeof outcome>) => testCases.map((testCase) => inWords(testCase, known))
    const known = ['unstable: 2 of 10 runs', 'failed before', 'new', undefined, 'failed before', undefined]
    expect(texts(outcome)).toEqual(known)
    expect(texts({})).toEqual(known.map(() => undefined))
  })

  it('a flaky case says how often it failed or was flaky, also if it never was, but not if no earlier run has it', () => {
    const flaky = aTestCase({ status: 'FLAKY' })
    const textOf = (badRuns: number, runs: number) => inWords(flaky, { past: new Map([[flaky, { badRuns, runs }]]) })
    expect(textOf(3, 10)).toBe('failed or flaky in 3 of 10 runs')
    expect(textOf(0, 10)).toBe('failed or flaky in 0 of 10 runs')
    expect(textOf(0, 0)).toBeUndefined()
  })
})

it('a word takes the place of an invisible title', () => {
  expect(['', '\u200b\n'].map((title) => titleOf(aTestCase({ title })))).toEqual(['(untitled)', '(untitled)'])
})
