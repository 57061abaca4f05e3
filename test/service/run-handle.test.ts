import { expect, it } from 'vitest'
import { isNotFoundFinal, isUsableRunId } from '../../src/service/run-handle.ts'

it.each([
  '7',
  '...',
  'A_b~c:d=e+f/g@h-i',
  '0197c1d2-7a3e-7b55-8e1f-5f0c2a9d4e11',
  'x'.repeat(256),
])('accepts %j as an id', (runId) => {
  expect(isUsableRunId(runId)).toBe(true)
})

const REFUSED = ['', '.', '..', 'x'.repeat(257), 'a b', 'a\n', '%2e', 'a?b', 'a#b', 'a\\b', '$(id)', '`id`', 'é', '\0']

it.each(REFUSED)('refuses %j as an id', (runId) => {
  expect(isUsableRunId(runId)).toBe(false)
})

it.each([
  [{ id: 'r' }, 0, true],
  [{ id: 'r', knownSinceMs: 1_000 }, 15_999, false],
  [{ id: 'r', knownSinceMs: 1_000 }, 16_000, true],
])('takes a 404 about %j, for a request that was sent at %i ms, as final: %j', (handle, sentAtMs, isFinal) => {
  expect(isNotFoundFinal(handle, sentAtMs)).toBe(isFinal)
})
