import { describe, expect, it } from 'vitest'
import { type Baseline, comparePast, earlierRun } from '../../src/model/baseline.ts'
import { aTestCase, type TestCaseFields } from '../support/builders.ts'

const failing = (fields: TestCaseFields) => aTestCase({ title: 'pays', status: 'FAILED', ...fields })

/** How the failing and flaky test cases of this run did in these earlier runs, the latest first. */
function pastOf(run: readonly TestCaseFields[], ...earlier: readonly (readonly TestCaseFields[])[]) {
  const [latest, ...others] = earlier.map((fields) => earlierRun({ testCases: fields.map(failing) }))
  if (latest === undefined) throw new Error('There is no earlier run.')
  const baseline: Baseline = [latest, ...others]
  return [...comparePast(run.map(failing), baseline).values()]
}
const markIn = (run: TestCaseFields, ...earlier: readonly (readonly TestCaseFields[])[]) =>
  pastOf([run], ...earlier)[0]?.mark

describe('a failure is new', () => {
  const [CART, ORDER] = [{ filePath: 'e2e/cart.ts' }, { filePath: 'e2e/order.ts' }]

  it.each<[string, TestCaseFields, readonly TestCaseFields[], boolean]>([
    ['no case failed before', {}, [], true],
    ['a case of this title failed before', {}, [{}], false],
    ['cases of other titles failed before', {}, [{ title: 'Pays' }, { title: 'pays ' }], true],
    ['both have the same file', CART, [ORDER, CART], false],
    ['both have a file, and the files differ', CART, [ORDER], true],
    ['only this run has a file', CART, [ORDER, {}], false],
    ['only the earlier run has a file', {}, [ORDER], false],
    ['only the lines differ', { ...CART, line: 1 }, [{ ...CART, line: 2, message: 'other' }], false],
    ['it failed in another way before', { status: 'TIMEDOUT' }, [{ status: 'ERROR' }], false],
    ['it had no known result before', {}, [{ status: 'NEW' }, { status: '' }], true],
    ['it passed before', CART, [{ ...CART, status: 'PASSED' }], true],
  ])('or not, if %s', (_, inRun, before, isNew) => {
    expect(markIn(inRun, before)).toBe(isNew ? 'new' : 'failed before')
  })

  it('not if it failed or was flaky in any of the earlier runs', () => {
    expect(markIn({}, [], [], [{}])).toBe('unstable')
    expect(markIn({}, [{ status: 'FLAKY' }])).toBe('unstable')
  })
})

it('a failure that also failed in the latest earlier run failed before, and every other known failure is unstable', () => {
  expect(pastOf([{}], [{}], [], [])).toEqual([{ mark: 'failed before', badRuns: 1, runs: 3 }])
  expect(pastOf([{}], [], [{}], [{ status: 'FLAKY' }], [])).toEqual([{ mark: 'unstable', badRuns: 2, runs: 4 }])
})

it('two failures that are the same are told apart by their number', () => {
  const marks = (...args: Parameters<typeof pastOf>) => pastOf(...args).map(({ mark }) => mark)
  expect(marks([{}, {}], [{}])).toEqual(['failed before', 'new'])
  expect(marks([{}, {}, {}], [{}], [{}, {}])).toEqual(['failed before', 'unstable', 'new'])
  expect(marks([{}, { filePath: 'a.ts' }], [{ filePath: 'a.ts' }])).toEqual(['failed before', 'new'])
})

it('a flaky case has no mark, and says in how many earlier runs it failed or was flaky', () => {
  expect(pastOf([{ status: 'FLAKY' }], [{}], [{ status: 'FLAKY' }], [])).toEqual([{ badRuns: 2, runs: 3 }])
})

it('every other test case has no past', () => {
  const others = ['PASSED', 'SKIPPED', 'NEW', ''].map((status) => ({ title: status, status }))
  const failures = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'].map((status) => ({ title: status, status }))
  expect(pastOf([...others, ...failures], [])).toHaveLength(failures.length)
})

it('a hundred thousand failures are compared in one go', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ title: `case ${index % 50}`, filePath: `${index}.ts` }))
  const marks = pastOf([...many, { title: 'case 0', filePath: 'new.ts' }], many).map(({ mark }) => mark)
  expect(marks.filter((mark) => mark === 'new')).toHaveLength(1)
})
