import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isUsableRunId } from '../../src/service/test-service.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'

it.each([
  'r',
  '7',
  'run-1',
  'a.b',
  '...',
  'A_b~c:d=e+f/g@h-i',
  '0197c1d2-7a3e-7b55-8e1f-5f0c2a9d4e11',
  'x'.repeat(256),
])('accepts %j as an id', (runId) => {
  expect(isUsableRunId(runId)).toBe(true)
})

it.each([
  '',
  '.',
  '..',
  'x'.repeat(257),
  'a b',
  'a\nb',
  'a\n',
  '%2e',
  'a?b',
  'a#b',
  'a\\b',
  'a;b',
  '$(id)',
  '`id`',
  'é',
  '\0',
])('refuses %j as an id', (runId) => {
  expect(isUsableRunId(runId)).toBe(false)
})

it('accepts no id that a shell or a line of a file could read as more than a word', () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 30 }), (runId) => {
      if (isUsableRunId(runId)) expect(runId).toMatch(/^[\w.~:=+/@-]+$/)
    }),
  )
})
