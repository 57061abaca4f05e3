import { expect, it } from 'vitest'
import { durationText } from '../../src/report/phrases.ts'
import { render } from '../../src/text/safe-text.ts'

const said = (ms: number) => render(durationText(ms))

it.each([
  [0, '0 ms'],
  [-5, '0 ms'],
  [340, '340 ms'],
  [999.6, '1 s'],
  [1234, '1.2 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min'],
  [184_000, '3 min 4 s'],
  [3_599_499, '59 min 59 s'],
  [3_599_500, '1 h'],
  [7_500_000, '2 h 5 min'],
  [36_000_000_000, '10,000 h'],
])('a length of time of %d ms is written as %s', (ms, words) => {
  expect(said(ms)).toBe(words)
})
