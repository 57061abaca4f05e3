import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { UniqueNames } from '../../src/report/unique-names.ts'

const namesFor = (titles: readonly string[]) => {
  const names = new UniqueNames()
  return titles.map((title) => names.nameFor(untrusted(title)))
}

describe('unique names', () => {
  it('number the titles that come again', () => {
    expect(namesFor(['a', 'b', 'a', 'a'])).toEqual(['a', 'b', 'a (2)', 'a (3)'])
  })

  it('make way for titles that look like numbered ones', () => {
    expect(namesFor(['a (2)', 'a', 'a', 'a (2)'])).toEqual(['a (2)', 'a', 'a (3)', 'a (2) (2)'])
  })

  it('are unique for any titles, and keep a title that stands alone', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'a (2)', 'a (3)', 'a (2) (2)', 'b', '')), (titles) => {
        const names = namesFor(titles)
        expect(new Set(names).size).toBe(titles.length)
        if (new Set(titles).size === titles.length) expect(names).toEqual(titles)
      }),
    )
  })

  it('are found in linear time for a hundred thousand equal titles', () => {
    expect(namesFor(Array.from({ length: 100_000 }, () => 'a')).at(-1)).toBe('a (100000)')
  })
})
