import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { read } from './documents.ts'
import { mistakesInAction } from './github-schema.ts'

const text = read('action.yml')
const metadata = parse(text)

test("action.yml keeps to GitHub's published schema", () => {
  expect(mistakesInAction(text)).toEqual([])
})

test.each([
  ['a misspelt key', 'branding:', 'brandin:'],
  ['an icon that is none', /icon: .*/, 'icon: checkmark'],
  ['a context that inputs do not have', 'toJSON(matrix)', 'toJSON(secrets)'],
])('that schema refuses %s', (_, right, wrong) => {
  expect(mistakesInAction(text.replace(right, wrong))).not.toEqual([])
})

// What the schema leaves open.

test('the Marketplace can list it', () => {
  expect(metadata).toMatchObject({ author: expect.any(String), branding: expect.anything() })
  expect(metadata.description.length).toBeLessThanOrEqual(125)
})

test('every input has only keys that GitHub knows, and a default only as text', () => {
  const known = ['description', 'required', 'default', 'deprecationMessage']
  for (const [name, input] of Object.entries<Record<string, unknown>>(metadata.inputs)) {
    expect.soft(known, name).toEqual(expect.arrayContaining(Object.keys(input)))
    // GitHub turns `true` and `60` into text; readers of the file should see what arrives.
    expect.soft(typeof (input.default ?? ''), name).toBe('string')
  }
})

test('every input and every output is described', () => {
  const described = { ...metadata.inputs, ...metadata.outputs }
  for (const name of Object.keys(described)) expect.soft(described[name], name).toHaveProperty('description')
})
