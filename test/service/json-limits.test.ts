import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exceededJsonLimit } from '../../src/service/json-limits.ts'

const LIMITS = { depth: 3, containers: 4, elements: 5, distinctNames: 2 }
const exceeded = (json: string) => exceededJsonLimit(Buffer.from(json), LIMITS)

describe('the limits of JSON', () => {
  test.each([
    ['{"a":[{}],"b":1}', undefined],
    ['[[[[]]]]', 'JSON nested at most 3 levels deep'],
    [']]}[[[[', 'JSON nested at most 3 levels deep'],
    ['[{},{},[],{}]', 'at most 4 arrays and objects'],
    ['[1,null,"x",2,3,4]', undefined],
    ['[1,null,"x",2,3,4,5]', 'at most 5 elements of arrays'],
    ['[1,{"a":1,"b":2,"a":3},4,5,6]', undefined],
    ['{"a":1,"b":2,"c":3}', 'at most 2 different member names'],
    [String.raw`{"\n":1,"\t":2,"n":3}`, 'at most 2 different member names'],
    ['{"a":"[[[[[,,,,,,,\\"[[[["}', undefined],
  ])('of %s: %s', (json, words) => {
    expect(exceeded(json)).toBe(words)
  })

  test('let through what a test service sends', () => {
    const testCases = Array.from({ length: 10_000 }, (_, index) => ({ title: `a ${index}`, status: 'PASSED' }))
    expect(exceededJsonLimit(Buffer.from(JSON.stringify({ results: { testCases } })))).toBeUndefined()
  })
})

/** The same counts, from the parsed value. */
function countsOf(value: unknown, depth = 1): { depth: number; containers: number; elements: number; names: string[] } {
  if (typeof value !== 'object' || value === null) return { depth: depth - 1, containers: 0, elements: 0, names: [] }
  const parts = Object.values(value).map((part) => countsOf(part, depth + 1))
  const sum = (of: (part: ReturnType<typeof countsOf>) => number) => parts.reduce((total, part) => total + of(part), 0)
  return {
    depth: Math.max(depth, ...parts.map((part) => part.depth)),
    containers: 1 + sum((part) => part.containers),
    // Its commas are what is counted of an array.
    elements: sum((part) => part.elements) + (Array.isArray(value) ? Math.max(0, value.length - 1) : 0),
    names: [...(Array.isArray(value) ? [] : Object.keys(value)), ...parts.flatMap((part) => part.names)],
  }
}

describe('any JSON', () => {
  const text = fc.oneof(fc.constantFrom('a', 'b', '"', '\\', '\\"', '[', '{"a":[', ',', '"]}', 'é'), fc.string())
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 6 },
      text,
      fc.constantFrom(1, null, true),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(text, tie('json'), { maxKeys: 4 }),
    ),
  }))
  const limits = fc.record({
    depth: fc.integer({ min: 1, max: 5 }),
    containers: fc.integer({ min: 1, max: 12 }),
    elements: fc.integer({ min: 1, max: 8 }),
    distinctNames: fc.integer({ min: 1, max: 6 }),
  })

  test('exceeds a limit if its value does, however it is written', () => {
    fc.assert(
      fc.property(json, limits, fc.constantFrom('', ' ', '\n\t'), (value, limits, space) => {
        const counts = countsOf(JSON.parse(JSON.stringify(value)))
        const isWithin =
          counts.depth <= limits.depth &&
          counts.containers <= limits.containers &&
          counts.elements <= limits.elements &&
          new Set(counts.names).size <= limits.distinctNames
        const found = exceededJsonLimit(Buffer.from(JSON.stringify(value, null, space)), limits)
        expect(found === undefined).toBe(isWithin)
      }),
      { numRuns: 2_000 },
    )
  })

  test('that is cut off or none at all is looked at without trouble', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'a', ' ')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(exceededJsonLimit(Buffer.from(pieces.join('')), LIMITS) ?? '').toBeTypeOf('string')
      }),
      { numRuns: 1_000 },
    )
  })
})
