import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ACTION_METADATA_SCHEMA, CONTEXTS_OF_DEFAULTS } from './action-metadata-schema.ts'
import { ROOT, read } from './documents.ts'

const validate = new Ajv({ allErrors: true }).compile(ACTION_METADATA_SCHEMA)
const metadata = parse(read('action.yml'))

test('action.yml keeps to the schema of action metadata', () => {
  validate(metadata)
  expect(validate.errors ?? []).toEqual([])
})

test.each([
  ['a default that is no text', { inputs: { wait: { description: 'x', default: true } } }],
  ['an input without a description', { inputs: { wait: {} } }],
  ['a misspelt key', { inputs: { wait: { description: 'x', requird: true } } }],
  ['a runtime that is gone', { runs: { using: 'node16', main: 'dist/main/index.js' } }],
  ['an unknown color', { branding: { icon: 'check', color: 'pink' } }],
])('the schema refuses %s', (_, change) => {
  expect(validate({ ...metadata, ...change })).toBe(false)
})

test('the files that action.yml runs are there', () => {
  for (const file of [metadata.runs.main, metadata.runs.post]) expect(existsSync(join(ROOT, file))).toBe(true)
})

test('the defaults of inputs name only contexts that GitHub gives them', () => {
  const inputs: { default?: string }[] = Object.values(metadata.inputs)
  const expressions = inputs.flatMap((input) => input.default?.match(/\$\{\{.*?\}\}/gs) ?? [])
  expect(expressions).not.toHaveLength(0)
  const contexts = expressions.flatMap((expression) =>
    expression.replace(/'[^']*'/g, '').match(/(?<![.\w])[a-z]+(?=[.)])/g),
  )
  expect(CONTEXTS_OF_DEFAULTS).toEqual(expect.arrayContaining(contexts))
})
