import { describe, expect, test } from 'vitest'
import { exceededJsonLimit } from '../../src/service/json-limits.ts'

const LIMITS = { depth: 3, containers: 4, elements: 5, distinctNames: 2 }
const exceeded = (json: string) => exceededJsonLimit(Buffer.from(json), LIMITS)

describe('the limits of JSON', () => {
  test.each([
    ['{"a":[{}],"b":1}', undefined],
    ['[[[[]]]]', 'JSON nested at most 3 levels deep'],
    ['[{},{},[],{}]', 'at most 4 arrays and objects'],
    ['[1,null,"x",2,3,4]', undefined],
    ['[1,null,"x",2,3,4,5]', 'at most 5 elements of arrays'],
    ['[1,{"a":1,"b":2,"a":3},4,5,6]', undefined],
    ['{"a":1,"b":2,"c":3}', 'at most 2 different member names'],
    ['{"a":"[[[[[,,,,,,,\\"[[[["}', undefined],
  ])('of %s: %s', (json, words) => {
    expect(exceeded(json)).toBe(words)
  })

  test('let through what a test service sends', () => {
    const testCases = Array.from({ length: 10_000 }, (_, index) => ({ title: `a ${index}`, status: 'PASSED' }))
    expect(exceededJsonLimit(Buffer.from(JSON.stringify({ results: { testCases } })))).toBeUndefined()
  })
})
