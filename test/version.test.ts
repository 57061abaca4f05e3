import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERSION } from '../src/version.ts'

it('the version agrees with package.json', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(VERSION).toBe(version)
})
