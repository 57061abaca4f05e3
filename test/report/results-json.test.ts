import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyRedaction } from '../../src/outcome/without-key.ts'
import { jsonWithoutKey, resultsJson } from '../../src/report/results-json.ts'
import { aRun, aStepResult } from '../support/builders.ts'

const written = (raw: unknown, apiKey = '') =>
  [...resultsJson(aStepResult({ run: aRun({ raw }) }), keyRedaction(apiKey))].join('')

describe('results.json', () => {
  it('is the run as the service sent it, one test case a line', () => {
    const sent = {
      status: 'PASSED',
      extra: [1, { a: [] }],
      results: { testCases: [{ title: 'a' }, { title: 'b' }], more: {} },
    }
    const text = written(sent)
    expect(JSON.parse(text)).toEqual(sent)
    expect(text.split('\n')).toContain('{"title":"a"},')
  })

  it('reads back whatever JSON it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (sent) => {
        expect(JSON.parse(written(sent))).toEqual(JSON.parse(JSON.stringify(sent)))
      }),
    )
  })

  it('is null where the service never answered', () => {
    const result = aStepResult({ ending: { kind: 'started' } })
    expect([...resultsJson(result, keyRedaction(''))].join('')).toBe('null\n')
  })

  it('has the key masked at every depth, in names too, however JSON would have escaped it', () => {
    const key = 'a"\\<☃##[b'
    const sent = { [`x${key}`]: key, results: { testCases: [{ title: `>${key}<`, deeper: { [key]: [[key]] } }] } }
    const masked = { 'x***': '***', results: { testCases: [{ title: '>***<', deeper: { '***': [['***']] } }] } }
    expect(JSON.parse(written(sent, key))).toEqual(masked)
  })

  it('is written in pieces that stay small, however many the test cases', () => {
    const testCases = Array.from({ length: 20_000 }, (_, index) => ({
      title: `case ${index}`,
      status: 'PASSED',
      durationMs: 1,
    }))
    const run = aRun({ raw: { results: { testCases } } })
    const chunks = [...resultsJson(aStepResult({ run }), keyRedaction('k'))]
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(50_000)
    expect(JSON.parse(chunks.join('')).results.testCases).toHaveLength(20_000)
  })

  it('is written for an answer nested deeper than anybody can read', () => {
    const deep: unknown = JSON.parse(`{"results":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    expect(() => JSON.parse(written(deep))).not.toThrow()
  })
})

describe('JSON without the key', () => {
  const key = 'sk_live_"<&\\$1'
  const redact = keyRedaction(key)

  it('has it masked in strings, names and numbers', () => {
    expect(jsonWithoutKey({ [`a${key}`]: [`b${key}`, 1, null, true] }, redact)).toEqual({
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
    const mended = jsonWithoutKey(JSON.parse(`{"__proto__": {"x": ${JSON.stringify(key)}}}`), redact)
    expect(JSON.stringify(mended)).toBe('{"__proto__":{"x":"***"}}')
  })

  it('ends where JSON is nested deeper than anybody reads', () => {
    const depth = 100_000
    const deep: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(JSON.stringify(jsonWithoutKey(deep, redact))).toContain('nested deeper than 200 levels')
  })
})
