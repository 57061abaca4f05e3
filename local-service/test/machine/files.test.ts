import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInside, readPartOfFile, readRegularFile } from '../../src/machine/files.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

describe('a file that others can write', () => {
  it('is read if it is a regular file, and is empty if it is missing', () => {
    const file = join(temporaryFolder(), 'file')
    expect(readRegularFile(file)).toBe('')
    writeFileSync(file, 'täxt')
    expect(readRegularFile(file)).toBe('täxt')
    expect(readPartOfFile(file, 0, 9, 5).toString()).toBe('täxt')
  })

  it('is not read if it is too large, a link, a named pipe or a folder', async () => {
    const folder = temporaryFolder()
    const [file, link, pipe] = ['file', 'link', 'pipe'].map((name) => join(folder, name)) as [string, string, string]
    writeFileSync(file, 'text')
    symlinkSync(file, link)
    execFileSync('mkfifo', [pipe])
    expect(() => readPartOfFile(file, 0, 9, 3)).toThrow(/file is larger than/)
    expect(() => readRegularFile(link)).toThrow(/^ELOOP/)
    rmSync(file)
    expect(() => readRegularFile(link)).toThrow(/^ELOOP/)
    for (const other of [pipe, folder]) {
      expect(() => readRegularFile(other)).toThrow(`${other} is not a regular file`)
    }
  })

  // The system makes the text of this file while it is read, and says that its size is 0.
  it.runIf(process.platform === 'linux')('is read up to the size that it has when it is opened', () => {
    expect(readRegularFile('/proc/self/status')).toBe('')
  })
})

it.each([
  ['/work', '/work', true],
  ['/work/reports/', '/work', true],
  ['/work/..reports', '/work', true],
  ['/work/a/../../temp', '/work', false],
  ['/workshop', '/work', false],
  ['/', '/work', false],
])('whether %s is inside %s: %s', (path, folder, expected) => {
  expect(isInside(path, folder)).toBe(expected)
})
