import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resultsJson } from '../../src/report/results-json.ts'
import { anOutcome, aRun } from '../support/builders.ts'

const chunksOf = (raw: unknown) => [...resultsJson(anOutcome({ run: aRun({ raw }) }))]
const written = (raw: unknown) => chunksOf(raw).join('')

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

  it('is null if the service never responded', () => {
    const result = anOutcome({ ending: { kind: 'started' } })
    expect([...resultsJson(result)].join('')).toBe('null\n')
  })

  it('is written in pieces that stay small, however many the test cases and however long a title', () => {
    const testCases = Array.from({ length: 20_000 }, (_, index) => ({ title: `case ${index}`, status: 'PASSED' }))
    for (const title of ['x', '"', '😀', '\u200b', '#', '##[']) {
      const sent = { results: { testCases: [...testCases, { title: title.repeat(1_000_000) }] } }
      const chunks = chunksOf(sent)
      // A character may be written as six, and a run of number signs is not split.
      if (title !== '#') expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(500_000)
      expect(JSON.parse(chunks.join(''))).toEqual(sent)
    }
  })

  it('is written for a response nested deeper than anybody can read', () => {
    for (const depth of [199, 200, 1_000, 5_000]) {
      const deep: unknown = JSON.parse(`{"results":{"testCases":[${'['.repeat(depth)}${']'.repeat(depth)}]}}`)
      expect(JSON.stringify(JSON.parse(written(deep))).includes('nested deeper than 200 levels')).toBe(depth > 200)
    }
  })
})
