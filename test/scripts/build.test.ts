import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { differences } from '../../scripts/build.ts'

let folder: string
let fresh: string
let committed: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'build-'))
  fresh = join(folder, 'fresh')
  committed = join(folder, 'committed')
  for (const entry of ['main', 'post']) {
    mkdirSync(join(fresh, entry), { recursive: true })
    writeFileSync(join(fresh, entry, 'index.js'), `// ${entry}`)
  }
  cpSync(fresh, committed, { recursive: true })
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('the check of dist', () => {
  it('accepts what was built', () => {
    expect(differences(fresh, committed)).toEqual([])
  })

  it.each([
    ['a missing file', () => rmSync(join(committed, 'post/index.js')), 'missing: dist/post/index.js'],
    ['other bytes', () => writeFileSync(join(committed, 'main/index.js'), ''), 'stale: dist/main/index.js'],
    ['one more file', () => writeFileSync(join(committed, 'main/extra.js'), ''), 'not built: dist/main/extra.js'],
    ['a hidden file', () => writeFileSync(join(committed, '.npmrc'), ''), 'not built: dist/.npmrc'],
  ])('refuses %s', (_, change, difference) => {
    change()
    expect(differences(fresh, committed)).toEqual([difference])
  })

  it('refuses a link in place of a file, even to the same bytes', () => {
    rmSync(join(committed, 'main/index.js'))
    symlinkSync(join(fresh, 'main/index.js'), join(committed, 'main/index.js'))
    expect(differences(fresh, committed)).toEqual(['a link or special file, not a file: dist/main/index.js'])
  })
})
