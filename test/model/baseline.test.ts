import { describe, expect, it } from 'vitest'
import { type Baseline, comparePast, compareTestCases, type EarlierCase, earlierRun } from '../../src/model/baseline.ts'
import type { Run } from '../../src/model/run.ts'
import { aRun, aTestCase, type TestCaseFields } from '../support/builders.ts'

const failing = (fields: TestCaseFields) => aTestCase({ title: 'pays', status: 'FAILED', ...fields })

/** A case that passed in every earlier run. So it ran in each of them. */
const STEADY = { title: 'steady', status: 'PASSED' }
const PASSED = { status: 'PASSED' }
const FLAKY = { status: 'FLAKY' }

/** How the failing and flaky test cases of this run did in these earlier runs, the latest first. */
function pastOf(run: readonly TestCaseFields[], ...earlier: readonly (readonly TestCaseFields[])[]) {
  const runs = earlier.map((fields) => earlierRun({ status: 'FAILED', testCases: [...fields, STEADY].map(failing) }))
  const [latest, ...others] = runs.filter((one) => one !== undefined)
  if (latest === undefined) throw new Error('There is no earlier run.')
  const baseline: Baseline = [latest, ...others]
  return [...comparePast(run.map(failing), baseline).values()]
}
const marksOf = (...args: Parameters<typeof pastOf>) => pastOf(...args).map(({ mark }) => mark)

describe('a failure is new', () => {
  const [CART, ORDER] = [{ filePath: 'e2e/cart.ts' }, { filePath: 'e2e/order.ts' }]

  it.each<[string, TestCaseFields, readonly TestCaseFields[], boolean]>([
    ['no run has it', {}, [], true],
    ['a case of this title failed before', {}, [{}], false],
    ['cases of other titles failed before', {}, [{ title: 'Pays' }, { title: 'pays ' }], true],
    ['both have the same file', CART, [ORDER, CART], false],
    ['both have a file, and the files differ', CART, [ORDER], true],
    ['one of this file passed before, and one without a file failed', CART, [{ ...CART, ...PASSED }, {}], true],
    ['file and title are equal only if one joins them', CART, [{ title: 'ays', filePath: 'e2e/cart.tsp' }], true],
    ['only this run has a file', CART, [ORDER, {}], false],
    ['only the earlier run has a file', {}, [ORDER], false],
    ['only the lines differ', { ...CART, line: 1 }, [{ ...CART, line: 2, message: 'other' }], false],
    ['it failed in another way before', { status: 'TIMEDOUT' }, [{ status: 'ERROR' }], false],
    ['it had no known result before', {}, [{ status: 'NEW' }], true],
    ['it was skipped before', {}, [{ status: 'SKIPPED' }], true],
    ['it passed before', CART, [{ ...CART, status: 'PASSED' }], true],
  ])('or not, if %s', (_, inRun, before, isNew) => {
    expect(marksOf([inRun], before)).toEqual([isNew ? 'new' : 'failed before'])
  })

  it('not if it failed or was flaky in any of the earlier runs', () => {
    expect(marksOf([{}], [PASSED], [PASSED], [{}])).toEqual(['unstable'])
    expect(marksOf([{}], [FLAKY])).toEqual(['unstable'])
  })
})

it('a failure that also failed in the latest earlier run failed before, and every other known failure is unstable', () => {
  expect(pastOf([{}], [{}], [PASSED], [PASSED])).toEqual([{ mark: 'failed before', badRuns: 1, runs: 3 }])
  expect(pastOf([{}], [PASSED], [{}], [FLAKY], [PASSED])).toEqual([{ mark: 'unstable', badRuns: 2, runs: 4 }])
})

describe('for each case, only the earlier runs that have it count', () => {
  it('so runs of other tests say nothing about it', () => {
    expect(pastOf([{}], [], [{}], [], [PASSED])).toEqual([{ mark: 'failed before', badRuns: 1, runs: 2 }])
    expect(pastOf([{}], [], [PASSED], [FLAKY])).toEqual([{ mark: 'unstable', badRuns: 1, runs: 2 }])
    expect(pastOf([{}], [], [])).toEqual([{ mark: 'new', badRuns: 0, runs: 0 }])
    expect(pastOf([FLAKY], [], [{}], [PASSED])).toEqual([{ badRuns: 1, runs: 2 }])
  })

  it('and a run in which no case ran is no earlier run', () => {
    const ran = (...statuses: readonly string[]) =>
      earlierRun({ status: 'FAILED', testCases: statuses.map((status) => aTestCase({ status })) }) !== undefined
    expect([ran(), ran('SKIPPED', 'NEW', ''), earlierRun({ status: 'FAILED' }) !== undefined]).toEqual([
      false,
      false,
      false,
    ])
    for (const status of ['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'ERROR'])
      expect(ran('SKIPPED', status), status).toBe(true)
  })
})

it('two failures that are the same are told apart by their number', () => {
  expect(marksOf([{}, {}], [{}])).toEqual(['failed before', 'new'])
  expect(marksOf([{}, {}, {}], [{}], [{}, {}])).toEqual(['failed before', 'failed before', 'new'])
  expect(marksOf([{}, {}], [{}, PASSED], [{}, {}])).toEqual(['failed before', 'unstable'])
  expect(marksOf([{}, { filePath: 'a.ts' }], [{ filePath: 'a.ts' }])).toEqual(['new', 'failed before'])
  expect(pastOf([FLAKY, {}], [{}, PASSED])).toEqual([
    { badRuns: 0, runs: 1 },
    { mark: 'failed before', badRuns: 1, runs: 1 },
  ])
})

it('a flaky case has no mark, and says in how many earlier runs it failed or was flaky', () => {
  expect(pastOf([FLAKY], [{}], [FLAKY], [PASSED])).toEqual([{ badRuns: 2, runs: 3 }])
})

it('a case that passes now says in how many earlier runs it failed or was flaky, and no other case has a past', () => {
  expect(pastOf([PASSED], [PASSED], [FLAKY], [{}], [])).toEqual([{ badRuns: 2, runs: 3 }])
  expect(pastOf([PASSED, {}], [{}, PASSED])).toEqual([{ mark: 'failed before', badRuns: 1, runs: 1 }])
  const others = ['PASSED', 'SKIPPED', 'NEW', ''].map((status) => ({ title: status, status }))
  const failures = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'].map((status) => ({ title: status, status }))
  expect(pastOf([...others, ...failures], [])).toHaveLength(failures.length)
  expect(pastOf([{ status: 'SKIPPED' }, { status: 'NEW' }], [{}, {}])).toEqual([])
})

describe('the test cases of this run and of an earlier run', () => {
  const run = (testCases: readonly TestCaseFields[], status = 'PASSED') =>
    aRun({ status, testCases: testCases.map((fields) => aTestCase({ title: 'a', ...fields })) })
  const baselineOf = (...runs: readonly Run[]) => runs.map((one) => earlierRun(one)) as unknown as Baseline
  const names = (testCases: readonly EarlierCase[]) =>
    testCases.map(({ title, filePath }) => `${title}${filePath ?? ''}`)

  /** The titles of the added, the removed and the newly skipped cases. */
  function differences(now: readonly TestCaseFields[], before: readonly TestCaseFields[]) {
    const { added, removed, newlySkipped } = compareTestCases(run(now), baselineOf(run(before))) ?? expect.fail()
    return [added, removed, newlySkipped].map(names)
  }
  const [SKIPPED, A, B] = [{ status: 'SKIPPED' }, { filePath: 'a.ts' }, { filePath: 'b.ts' }]

  it.each<[string, readonly TestCaseFields[], readonly TestCaseFields[], string[][]]>([
    ['are equal', [{}, FLAKY], [{ status: 'FAILED' }, {}], [[], [], []]],
    ['have other titles', [{ title: 'b' }, {}], [{}, { title: 'c' }, { title: 'd' }], [['b'], ['c', 'd'], []]],
    ['have other files', [A], [B], [['aa.ts'], ['ab.ts'], []]],
    ['have no files in one of them', [A, B], [{}, {}, {}], [[], ['a'], []]],
    ['have files that one of them does not have', [{}, A], [B, A], [[], [], []]],
    ['are fewer of one title', [{}], [{}, {}, {}], [[], ['a', 'a'], []]],
    ['are more of one title', [A, A], [A], [['aa.ts'], [], []]],
    ['are skipped now', [SKIPPED], [{ status: 'ERROR' }], [[], [], ['a']]],
    ['were skipped before too', [SKIPPED, {}], [{}, SKIPPED], [[], [], []]],
    ['were skipped before too, in another order', [{}, SKIPPED], [SKIPPED, {}], [[], [], []]],
    ['had no known result before', [SKIPPED, STEADY], [{ status: 'NEW' }, STEADY], [[], [], []]],
    ['run now', [{}], [SKIPPED, { title: 'b' }], [[], ['b'], []]],
    ['are skipped now, and others of one title not', [SKIPPED, SKIPPED, {}], [{}, {}, SKIPPED], [[], [], ['a']]],
  ])('are compared if they %s', (_, now, before, expected) => {
    expect(differences(now, before)).toEqual(expected)
  })

  it('are compared only if both finished as PASSED or FAILED: with the latest such run', () => {
    const [one, two] = [[{ title: 'one' }], [{ title: 'two' }]]
    const removed = (now: Run, ...before: readonly Run[]) => {
      const comparison = compareTestCases(now, baselineOf(...before))
      return comparison && names(comparison.removed)
    }
    expect(removed(run(one), run(two, 'TIMEDOUT'), run([{}], 'FAILED'), run(two))).toEqual(['a'])
    expect(removed(run(one), run(two, 'CANCELLED'))).toBeUndefined()
    for (const status of ['INTERRUPTED', 'TIMEDOUT', 'CANCELLED', 'RUNNING', 'PAUSED'])
      expect(removed(run(one, status), run(two)), status).toBeUndefined()
    expect(removed(aRun({ testCases: undefined }), run(two))).toEqual(['two'])
    expect(removed(aRun({ status: 'FAILED', testCases: undefined }), run(two))).toBeUndefined()
  })

  it('may be many thousands', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      title: `case ${index % 50}`,
      filePath: `${index}.ts`,
    }))
    expect(differences(many.slice(1), many)).toEqual([[], ['case 00.ts'], []])
  })
})
