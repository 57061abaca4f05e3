import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareFiles } from '../src/runs/prepare-files.ts'
import { createRunFolders, resourcesOf } from '../src/runs/run-resources.ts'
import type { TestRun } from '../src/runs/test-run.ts'
import { temporaryFolder, testRunIn } from './a-local-service.ts'

async function runOfCopy(files: (folder: string) => void): Promise<TestRun> {
  const [folder, data] = [await temporaryFolder(), await temporaryFolder()]
  files(folder)
  const checkout = { kind: 'copy', place: { root: folder, folder: '' } } as const
  const resources = resourcesOf(randomUUID(), { dataFolder: data, temporaryFolder: data })
  await createRunFolders(resources)
  return testRunIn(folder, { checkout, resources }, { folder, framework: 'vitest' })
}

async function copyOf(files: (folder: string) => void): Promise<string> {
  const run = await runOfCopy(files)
  const source = await prepareFiles(run, new AbortController().signal)
  expect(source?.root).toBe(run.resources.tree)
  return run.resources.tree
}

const namesIn = (folder: string) => readdirSync(folder, 'latin1').sort()

describe('the copy of a folder that is tested as it stands', () => {
  // Other systems have no such names.
  it.runIf(process.platform === 'linux')('has files, folders and links whose names are not UTF-8', async () => {
    const copy = await copyOf((folder) => {
      const bytes = (name: string) => Buffer.from(`${folder}/${name}`, 'latin1')
      mkdirSync(bytes('folder\xff'))
      writeFileSync(bytes('folder\xff/file\xfe'), 'text')
      symlinkSync(Buffer.from('target\xfd', 'latin1'), bytes('link\xfc'))
    })
    expect(namesIn(copy)).toEqual(['folder\xff', 'link\xfc'])
    expect(readFileSync(Buffer.from(`${copy}/folder\xff/file\xfe`, 'latin1'), 'utf8')).toBe('text')
    expect(readlinkSync(Buffer.from(`${copy}/link\xfc`, 'latin1'), 'latin1')).toBe('target\xfd')
  })

  it('has the permissions of the files and folders, also of a folder in which nobody may write', async () => {
    const copy = await copyOf((folder) => {
      mkdirSync(join(folder, 'locked/inner'), { recursive: true })
      writeFileSync(join(folder, 'locked/inner/run.sh'), ':')
      chmodSync(join(folder, 'locked/inner/run.sh'), 0o755)
      for (const path of ['locked/inner', 'locked']) chmodSync(join(folder, path), 0o555)
    })
    const modes = ['locked', 'locked/inner', 'locked/inner/run.sh'].map(
      (path) => lstatSync(join(copy, path)).mode & 0o777,
    )
    expect(modes).toEqual([0o555, 0o555, 0o755])
  })

  it('has links as they are, and no git folder, no packages, no socket and no named pipe', async () => {
    const copy = await copyOf((folder) => {
      for (const path of ['.git', 'node_modules', 'a/.git', 'a/node_modules']) {
        mkdirSync(join(folder, path), { recursive: true })
        writeFileSync(join(folder, path, 'file'), '')
      }
      for (const path of ['a/b', 'a/node_modules.txt']) writeFileSync(join(folder, path), '')
      symlinkSync('/nowhere', join(folder, 'link'))
      execFileSync('mkfifo', [join(folder, 'pipe')])
    })
    // The packages are linked afterwards.
    expect(namesIn(copy)).toEqual(['a', 'link', 'node_modules'])
    expect(namesIn(join(copy, 'a'))).toEqual(['b', 'node_modules.txt'])
    expect(lstatSync(join(copy, 'node_modules/file')).isSymbolicLink()).toBe(true)
    expect(readlinkSync(join(copy, 'link'))).toBe('/nowhere')
  })

  it('is given up if the run is stopped', async () => {
    const run = await runOfCopy((folder) => writeFileSync(join(folder, 'file'), ''))
    expect(await prepareFiles(run, AbortSignal.abort())).toBeUndefined()
  })
})
