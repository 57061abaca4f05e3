import { describe, expect, it } from 'vitest'
import { baselineOf, newFailures } from '../../src/model/baseline.ts'
import { aTestCase, type TestCaseFields } from '../support/builders.ts'

const FINISHED = new Date('2026-02-28T09:05:59.000Z')

/** The titles of the new failures of this run, with a baseline of these test cases. */
function newIn(run: readonly TestCaseFields[], before: readonly TestCaseFields[]) {
  const failing = (fields: TestCaseFields) => aTestCase({ title: 'pays', status: 'FAILED', ...fields })
  return [...newFailures(run.map(failing), baselineOf(before.map(failing), FINISHED))].map(({ title }) => title)
}

describe('a failure is new', () => {
  const [CART, ORDER] = [{ filePath: 'e2e/cart.ts' }, { filePath: 'e2e/order.ts' }]

  it.each<[string, TestCaseFields, readonly TestCaseFields[], boolean]>([
    ['the baseline has no failure', {}, [], true],
    ['the baseline has a failure of this title', {}, [{}], false],
    ['the baseline has failures of other titles', {}, [{ title: 'Pays' }, { title: 'pays ' }], true],
    ['both have the same file', CART, [ORDER, CART], false],
    ['both have a file, and the files differ', CART, [ORDER], true],
    ['only this run has a file', CART, [ORDER, {}], false],
    ['only the baseline has a file', {}, [ORDER], false],
    ['only the lines differ', { ...CART, line: 1 }, [{ ...CART, line: 2, message: 'other' }], false],
    ['it failed in another way before', { status: 'TIMEDOUT' }, [{ status: 'ERROR' }], false],
    ['it was flaky before', {}, [{ status: 'FLAKY' }], true],
    ['it had no known result before', {}, [{ status: 'NEW' }, { status: '' }], true],
    ['it passed before', CART, [{ ...CART, status: 'PASSED' }], true],
  ])('or not, if %s', (_, inRun, before, isNew) => {
    expect(newIn([inRun], before)).toEqual(isNew ? ['pays'] : [])
  })

  it('only if it is one: every other test case is no failure', () => {
    const others = ['PASSED', 'FLAKY', 'SKIPPED', 'NEW', ''].map((status) => ({ title: status, status }))
    const failures = ['FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED'].map((status) => ({ title: status, status }))
    expect(newIn([...others, ...failures], [])).toEqual(failures.map(({ title }) => title))
  })
})

it('a hundred thousand failures are compared in one go', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ title: `case ${index % 50}`, filePath: `${index}.ts` }))
  expect(newIn([...many, { title: 'case 0', filePath: 'new.ts' }], many)).toEqual(['case 0'])
})
