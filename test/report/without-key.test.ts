import { describe, expect, it } from 'vitest'
import { untrusted } from '../../src/domain/untrusted.ts'
import { keyRedaction } from '../../src/domain/without-key.ts'
import { countsOf, headline } from '../../src/report/headline.ts'
import { jsonWithoutKey, resultWithoutKey } from '../../src/report/without-key.ts'
import { aStepResult } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

const KEY = 'sk_live_"<&\\$1'
const redact = keyRedaction(KEY)

describe('a result without the key', () => {
  it('has it masked in what the user gave, and in an id that was refused', () => {
    const told = resultWithoutKey(
      aStepResult({
        runId: `id ${KEY}`,
        target: { kind: 'test-suite', testSuiteId: KEY },
        order: { branch: `${KEY}${KEY}`, environment: KEY, frameworkProject: KEY, runGroup: KEY },
        ending: {
          kind: 'gave-up',
          during: 'start',
          failure: { kind: 'broken-answer', expected: 'an id', got: untrusted(`${KEY}!`) },
          cancellation: { kind: 'cancelled' },
        },
      }),
      redact,
    )
    expect(JSON.stringify(told)).not.toContain(JSON.stringify(KEY).slice(1, -1))
    expect(told).toMatchObject({ runId: 'id ***', order: { branch: '******' }, ending: { failure: { got: '***!' } } })
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
      const told = resultWithoutKey(result, keyRedaction(key))
      expect(headline(told, countsOf(told)), name).toEqual(headline(result, countsOf(result)))
      expect([told.verdict, told.ending.kind, told.run], name).toEqual([result.verdict, result.ending.kind, result.run])
    }
  })
})

describe('JSON without the key', () => {
  it('has it masked in strings, names and numbers', () => {
    expect(jsonWithoutKey({ [`a${KEY}`]: [`b${KEY}`, 1, null, true] }, redact)).toEqual({
      'a***': ['b***', 1, null, true],
    })
    expect(jsonWithoutKey({ pin: 12345678.5 }, keyRedaction('12345678'))).toEqual({ pin: '***.5' })
  })

  it('is the very same value where the key is nowhere', () => {
    const value = { a: [{ b: 'c', d: 1 }] }
    expect(jsonWithoutKey(value, redact)).toBe(value)
    expect(jsonWithoutKey(value, keyRedaction(''))).toBe(value)
  })

  it('keeps a name that would be a prototype elsewhere', () => {
    const mended = jsonWithoutKey(JSON.parse(`{"__proto__": {"x": ${JSON.stringify(KEY)}}}`), redact)
    expect(JSON.stringify(mended)).toBe('{"__proto__":{"x":"***"}}')
  })

  it('ends where JSON is nested deeper than anybody reads', () => {
    const depth = 100_000
    const deep: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(JSON.stringify(jsonWithoutKey(deep, redact))).toContain('nested deeper than 200 levels')
  })
})
