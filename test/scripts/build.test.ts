import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { differences } from '../../scripts/build.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each([
  ['accepts what was built', () => {}, ''],
  ['refuses a missing file', (dist: string) => rmSync(join(dist, 'index.js')), 'D'],
  ['refuses other bytes', (dist: string) => writeFileSync(join(dist, 'index.js'), ''), 'M'],
  ['refuses a hidden file', (dist: string) => writeFileSync(join(dist, '.npmrc'), ''), 'A'],
  [
    'refuses a link in place of a file, even to the same bytes',
    (dist: string) => {
      rmSync(join(dist, 'index.js'))
      symlinkSync('../fresh/index.js', join(dist, 'index.js'))
    },
    'T',
  ],
])('the check of dist %s', (_, change, difference) => {
  const folder = temporaryFolder()
  const [fresh, dist] = ['fresh', 'dist'].map((name) => join(folder, name)) as [string, string]
  for (const path of [fresh, dist]) {
    mkdirSync(path)
    writeFileSync(join(path, 'index.js'), '// main')
  }
  change(dist)
  expect(differences(fresh, dist).replace(/\t.*\n/, '')).toBe(difference)
})
