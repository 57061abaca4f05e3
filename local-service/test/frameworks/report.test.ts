import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { toMessage, toReport } from '../../src/frameworks/report.ts'
import { ReportReader } from '../../src/frameworks/report-reader.ts'

const FOLDERS = { root: '/repository', folder: '/repository/shop' }

const HOME = mkdtempSync(join(tmpdir(), 'local-service-test-'))
afterAll(() => rmSync(HOME, { recursive: true }))

function readText(text: string) {
  const file = join(HOME, 'report')
  writeFileSync(file, text)
  const reader = new ReportReader(file)
  return toReport(reader.readAll(), FOLDERS)
}

function read(...events: object[]) {
  return readText(events.map((event) => JSON.stringify(event)).join('\n'))
}

function finished(tests: object[], others: object = {}) {
  return read({ event: 'finished', tests, ...others })
}

describe('a report', () => {
  it('has the framework project in each title, and the file of each test, whatever other tests there are', () => {
    const testIn = (file: string, project: string) => ({
      ...{ file: `/repository/shop/${file}`, project, path: ['', 'cart', 'adds'] },
      ...{ state: 'passed', durationMs: 1.6 },
    })
    const inA = { title: 'cart > adds', status: 'PASSED', durationMs: 2, filePath: 'shop/a.test.ts' }
    const inB = { ...inA, filePath: 'shop/b.test.ts' }
    const inUnit = { ...inA, title: '[unit] > cart > adds' }
    expect(finished([testIn('a.test.ts', '')])?.testCases).toEqual([inA])
    const all = [testIn('a.test.ts', ''), testIn('b.test.ts', ''), testIn('a.test.ts', 'unit')]
    expect(finished([...all, testIn('a.test.ts', '')])?.testCases).toEqual([inA, inB, inUnit, inA])
  })

  it('says of a test that was interrupted that it had not finished, unless the framework says why', () => {
    const message = 'This test had not finished when the run ended.'
    const interrupted = { path: ['a'], state: 'interrupted', durationMs: 12 }
    const failure = { message: 'the browser was closed' }
    expect(finished([interrupted, { ...interrupted, failure }])?.testCases).toEqual([
      { title: 'a', status: 'INTERRUPTED', durationMs: 12, message },
      { title: 'a', status: 'INTERRUPTED', durationMs: 12, message: failure.message },
    ])
  })

  it('has the results of its last event, whatever the events before it say, and in whatever order they came', () => {
    const test = { id: '1', path: ['adds'] }
    const result = { ...test, state: 'passed', durationMs: 2 }
    const failed = { event: 'test-finished', test: { ...test, state: 'failed' } }
    const late = { event: 'test-started', test, atMs: 0 }
    const end = { event: 'finished', tests: [result] }
    for (const events of [
      [failed, late, end],
      [end, failed, late],
      [late, end, { event: 'file-started', file: {} }],
    ])
      expect(read(...events)).toMatchObject({ isComplete: true, testCases: [{ title: 'adds', status: 'PASSED' }] })
  })

  it('tells the same file of two framework projects apart', () => {
    const file = '/repository/shop/a.test.ts'
    const files = [
      { project: 'unit', file, hasFailed: true },
      { project: 'browser', file, hasFailed: true },
    ]
    const failedInUnit = { project: 'unit', file, path: ['adds'], state: 'failed' }
    expect(finished([failedInUnit], { files })?.testCases.map(({ title }) => title)).toEqual([
      '[unit] > adds',
      '[browser] > a.test.ts',
    ])

    const started = files.map((of) => ({ event: 'file-started', file: of }))
    const report = read(...started, { event: 'file-finished', file: files[0] })
    expect(report).toMatchObject({
      isComplete: false,
      testCases: [{ title: '[browser] > a.test.ts', status: 'INTERRUPTED' }],
    })
  })

  it('has the failure of a file beside a failed test of it, and nothing more of a file that only has failed tests', () => {
    const [file, other] = ['/repository/shop/a.test.ts', '/repository/shop/b.test.ts']
    const tests = [file, other].map((one) => ({ file: one, path: ['adds'], state: 'failed' }))
    const files = [
      { file, hasFailed: true, failure: { message: 'no database' } },
      { file: other, hasFailed: true },
    ]
    const titles = finished(tests, { files })?.testCases.map(({ title }) => title)
    expect(titles).toEqual(['adds', 'adds', 'a.test.ts'])
  })

  it.each([
    ['/repository/shop/a.ts', 3, { filePath: 'shop/a.ts', line: 3 }],
    ['/repository/lib/a.ts', 3, { filePath: 'lib/a.ts', line: 3 }],
    ['/repository/shop/a.ts', 0, { filePath: 'shop/a.ts' }],
    ['/repository/shop/a.ts', 1.5, { filePath: 'shop/a.ts' }],
    ['/repository/shop/a.ts', '3', { filePath: 'shop/a.ts' }],
    ['/repository/..a/b.ts', 3, { filePath: '..a/b.ts', line: 3 }],
    ['/elsewhere/a.ts', 3, {}],
    ['/repository', 3, {}],
    ['shop/a.ts', 3, {}],
    [null, 3, {}],
  ])('has the place %s:%s from the root of the repository', (file, line, place) => {
    const failure = { message: 'broken', file, line }
    const testCase = { title: 'a', status: 'FAILED', durationMs: 0, message: 'broken', ...place }
    expect(finished([{ path: ['a'], file, failure }])?.testCases).toEqual([testCase])
  })

  it('has the file of the test also if a helper failed, and ends the message with who called the helper', () => {
    const [file, helper] = ['/repository/shop/a.test.ts', '/repository/lib/helper.ts']
    const inHelper = { file: helper, line: 3, column: 13, method: 'expectTotal' }
    const inTest = { file, line: 12, column: 5 }
    const ofTest = (frames: readonly object[]) => {
      const failure = { message: 'broken', ...frames[0], frames }
      return finished([{ path: ['a'], file, line: 9, failure }])?.testCases
    }
    const called = 'broken\nat expectTotal (lib/helper.ts:3:13)\nat shop/a.test.ts:12:5'
    expect(ofTest([inHelper, inTest])).toMatchObject([{ filePath: 'shop/a.test.ts', line: 12, message: called }])
    // Without a frame in the test's file, the line is that of the test.
    expect(ofTest([inHelper])).toMatchObject([
      { filePath: 'shop/a.test.ts', line: 9, message: 'broken\nat expectTotal (lib/helper.ts:3:13)' },
    ])
    expect(ofTest([inTest])).toMatchObject([{ filePath: 'shop/a.test.ts', line: 12, message: 'broken' }])
    const many = Array.from({ length: 9 }, (_, at) => ({ ...inHelper, line: at + 1 }))
    expect(ofTest([...many, inTest])?.[0]).toMatchObject({ line: 12, message: expect.stringMatching(/:5:13\)$/) })
    // A file that cannot be loaded has no test. The failure is where it is.
    const files = [{ file, failure: { message: 'broken', ...inHelper, frames: [inHelper] }, hasFailed: true }]
    expect(finished([], { files })?.testCases).toMatchObject([
      { filePath: 'lib/helper.ts', line: 3, message: 'broken' },
    ])
  })

  it('names the place of a test if its failure has none, and only the file of a test that passed', () => {
    const test = { file: '/repository/shop/a.ts', line: 7, failure: { message: '\u001b[31mred\u001b[39m' } }
    expect(
      finished([
        { ...test, path: ['a'] },
        { ...test, path: ['b'], state: 'passed' },
      ])?.testCases,
    ).toEqual([
      { title: 'a', status: 'FAILED', durationMs: 0, message: 'red', filePath: 'shop/a.ts', line: 7 },
      { title: 'b', status: 'PASSED', durationMs: 0, filePath: 'shop/a.ts' },
    ])
  })

  it('has no more test cases than fit into a response', () => {
    const tests = Array.from({ length: 150_001 }, () => ({ state: 'passed' }))
    expect(() => finished(tests)).toThrow('it has more than 150000 test cases')
  })

  it('is read without a throw, whatever it holds', () => {
    const test = fc.record({
      id: fc.jsonValue(),
      file: fc.oneof(
        fc.jsonValue(),
        fc.string().map((name) => `/repository/${name}`),
      ),
      line: fc.jsonValue(),
      path: fc.jsonValue(),
      durationMs: fc.jsonValue(),
      failure: fc.oneof(
        fc.jsonValue(),
        fc.record({ message: fc.jsonValue(), file: fc.jsonValue(), line: fc.jsonValue() }),
      ),
    })
    const event = fc.oneof(
      fc.jsonValue(),
      fc.record({ event: fc.constantFrom('test-started', 'test-finished'), test, atMs: fc.jsonValue() }),
      fc.record({ event: fc.constantFrom('file-started', 'file-finished'), file: test }),
      fc.record({
        event: fc.constant('finished'),
        files: fc.array(test),
        tests: fc.array(test),
        errors: fc.oneof(fc.jsonValue(), fc.array(test)),
        projects: fc.jsonValue(),
      }),
    )
    fc.assert(
      fc.property(fc.array(event), fc.nat(), (events, truncated) => {
        const text = events.map((one) => JSON.stringify(one)).join('\n')
        const report = readText(text.slice(0, text.length - (truncated % (text.length + 1))))
        for (const { status, durationMs, message = '', filePath = 'a', line = 1 } of report?.testCases ?? []) {
          expect(status).not.toBe('PASSED')
          expect(Number.isInteger(durationMs)).toBe(true)
          expect([typeof message, typeof filePath, line > 0]).toEqual(['string', 'string', true])
          expect(filePath.startsWith('/') || filePath.split('/').includes('..')).toBe(false)
        }
      }),
    )
  })
})

describe('a long message', () => {
  it('is cut in its middle, and says so', () => {
    const text = `${'a'.repeat(8000)}${'b'.repeat(8000)}`
    expect(toMessage(text)).toMatch(/^a{4900,}\n\[the middle is left out\]\nb{4900,}$/)
    expect(toMessage(text).length).toBeLessThanOrEqual(10_000)
    expect(toMessage(toMessage(text))).toBe(toMessage(text))
    expect(toMessage('a'.repeat(10_000))).toBe('a'.repeat(10_000))
  })

  it('has no half of a character', () => {
    for (const [before, after] of [
      ['', ''],
      ['x', ''],
      ['', 'x'],
    ]) {
      const cut = toMessage(`${before}${'😀'.repeat(9000)}${after}`)
      expect(cut).toMatch(/left out/)
      expect(cut.isWellFormed()).toBe(true)
    }
  })
})
