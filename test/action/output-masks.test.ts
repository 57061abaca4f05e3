import { describe, expect, it } from 'vitest'
import { OutputMasks } from '../../src/action/output-masks.ts'

/** The lines as the log shows them. */
function shown(...lines: readonly string[]): readonly string[] {
  const masks = new OutputMasks()
  return [...masks.partsOf(lines)].flatMap((part) => part.map((line) => masks.hide(line)))
}

describe('a value that the tests mask', () => {
  it('is hidden in its own line and in every later line', () => {
    const masks = new OutputMasks()
    const lines = ['token s3cret', '::add-mask::s3cret', 'token s3cret, s3cret']
    const parts = [...masks.partsOf(lines)]
    expect(parts).toEqual([['token s3cret'], ['::add-mask::***'], ['token s3cret, s3cret']])
    expect(masks.hide('token s3cret, s3cret!')).toBe('token ***, ***!')
  })

  // The runner reads these forms.
  it.each([
    ['  ::add-mask::s3cret', '  ::add-mask::***'],
    ['::ADD-MASK::s3cret', '::ADD-MASK::***'],
    ['::add-mask name=x::s3cret', '::add-mask name=x::***'],
    ['a ##[add-mask]s3cret', 'a ##[add-mask]***'],
    ['##[add-mask a=b]s3cret', '##[add-mask a=b]***'],
  ])('is hidden after “%s”', (line, expected) => {
    expect(shown(line, 's3cret')).toEqual([expected, '***'])
  })

  it.each([
    'x ::add-mask::s3cret',
    '::add-masks::s3cret',
    ': :add-mask::s3cret',
    '##[x] ##[add-mask]s3cret',
    '##[add-mask s3cret',
  ])('is not meant by “%s”, which is no command for the runner', (line) => {
    expect(shown(line, 's3cret')).toEqual([line, 's3cret'])
  })

  it('may have several lines and escaped characters, and each line counts', () => {
    expect(shown('::add-mask::first%0D%0A  100 %25 sure\\d ', 'first', '100 % sure\\d')).toEqual([
      '::add-mask::***',
      '***',
      '***',
    ])
    expect(shown('::add-mask::a%250Ab', 'a%0Ab', '::add-mask::semi%3Bcolon', 'semi%3Bcolon')).toEqual([
      '::add-mask::***',
      '***',
      '::add-mask::***',
      '***',
    ])
    expect(shown('##[add-mask]semi%3Bcolon%5D', 'semi;colon]')).toEqual(['##[add-mask]***', '***'])
  })

  it('of fewer than 4 characters is hidden in its own line only', () => {
    expect(shown('::add-mask::abc', 'abc', '::add-mask::😀😀😀', '😀😀😀', '::add-mask::abcd', 'abcd')).toEqual([
      '::add-mask::***',
      'abc',
      '::add-mask::***',
      '😀😀😀',
      '::add-mask::***',
      '***',
    ])
  })

  it('is hidden as a whole, also if it begins with another value', () => {
    expect(shown('::add-mask::abcd', '::add-mask::abcdefgh', 'abcdefgh abcd').at(-1)).toBe('*** ***')
  })
})

it('up to 1,000 values are hidden', () => {
  const masks = new OutputMasks()
  const commands = (count: number) => Array.from({ length: count }, (_, index) => `::add-mask::value ${index}.`)
  for (const _ of masks.partsOf(commands(1_000)));
  expect(masks.areTooMany).toBe(false)
  for (const _ of masks.partsOf(commands(1_001)));
  expect(masks.areTooMany).toBe(true)
})

it('a long line costs little, whatever it has', () => {
  const line = `${'##[add-mask '.repeat(200_000)}`
  expect(shown(line)).toEqual([line])
})
