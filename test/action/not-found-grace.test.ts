import { expect, test } from 'vitest'
import { isWithinNotFoundGrace } from '../../src/action/not-found-grace.ts'

test('a run may be unknown for the first 15 s after its start', () => {
  expect(isWithinNotFoundGrace(1_000, 1_000)).toBe(true)
  expect(isWithinNotFoundGrace(1_000, 15_999)).toBe(true)
  expect(isWithinNotFoundGrace(1_000, 16_000)).toBe(false)
})

test('a run that somebody else started is known or gone', () => {
  expect(isWithinNotFoundGrace(undefined, 0)).toBe(false)
})
