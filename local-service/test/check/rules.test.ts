import { describe, expect, it } from 'vitest'
import { problemsOfResponse } from '../../../test/support/openapi.ts'
import { Driver, type Target } from '../../src/check/driver.ts'
import type { Request } from '../../src/check/exchange.ts'
import { describeLeft, isAnswered } from '../../src/check/observations.ts'
import { judge, RULES, type RuleId } from '../../src/check/rules.ts'
import { LIMITS } from '../../src/check/session.ts'
import { type Behaviour, createService, isFinished, KEY, RIGHT, type Sent } from './a-service-in-memory.ts'
import { FAULTS, sends, shows } from './faults.ts'

const TARGET: Target = {
  key: KEY,
  project: 'shop',
  otherProject: 'other',
  suite: 'smoke',
  environment: 'staging',
  frameworkProject: 'unit',
  branch: 'next',
}

/** The rules that the schemas of docs/openapi.yaml hold, too. */
const OF_BODIES: readonly RuleId[] = [
  ...(['status-code', 'error-object', 'start-response', 'cancel-response', 'run-status', 'suite-fields'] as const),
  ...(['started-at', 'finished-at', 'branch-name', 'queued-started-at', 'running-results', 'results'] as const),
  ...(['case-object', 'case-title', 'case-status', 'case-duration', 'case-message', 'case-line'] as const),
  'run-message',
]

async function check(faults: Partial<Behaviour> = {}, target: Partial<Target> = {}) {
  const { effects, runs, requests } = createService(faults)
  const lines: string[] = []
  const { signal } = new AbortController()
  const driver = new Driver({ ...TARGET, ...target }, { ...effects, say: (line) => lines.push(line) }, LIMITS, signal)
  await driver.run().finally(() => driver.cleanUp())
  const rules = judge(driver.observations)
  const having = (...verdicts: string[]) =>
    rules.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id)
  return { rules, having, lines, runs, requests, driver, left: describeLeft(driver.exchanges) }
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

describe('what the document leaves open', () => {
  it.each<[string, Partial<Behaviour>]>([
    ['null for the end of a run that is not finished', shows((right) => ({ finishedAt: right.finishedAt ?? null }))],
    ['any spelling of ISO 8601', shows(({ startedAt }) => ({ startedAt: startedAt && '2026-01-01 00:00:00,25+0100' }))],
    ['a prefix before the name of a branch', shows(({ branchName }) => ({ branchName: `refs/heads/${branchName}` }))],
    ['400 or 404 for what does not exist', sends(({ status }) => (status === 404 ? { status: 400 } : {}))],
    ['200 and an empty list for a cancel of nothing', sends(toEmptyLists)],
    ['more fields', shows(() => ({ project: 'shop', attempts: 1 }))],
  ])('breaks no rule: %s', async (_case, behaviour) => {
    expect((await check(behaviour)).having('broken')).toEqual([])
  })

  it('differs from no note: no reason why a test case or a run did not pass', async () => {
    const { having } = await check(
      shows(({ results }) => ({
        message: undefined,
        ...(results !== undefined && { results: { testCases: [{ title: 'adds', status: 'PASSED', durationMs: 12 }] } }),
      })),
    )
    expect(having('broken', 'differs')).toEqual([])
    expect(having('not observed')).toEqual([
      'retry-after',
      'run-message',
      'case-message',
      'case-file-path',
      'case-line',
    ])
  })

  function toEmptyLists(right: Sent, { endpoint }: Request): Partial<Sent> {
    return endpoint === 'cancel' && right.status !== 200 && right.status !== 401
      ? { status: 200, body: { cancelled: [] } }
      : {}
  }
})

describe('a service with one fault', () => {
  it.each(Object.entries(FAULTS))('breaks exactly its rules: %s', async (_title, { breaks, ...faults }) => {
    const { having, rules } = await check(faults)
    const found = rules.filter(({ verdict }) => verdict === 'broken' || verdict === 'differs')
    expect(having('broken', 'differs'), JSON.stringify(found, undefined, 1)).toEqual(
      expect.arrayContaining([...breaks]),
    )
    expect(having('broken', 'differs')).toHaveLength(breaks.length)
  })

  it.each(Object.entries(FAULTS))('is refused by docs/openapi.yaml if the fault is in a body: %s', async (_title, {
    breaks,
    ...faults
  }) => {
    const { driver } = await check(faults)
    const answered = driver.observations.exchanges.filter((one) => isAnswered(one) && one.response?.json !== undefined)
    const problems = answered.flatMap(({ method, path, response }) =>
      problemsOfResponse({ method, path, status: response?.status ?? 0, body: response?.json }),
    )
    const isInBody = breaks.some((id) => OF_BODIES.includes(id))
    expect([problems.length > 0, problems[0]]).toEqual([isInBody, isInBody ? expect.any(String) : undefined])
  })

  it('keeps no rule about fields that never came', async () => {
    const { having } = await check(FAULTS['other names of fields'])
    const ofFields = [
      'started-at',
      'finished-at',
      'branch-name',
      'times-order',
      'times-spelling',
      'times-stay',
      'results',
      'case-title-there',
    ]
    expect(having('not observed')).toEqual(expect.arrayContaining([...ofFields, 'case-title', 'branch-tested']))
  })

  it('keeps no rule about fields that were not sent', async () => {
    const { having } = await check({}, { environment: undefined, branch: undefined })
    expect(having('not observed')).toEqual(['retry-after', 'start-fields', 'start-deprecated'])
  })

  it('does not keep the rule about the case of the key, if the key has no letters', async () => {
    const key = '12345678'
    const { having } = await check({ isKey: (header) => RIGHT.isKey(header) || header === `Bearer ${key}` }, { key })
    expect([having('broken'), having('not observed')]).toEqual([[], ['key-case', 'retry-after']])
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
