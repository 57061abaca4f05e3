import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readReportFile } from '../src/frameworks/report.ts'
import { describeFailure, framesIn, REPORT_FILE, ReportWriter } from '../src/frameworks/report-writer.ts'
import { temporaryFolder } from './a-local-service.ts'

async function aWriter() {
  const file = join(await temporaryFolder(), 'report')
  process.env[REPORT_FILE] = file
  onTestFinished(() => void delete process.env[REPORT_FILE])
  return { file, report: new ReportWriter() }
}

describe('a report with very many long messages', () => {
  it('is still read, with all test cases and shorter messages', async () => {
    const { file, report } = await aWriter()
    const count = 12_000
    for (let index = 0; index < count; index++) {
      const test = { id: String(index), project: '', file: '/shop/a.test.ts', path: [`test ${index}`] }
      // A line break needs two characters in the file.
      const failure = { message: `failure ${index}${'\n'.repeat(9000)}.` }
      report.startTest(test)
      report.finishTest(test, { state: 'failed', isFlaky: false, durationMs: 1, failure })
    }
    report.write({ event: 'finished', tests: [], files: [] })
    expect((await stat(file)).size).toBeLessThan(100 * 1024 * 1024)
    const { testCases = [] } = readReportFile(file, { root: '/shop', folder: '/shop' }) ?? {}
    expect(testCases).toHaveLength(count)
    for (const index of [0, count - 1]) expect(testCases[index]?.message).toMatch(new RegExp(`^failure ${index}\n`))
  })
})

describe('the place of a failure', () => {
  const at = (path: string) => `    at fails (${path}:3:7)`
  const here = join(process.cwd(), 'a.test.ts')

  it.each([
    ['is the first line in the project', ['node:assert', `${process.cwd()}/node_modules/x/y.js`, here, '/b.ts'], here],
    ['may be the URL of a file', [`file://${here.replace('a.test', 'a%20test')}`], here.replace('a.test', 'a test')],
    ['is not outside the project', ['/elsewhere/a.ts', `${process.cwd()}-other/a.ts`], undefined],
    ['is not a broken URL', ['file:///%'], undefined],
  ])('%s', (_what, paths, file) => {
    const stack = ['Error: broken', '    at a sentence', ...paths.map(at)].join('\n')
    const failure = describeFailure(
      [{ stack }],
      () => 'broken',
      ({ stack: text }) => framesIn(text),
    )
    expect(failure).toEqual({ message: 'broken', file, line: file === undefined ? undefined : 3 })
  })

  it('is read from a stack without names of functions', () => {
    expect(framesIn('Error\n    at /shop/a.ts:12:5\n    at async file:///shop/b.ts:1:2')).toEqual([
      { file: '/shop/a.ts', line: 12 },
      { file: '/shop/b.ts', line: 1 },
    ])
  })
})

it('writes nothing if no file is named', async () => {
  const { file } = await aWriter()
  delete process.env[REPORT_FILE]
  new ReportWriter().write({ event: 'finished' })
  expect(await readFile(file, 'utf8').catch(() => 'none')).toBe('none')
})
