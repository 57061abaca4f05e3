import { expect, test } from 'vitest'
import { FakeClock } from './fake-clock.ts'

test('time jumps from one timer to the next, in their parameters, and those of one time as they were set', async () => {
  const clock = new FakeClock()
  const rung: string[] = []
  const ring = (name: string) => () => rung.push(`${name} ${clock.now()}`)
  clock.at(30, ring('c'))
  clock.at(10, ring('a'))
  clock.at(30, ring('d'))
  clock.at(20, ring('b'))
  clock.at(20, ring('forgotten'))()
  await clock.run(clock.sleep(40))
  expect(rung).toEqual(['a 10', 'b 20', 'c 30', 'd 30'])
})

test('a sleep ends with its time or its signal, and takes at least a millisecond', async () => {
  const clock = new FakeClock()
  await clock.run(clock.sleep(0))
  expect(clock.now()).toBe(1)
  await clock.run(clock.sleep(1_000, clock.timeout(99)))
  expect(clock.now()).toBe(100)
  await clock.run(clock.sleep(1_000, AbortSignal.abort()))
  expect(clock.now()).toBe(100)
})

test('what a timer sets off is done before time goes on', async () => {
  const clock = new FakeClock()
  const walk = async () => {
    for (let step = 0; step < 50; step++) await Promise.resolve()
    return clock.now()
  }
  clock.at(10, () => {})
  expect(await clock.run(walk())).toBe(0)
})

test('a time that no real timer takes is refused', async () => {
  const clock = new FakeClock()
  await expect(clock.sleep(Number.NaN)).rejects.toThrow('NaN')
  await expect(clock.sleep(2 ** 31)).rejects.toThrow('2147483648')
  expect(() => clock.timeout(Number.POSITIVE_INFINITY)).toThrow('Infinity')
})

test('a promise that nothing can settle any more is an error, not a test that hangs', async () => {
  const clock = new FakeClock()
  clock.at(Number.POSITIVE_INFINITY, () => {})
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('nothing is left to wait for')
})
