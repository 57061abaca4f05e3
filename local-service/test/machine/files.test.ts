import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInside, readPartOfFile, readRegularFile, removeFolder } from '../../src/machine/files.ts'
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

describe('a folder of tests', () => {
  it('is removed if nobody may write to it, and nothing behind a link in it is changed', async () => {
    const home = temporaryFolder()
    chmodSync(home, 0o777)
    // Root may write to every folder.
    const script = `
      const { removeFolder } = await import('${new URL('../../src/machine/files.ts', import.meta.url)}')
      const fs = await import('node:fs')
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534) }
      for (const folder of ['private/file', 'output/deep/empty']) fs.mkdirSync(folder, { recursive: true })
      fs.symlinkSync('../private', 'output/report')
      for (const folder of ['private/file', 'private', 'output/deep', 'output']) fs.chmodSync(folder, 0o555)
      const error = await removeFolder(process.cwd() + '/output/report').catch((error) => error)
      const modes = ['private', 'private/file'].map((folder) => (fs.statSync(folder).mode & 0o777).toString(8))
      await removeFolder(fs.realpathSync('output'))
      console.log(modes.join(' '), fs.existsSync('private/file'), fs.existsSync('output'), String(error.message))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { cwd: home, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^555 555 true false .*output\/report.*: Permission denied/s)
  })

  it('is removed if its path is longer than the system takes', async () => {
    const folder = temporaryFolder()
    const deep = 'for i in $(seq 30); do mkdir -p $(printf "%0200d" 0) && cd -P *; done'
    spawnSync('sh', ['-c', deep], { cwd: folder })
    expect(readdirSync(folder)).toHaveLength(1)
    await removeFolder(folder)
    expect(existsSync(folder)).toBe(false)
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
