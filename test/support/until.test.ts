import { expect, test } from 'vitest'
import { until } from './until.ts'

test('a wait ends when its condition holds, with the value of the condition', async () => {
  let calls = 0
  expect(await until(() => ++calls === 3 && 'there')).toBe('there')
  expect(calls).toBe(3)
})

test('a wait that takes too long says what is missing', async () => {
  const isThere = () => false
  await expect(until(() => isThere(), undefined, 0)).rejects.toThrow('Not within 0 s: () => isThere()')
  await expect(until(isThere, 'the run is PASSED', 0)).rejects.toThrow('Not within 0 s: the run is PASSED')
})
