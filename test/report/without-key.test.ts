import { describe, expect, it } from 'vitest'
import type { StepResult } from '../../src/domain/step-result.ts'
import { untrusted } from '../../src/domain/untrusted.ts'
import { countsOf, headline } from '../../src/report/headline.ts'
import { jsonWithoutKey, redact, withoutKey } from '../../src/report/without-key.ts'
import { aRun, aStepResult, aTestCase } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

const KEY = 'sk_live_"<&\\$1'

describe('a result without the key', () => {
  it('has it masked in every text of every part', () => {
    const spoilt = aStepResult({
      runId: `id ${KEY}`,
      target: { kind: 'project', projectId: KEY },
      order: { branch: `${KEY}${KEY}`, environment: KEY, frameworkProject: KEY, runGroup: KEY },
      ending: {
        kind: 'gave-up',
        during: 'wait',
        run: aRun({
          status: KEY,
          branchName: KEY,
          testCases: [aTestCase({ title: `a ${KEY} b`, status: KEY })],
          asSent: {},
        }),
        failure: { kind: 'status', status: 500, error: untrusted(KEY) },
        cancellation: { kind: 'failed', failure: { kind: 'not-sent', reason: KEY } },
      },
    })
    const told = withoutKey(spoilt, KEY)
    expect(JSON.stringify(told)).not.toContain(JSON.stringify(KEY).slice(1, -1))
    expect(told.run?.testCases?.[0]?.title).toBe('a *** b')
    expect(told.order.branch).toBe('******')
  })

  it('shares all test cases where the key is in none of them', () => {
    const result = aStepResult()
    expect(withoutKey(result, KEY)).toEqual(result)
    expect(withoutKey(result, KEY).run?.testCases).toBe(result.run?.testCases)
    expect(withoutKey(result, '')).toBe(result)
  })

  it.each([
    'a',
    'A',
    'PASSED',
    'failed',
    'ed',
    'wait',
    'no-',
    'project',
    'i',
  ])('means the same as before, even where the key is "%s", a part of our own words', (key) => {
    for (const [name, result] of Object.entries(ENDINGS)) {
      const told = withoutKey(result, key)
      expect(countsOf(told), name).toEqual(countsOf(result))
      expect(headline(told, countsOf(told)), name).toEqual(headline(result, countsOf(result)))
      expect([told.verdict, told.ending.kind, told.run?.status], name).toEqual([
        result.verdict,
        result.ending.kind,
        result.run?.status,
      ])
    }
  })

  it('keeps dates, what the service sent, and all that it need not change', () => {
    const harmless = aTestCase()
    const run = aRun({ testCases: [harmless, aTestCase({ title: KEY })] })
    const told: StepResult = withoutKey(aStepResult({ run }), KEY)
    expect(told.run?.startedAt).toBe(run.startedAt)
    expect(told.run?.asSent).toBe(run.asSent)
    expect(told.run?.testCases?.[0]).toBe(harmless)
    expect(run.testCases?.[1]?.title).toBe(KEY)
  })
})

describe('JSON without the key', () => {
  it('has it masked in strings, names and numbers', () => {
    expect(jsonWithoutKey({ [`a${KEY}`]: [`b${KEY}`, 1, null, true] }, KEY)).toEqual({
      'a***': ['b***', 1, null, true],
    })
    expect(jsonWithoutKey({ pin: 12345678.5 }, '12345678')).toEqual({ pin: '***' })
  })

  it('is the very same value where the key is nowhere', () => {
    const value = { a: [{ b: 'c' }] }
    expect(jsonWithoutKey(value, KEY)).toBe(value)
    expect(jsonWithoutKey(value, '')).toBe(value)
  })

  it('keeps a name that would be a prototype elsewhere', () => {
    const mended = jsonWithoutKey(JSON.parse(`{"__proto__": {"x": ${JSON.stringify(KEY)}}}`), KEY)
    expect(JSON.stringify(mended)).toBe('{"__proto__":{"x":"***"}}')
  })

  it('ends where JSON is nested deeper than anybody reads', () => {
    const depth = 100_000
    const deep: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(JSON.stringify(jsonWithoutKey(deep, KEY))).toContain('nested deeper than 200 levels')
  })
})

describe('redacting', () => {
  it('takes the key literally and leaves text alone for an empty key', () => {
    expect(redact('a.b axb', 'a.b')).toBe('*** axb')
    expect(redact('text', '')).toBe('text')
  })
})
