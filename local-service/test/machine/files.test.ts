import { execFileSync } from 'node:child_process'
import { chownSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPartOfFile, readRegularFile } from '../../src/machine/files.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

/** A file of a user who is not the one that runs these tests. */
async function fileOfSomebodyElse(): Promise<string> {
  if (process.getuid?.() !== 0) return '/etc/passwd'
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, 'text')
  chownSync(file, 65_534, 65_534)
  return file
}

describe('a file that others can write', () => {
  it('is read if it is a regular file of this user, and is empty if it is missing', async () => {
    const file = join(temporaryFolder(), 'file')
    expect(readRegularFile(file)).toBe('')
    writeFileSync(file, 'täxt')
    expect(readRegularFile(file)).toBe('täxt')
    expect(readRegularFile(file, { limitBytes: 5 })).toBe('täxt')
  })

  it('is read in parts, the last of which ends with the file', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, 'abcdefg')
    expect([0, 3, 6, 9].map((from) => readPartOfFile(file, from, 3).toString())).toEqual(['abc', 'def', 'g', ''])
  })

  it('is not read if it is too large, a link, a named pipe or a folder', async () => {
    const folder = temporaryFolder()
    const [file, link, pipe] = ['file', 'link', 'pipe'].map((name) => join(folder, name)) as [string, string, string]
    writeFileSync(file, 'text')
    symlinkSync(file, link)
    execFileSync('mkfifo', [pipe])
    expect(() => readRegularFile(file, { limitBytes: 3 })).toThrow(/file is larger than/)
    for (const other of [link, pipe, folder]) {
      expect(() => readRegularFile(other)).toThrow(`${other} is not a regular file`)
    }
  })

  it('is not read if it belongs to another user, unless the caller accepts that', async () => {
    const file = await fileOfSomebodyElse()
    expect(() => readRegularFile(file)).toThrow(`${file} belongs to another user`)
    expect(readRegularFile(file, { acceptsAnyOwner: true })).not.toBe('')
  })

  // The system makes the text of this file while it is read, and says that its size is 0.
  it.runIf(process.platform === 'linux')('is read up to the size that it has when it is opened', () => {
    expect(readRegularFile('/proc/self/status')).toBe('')
  })
})
