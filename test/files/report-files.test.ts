import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultReportFolder, type ReportFile, writeReportFiles } from '../../src/files/report-files.ts'
import { render } from '../../src/text/safe-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function job() {
  const root = temporaryFolder()
  const [workspace, temp, outside] = [join(root, 'work'), join(root, 'temp'), join(root, 'outside')]
  for (const folder of [workspace, temp, outside]) mkdirSync(folder)
  const warnings: string[] = []
  const log = {
    info: () => {},
    warning: (message: Parameters<typeof render>[0]) => void warnings.push(render(message)),
  }
  const write = (folder: string, files: readonly ReportFile[] = FILES) => writeReportFiles(files, folder, log)
  return { workspace, temp, outside, warnings, write }
}

const FILES: readonly ReportFile[] = [
  { name: 'results.json', text: '{"status":"PASSED"}\n' },
  { name: 'junit.xml', text: '<Grüße>✓\n' },
]

it.each([
  ['A_b.c-9', 'test-run-A_b.c-9'],
  ['a/b:c=d+e@f~g', 'test-run-a_b_c_d_e_f_g'],
  ['é🌱', 'test-run-___'],
  ['x'.repeat(256), `test-run-${'x'.repeat(246)}`],
])('the default folder of the run %s is %s in the temporary folder', (runId, name) => {
  expect(defaultReportFolder({ RUNNER_TEMP: '/runner/temp' }, runId)).toBe(resolve('/runner/temp', name))
})

describe('the report files', () => {
  it('are written whole into a new folder, whose path is returned', () => {
    const { workspace, warnings, write } = job()
    const folder = join(workspace, 'a/b/reports')
    expect(write(folder)).toBe(folder)
    expect(readdirSync(folder).toSorted()).toEqual(['junit.xml', 'results.json'])
    expect(readFileSync(join(folder, 'results.json'), 'utf8')).toBe('{"status":"PASSED"}\n')
    expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toBe('<Grüße>✓\n')
    expect(warnings).toEqual([])
  })

  it('are in the folder that the path leads to, also through a link', () => {
    const { workspace, outside, write } = job()
    symlinkSync(outside, join(workspace, 'link'))
    expect(write(join(workspace, 'link/reports'))).toBe(join(workspace, 'link/reports'))
    expect(existsSync(join(outside, 'reports/results.json'))).toBe(true)
  })
})

it.skipIf(process.platform === 'win32').each([
  ['a link', (target: string, path: string) => symlinkSync(target, path)],
  ['a hard link', (target: string, path: string) => linkSync(target, path)],
  // To open a named pipe would wait for a reader, and no signal would end this.
  ['a named pipe', (_: string, path: string) => void execFileSync('mkfifo', [path])],
])('a report file replaces %s with its name, and writes nothing through it', (_, put) => {
  const { workspace, outside, warnings, write } = job()
  const target = join(outside, 'target')
  writeFileSync(target, 'precious')
  put(target, join(workspace, 'results.json'))
  expect(write(workspace)).toBe(workspace)
  expect(readFileSync(target, 'utf8')).toBe('precious')
  expect(readdirSync(outside)).toEqual(['target'])
  expect(lstatSync(join(workspace, 'results.json')).isFile()).toBe(true)
  expect(readFileSync(join(workspace, 'results.json'), 'utf8')).toBe('{"status":"PASSED"}\n')
  expect(warnings).toEqual([])
})

describe('one warning and no folder is the result of', () => {
  it.each<[what: string, path: string, folder: string]>([
    ['a folder in the place of a report file', 'results.json/precious', '.'],
    ['a file in the place of the folder', 'reports', 'reports'],
    ['a file above the folder', 'reports', 'reports/deeper'],
  ])('%s, and nothing is lost', (_, path, folder) => {
    const { workspace, warnings, write } = job()
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), 'precious')
    expect(write(join(workspace, folder))).toBeUndefined()
    expect(readFileSync(join(workspace, path), 'utf8')).toBe('precious')
    expect(readdirSync(workspace)).toEqual([path.split('/')[0]])
    expect(warnings).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')(
    'a place in which nobody can make a folder, and main does not hang there',
    () => {
      const { warnings, write } = job()
      expect(write('/proc/reports/deeper')).toBeUndefined()
      expect(warnings).toHaveLength(1)
    },
  )
})
