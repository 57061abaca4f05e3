import { expect, test } from 'vitest'
import { isInside } from '../../src/machine/paths.ts'

test.each([
  ['/work', '/work', true],
  ['/work/reports/', '/work', true],
  ['/work/..reports', '/work', true],
  ['/work/a/../../temp', '/work', false],
  ['/workshop', '/work', false],
  ['/', '/work', false],
])('whether %s is inside %s: %s', (path, folder, expected) => {
  expect(isInside(path, folder)).toBe(expected)
})
