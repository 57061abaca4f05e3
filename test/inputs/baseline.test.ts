import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readBaseline } from '../../src/inputs/baseline.ts'
import type { Baseline } from '../../src/model/baseline.ts'
import { render } from '../../src/text/safe-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RUN = {
  status: 'FAILED',
  finishedAt: '2026-02-28T09:05:59.000Z',
  results: {
    testCases: [
      { title: 'pays', status: 'FAILED', filePath: 'e2e/pay.ts', line: 3 },
      { title: 'adds', status: 'PASSED' },
      { title: 'waits', status: 'TIMEDOUT' },
    ],
  },
}

function read(content: string | ((path: string) => void), kind: 'project' | 'test-suite' = 'project') {
  const path = join(temporaryFolder(), 'results.json')
  if (typeof content === 'string') writeFileSync(path, content)
  else content(path)
  return readPath(path, kind)
}

function folderOf(files: Readonly<Record<string, string>>) {
  return (path: string) => {
    mkdirSync(path)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  }
}

function readPath(path: string, kind: 'project' | 'test-suite' = 'project') {
  const lines: string[] = []
  const say = (level: string) => (line: Parameters<typeof render>[0]) => void lines.push(`${level} ${render(line)}`)
  const redact = (text: string) => text.replaceAll('sk-live', '***')
  const baseline = readBaseline(path, kind, redact, { info: say('info'), warning: say('warning') })
  return { baseline, lines: lines.map((line) => line.replaceAll(path, 'PATH')) }
}

const titlesIn = (baseline: Baseline | undefined) => baseline?.[0].testCases.map(({ title }) => title)

describe('the baseline', () => {
  it('may be a folder of a thousand files, of which the 20 latest count, the latest first', () => {
    const dayOf = (index: number) => new Date(Date.UTC(2026, 0, index))
    const { baseline, lines } = read(
      folderOf(
        Object.fromEntries(
          Array.from({ length: 1000 }, (_, index) => [
            `${(index * 7) % 1000}.json`,
            JSON.stringify({ ...RUN, finishedAt: dayOf(index) }),
          ]),
        ),
      ),
    )
    expect(baseline?.map(({ finishedAt }) => finishedAt)).toEqual(
      Array.from({ length: 20 }, (_, index) => dayOf(999 - index)),
    )
    expect(lines).toEqual([])
  })

  it('may be the folder of reports that an earlier step has written', () => {
    const { baseline, lines } = read(folderOf({ 'results.json': JSON.stringify(RUN), 'ctrf.json': '{"results":{}}' }))
    expect(baseline).toHaveLength(1)
    expect(lines).toEqual([])
  })

  it('leaves out what is broken in a folder, and names the first file of it', () => {
    const { baseline, lines } = read((path) => {
      folderOf({ 'a.json': '{', 'b.json': JSON.stringify(RUN), 'c.json': '[1]', 'notes.txt': 'x' })(path)
      writeFileSync(join(path, 'd.json'), '')
      truncateSync(join(path, 'd.json'), 16 * 1024 * 1024 + 1)
    })
    expect(baseline).toHaveLength(1)
    expect(lines).toEqual([
      expect.stringMatching(
        /^warning The baseline PATH\/d\.json could not be read, because it has more than 16777216 bytes\. Files that could not be read either: 2\. The other files of the folder are compared\.$/,
      ),
    ])
  })

  it('has the runs in the order in which they finished, also if test cases have a time of their own', () => {
    const earlier = { ...RUN, finishedAt: '2026-01-01T00:00:00.000Z' }
    const { results, finishedAt, status } = RUN
    const early = results.testCases.map((testCase) => ({ ...testCase, finishedAt: '2025-12-31T00:00:00.000Z' }))
    const latest = { status, results: { testCases: early }, finishedAt, padding: 'x'.repeat(20_000) }
    const { baseline } = read(folderOf({ 'a.json': JSON.stringify(earlier), 'b.json': JSON.stringify(latest) }))
    expect(baseline?.map((run) => run.finishedAt?.toISOString())).toEqual([RUN.finishedAt, earlier.finishedAt])
  })

  it('may be a folder of large files, of which the latest 64 MiB count, and a warning counts the others', () => {
    const dayOf = (day: number) => new Date(Date.UTC(2026, 0, day))
    const paddingOf = (day: number) => ' '.repeat((day === 1 ? 1 : 15) << 20)
    const { finishedAt: _, ...others } = RUN
    // The time may stand before the results, or behind them. The oldest file is small, but an older file never replaces a later one.
    const results = (day: number) => {
      const [finishedAt, late] = [dayOf(day), { ...others, padding: paddingOf(day) }]
      return JSON.stringify(day % 2 === 0 ? { finishedAt, ...late } : { ...late, finishedAt })
    }
    const { baseline, lines } = read(
      folderOf({
        'c.json': results(6),
        'b.json': results(1),
        'd.json': results(2),
        ...Object.fromEntries([5, 3, 4].map((day) => [`a${day}.json`, results(day)])),
      }),
    )
    expect(baseline?.map(({ finishedAt }) => finishedAt)).toEqual([6, 5, 4, 3].map(dayOf))
    expect(lines).toEqual([
      'warning The files of the baseline PATH are too large, because together they may have at most 64 MiB. The latest are compared, and the number of files left out is 2. Keep the results of fewer runs.',
    ])
  })

  it.skipIf(process.platform === 'win32')(
    'may be a link that the user has named, but nothing reads a link or a folder in a folder',
    () => {
      const whole = JSON.stringify(RUN)
      const outside = join(temporaryFolder(), 'other.json')
      writeFileSync(outside, whole)
      expect(read((path) => symlinkSync(outside, path)).baseline).toHaveLength(1)
      const { baseline, lines } = read((path) => {
        folderOf({ 'a.json': whole })(path)
        symlinkSync(outside, join(path, 'b.json'))
        mkdirSync(join(path, 'c.json'))
      })
      expect(baseline).toHaveLength(1)
      expect(lines).toEqual([
        'warning The baseline PATH/b.json could not be read, because it is no plain file. Files that could not be read either: 1. The other files of the folder are compared.',
      ])
    },
  )

  it('may be a folder of results of a test suite, which have no time: the highest name is the latest', () => {
    const result = (testName: string) =>
      JSON.stringify({ testSuiteName: 's', results: [{ testName, status: 'FAILED' }] })
    const { baseline } = read(folderOf({ '9.json': result('old'), '10.json': result('new') }), 'test-suite')
    expect(titlesIn(baseline)).toEqual(['new'])
  })

  it('does not count a run in which no case ran, and one line says so if no other run is left', () => {
    const run = { status: 'FAILED', message: 'no browser', results: { testCases: [] } }
    expect(read(JSON.stringify(run))).toEqual({
      lines: [
        'info No test case ran in any run of the baseline PATH, so the reports do not say which failures are new.',
      ],
    })
    const times = { finishedAt: '2026-03-01T00:00:00.000Z' }
    const { baseline, lines } = read(
      folderOf({ 'a.json': JSON.stringify(RUN), 'b.json': JSON.stringify({ ...run, ...times }) }),
    )
    expect(baseline?.map(({ finishedAt }) => finishedAt)).toEqual([new Date(RUN.finishedAt)])
    expect(lines).toEqual([])
  })

  it('has `***` in place of the key, as a response has', () => {
    const text = JSON.stringify({ status: 'FAILED', results: { testCases: [{ title: 'sk-live', status: 'FAILED' }] } })
    expect(titlesIn(read(text).baseline)).toEqual(['***'])
  })
})

describe('a baseline that is not there', () => {
  it('is one line of the log', () => {
    expect(read(() => {})).toEqual({
      lines: [
        'info There is no baseline PATH, so the reports do not say which failures are new. A cache is empty at first.',
      ],
    })
  })

  it.each<[string, string | ((path: string) => void), string]>([
    ['is empty', '', 'it is not JSON'],
    [
      'is of a test suite',
      '{"testSuiteName":"smoke","results":[]}',
      'it is no response of the service (expected status to be a string, got nothing)',
    ],
    [
      'says PASSED without usable results',
      '{"status":"PASSED","results":{"testCases":"::error::x"}}',
      'it is no response of the service (expected results.testCases to be an array, got “"::error::x"”)',
    ],
    [
      'is a link to itself',
      (path) => symlinkSync(path, path),
      "ELOOP: too many symbolic links encountered, stat 'PATH'",
    ],
  ])('as a usable file is one warning: it %s', (_, content, why) => {
    const { baseline, lines } = read(content)
    expect(baseline).toBeUndefined()
    expect(lines).toEqual([
      `warning The baseline PATH could not be read, because ${why}. So the reports do not say which failures are new. Give a file results.json that this action has written, or a folder of such files.`,
    ])
  })

  it.skipIf(process.platform === 'win32')('because it is a named pipe does not make main wait', () => {
    const { lines } = read((path) => void execFileSync('mkfifo', [path]))
    expect(lines).toEqual([expect.stringContaining('it is no plain file')])
  })
})
