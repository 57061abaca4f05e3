import { describe, expect, it } from 'vitest'
import { Driver, LIMITS, type Target } from '../../src/check/driver.ts'
import { describeLeft } from '../../src/check/observations.ts'
import { judge, RULES } from '../../src/check/rules.ts'
import { type Behaviour, createService, isFinished, KEY } from './a-service-in-memory.ts'
import { FAULTS } from './faults.ts'

const TARGET: Target = {
  key: KEY,
  project: 'shop',
  otherProject: 'other',
  suite: 'smoke',
  environment: 'staging',
  frameworkProject: 'unit',
  branch: 'next',
}

export async function check(faults: Partial<Behaviour> = {}, target: Partial<Target> = {}) {
  const { world, runs, requests } = createService(faults)
  const lines: string[] = []
  const { signal } = new AbortController()
  const driver = new Driver({ ...TARGET, ...target }, { ...world, say: (line) => lines.push(line) }, LIMITS, signal)
  await driver.run().finally(() => driver.cleanUp())
  const rules = judge(driver.observations)
  const having = (...verdicts: string[]) =>
    rules.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id)
  return { rules, having, lines, runs, requests, left: describeLeft(driver.exchanges) }
}

describe('a right service', () => {
  it('keeps every rule', async () => {
    const { having, rules, left, runs } = await check()
    expect(rules.filter(({ verdict }) => verdict === 'broken' || verdict === 'differs')).toEqual([])
    expect(having('not observed')).toEqual(['retry-after'])
    expect(left).toEqual([])
    expect(runs.filter((run) => !isFinished(run))).toEqual([])
  })
})

describe('a service with one fault', () => {
  it.each(Object.entries(FAULTS))('%s', async (_title, { breaks, ...faults }) => {
    const { having, rules } = await check(faults)
    const found = rules.filter(({ verdict }) => verdict === 'broken' || verdict === 'differs')
    expect(having('broken', 'differs'), JSON.stringify(found, undefined, 1)).toEqual(
      expect.arrayContaining([...breaks]),
    )
    expect(having('broken', 'differs')).toHaveLength(breaks.length)
  })

  it('is there for each of the rules', () => {
    const broken = Object.values(FAULTS).flatMap(({ breaks }) => breaks)
    expect(
      Object.values(RULES)
        .flatMap((rules) => Object.keys(rules))
        .toSorted(),
    ).toEqual([...new Set(broken)].toSorted())
  })
})
