import { expect, it } from 'vitest'
import { createKeyedMutex } from '../../src/machine/keyed-mutex.ts'

it('runs what is about the same thing one after the other, and what is about another beside it', async () => {
  const runExclusive = createKeyedMutex()
  const events: string[] = []
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const task = (name: string, gate?: Promise<void>) => async () => {
    events.push(`${name} begins`)
    await gate
    events.push(`${name} ends`)
    return name
  }
  const first = runExclusive('a', task('first', gates[0]?.promise))
  const second = runExclusive('a', task('second', gates[1]?.promise))
  const other = runExclusive('b', task('other'))
  expect(await other).toBe('other')
  expect(events).toEqual(['first begins', 'other begins', 'other ends'])
  gates[1]?.resolve()
  gates[0]?.resolve()
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  expect(events.slice(3)).toEqual(['first ends', 'second begins', 'second ends'])
})
