import { expect, test } from 'vitest'
import { mayBeUnknownYet } from '../../src/action/fresh-run.ts'

test('a run may be unknown for the first 15 s after its start', () => {
  expect(mayBeUnknownYet(1_000, 1_000)).toBe(true)
  expect(mayBeUnknownYet(1_000, 15_999)).toBe(true)
  expect(mayBeUnknownYet(1_000, 16_000)).toBe(false)
})

test('a run that somebody else started is known or gone', () => {
  expect(mayBeUnknownYet(undefined, 0)).toBe(false)
})
