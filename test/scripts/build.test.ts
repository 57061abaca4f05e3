import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { differences } from '../../scripts/build.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let fresh: string
let committed: string

beforeEach(() => {
  const folder = temporaryFolder()
  fresh = join(folder, 'fresh')
  committed = join(folder, 'committed')
  for (const entry of ['main', 'post']) {
    mkdirSync(join(fresh, entry), { recursive: true })
    writeFileSync(join(fresh, entry, 'index.js'), `// ${entry}`)
  }
  cpSync(fresh, committed, { recursive: true })
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
