import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INVISIBLE, PLAINLY_VISIBLE, truncate, visible } from '../../src/report/visible-text.ts'

describe('a cut', () => {
  it('leaves short text whole and marks long text', () => {
    expect(truncate('abcd', 4)).toBe('abcd')
    expect(truncate('abcde', 4)).toBe('abc…')
  })

  it('is never made inside a character', () => {
    expect(truncate('ab😀cd', 4)).toBe('ab…')
    expect(truncate('ab😀cd', 5)).toBe('ab😀…')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.integer({ min: 1, max: 20 }), (text, limitChars) => {
        const cut = truncate(text, limitChars) as unknown as string
        expect(cut.length).toBeLessThanOrEqual(limitChars)
        expect(cut.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('visible text', () => {
  it('never grows together over what is left out', () => {
    expect(visible('sec\u200bret')).toBe('sec ret')
    expect(visible('sec\u001b[31mret')).toBe('sec ret')
  })

  it('is found by the quick look exactly where the slow one would have found nothing', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const character = String.fromCharCode(unit)
      if (PLAINLY_VISIBLE.test(character)) expect(character.replace(INVISIBLE, '')).toBe(character)
    }
    expect(PLAINLY_VISIBLE.test('checkout › pays “by card” – für 5 € · 測試')).toBe(true)
  })

  it('is made in linear time', () => {
    for (const piece of ['\u001b[', '\u001b]', '\u001b[0;', ' ', '\u200b', '\u009b1 ']) {
      expect(String(visible(piece.repeat(500_000))).length).toBeLessThanOrEqual(piece.length * 500_000)
    }
  })
})
