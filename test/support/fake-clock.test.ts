import { expect, test } from 'vitest'
import { FakeClock } from './fake-clock.ts'

// These tests check what tests that use the clock would not notice.

test('a sleep takes at least a millisecond', async () => {
  const clock = new FakeClock()
  await clock.run(clock.sleep(0))
  expect(clock.now()).toBe(1)
})

test('a time that is too long for a real timer is refused', async () => {
  const clock = new FakeClock()
  await expect(clock.sleep(Number.NaN)).rejects.toThrow('NaN')
  await expect(clock.sleep(2 ** 31)).rejects.toThrow('2147483648')
  expect(() => clock.timeout(Number.POSITIVE_INFINITY)).toThrow('Infinity')
})

test('a promise that nothing can settle is an error, so that no test hangs', async () => {
  const clock = new FakeClock()
  clock.at(Number.POSITIVE_INFINITY, () => {})
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('nothing is left to wait for')
})
