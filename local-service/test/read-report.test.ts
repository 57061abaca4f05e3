import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ReportReader } from '../src/frameworks/read-report.ts'
import { temporaryFolder } from './a-local-service.ts'

const FOLDERS = { root: '/shop', folder: '/shop' }

describe('a reader of reports', () => {
  it('reads a report that is written after the reader has begun', async () => {
    const reader = new ReportReader()
    const file = join(await temporaryFolder(), 'report')
    await writeFile(file, '{"event":"finished","tests":[{"path":["adds"],"state":"passed"}]}\n')
    const { testCases } = (await reader.readReport(file, FOLDERS)) ?? {}
    expect(testCases).toMatchObject([{ title: 'adds', status: 'PASSED' }])
  })

  it('gets none of the variables of the service', async () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('NODE_OPTIONS', '--require=./a-file-of-the-job.cjs')
    expect(await new ReportReader().readReport('/shop/no-report', FOLDERS)).toBeUndefined()
  })

  it('leaves no timer, which would keep the service from ending', () => {
    const script = `
      import { ReportReader } from '${new URL('../src/frameworks/read-report.ts', import.meta.url)}'
      await new ReportReader().readReport('/shop/no-report', { root: '/shop', folder: '/shop' })
      console.log(process.getActiveResourcesInfo().includes('Timeout'))
      process.exit()`
    const args = ['--input-type=module', '--eval', script]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: 'false\n', stderr: '' })
  })

  it('reads nothing after it was dismissed', async () => {
    const reader = new ReportReader()
    reader.dismiss()
    await expect(reader.readReport('/shop/report', FOLDERS)).rejects.toThrow('reading it takes more than')
  })

  it('ends without a word if the service dies before it asks', () => {
    const program = join(import.meta.dirname, '../src/frameworks/report-reader.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { input: '', encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})
