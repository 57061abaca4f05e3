import { equal } from 'node:assert/strict'

Deno.test('adds', () => equal(1 + 1, 2))

Deno.test('fails', () => {
  equal(1, 2)
})

Deno.test.ignore('is skipped', () => {})

Deno.test('has steps', async (step) => {
  await step.step('pays', () => {})
  await step.step('ships', () => {
    throw new Error('no van')
  })
})
