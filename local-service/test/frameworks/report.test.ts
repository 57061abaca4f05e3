import { appendFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toMessage } from '../../src/frameworks/report.ts'
import type { FileFacts, ReportEnd, ReportEvent, ResultFacts, TestFacts } from '../../src/reporters/report-writer.ts'
import { prepareReport } from '../support/a-report.ts'

function read(...events: readonly (ReportEvent | object)[]) {
  const { file, read: readReport } = prepareReport('/repository', {}, '/repository/shop')
  appendFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  return readReport()
}

const TEST: TestFacts & ResultFacts = {
  ...{ id: '1', project: '', file: '/repository/shop/a.test.ts', path: ['', 'adds'] },
  ...{ status: 'PASSED', durationMs: 1.6 },
}
const FAILED = { ...TEST, status: 'FAILED' } as const
/** What the service makes of the test. */
const CASE = { title: 'adds', status: 'PASSED', durationMs: 2, filePath: 'shop/a.test.ts' }

const endOf = (end: Partial<ReportEnd>): ReportEvent => ({
  event: 'finished',
  tests: [],
  files: [],
  errors: [],
  ...end,
})
const casesOf = (end: Partial<ReportEnd>) => read(endOf(end))?.testCases

describe('a report', () => {
  it('has the framework project in each title, and the file of each test, whatever other tests there are', () => {
    const inB = { ...TEST, file: '/repository/shop/b.test.ts' }
    const inUnit = { ...TEST, project: 'unit', path: ['cart', 'adds'], label: 'linux' }
    expect(casesOf({ tests: [TEST] })).toEqual([CASE])
    const caseInUnit = { ...CASE, title: '[unit] > [linux] > cart > adds' }
    expect(casesOf({ tests: [TEST, inB, inUnit, TEST] })).toEqual([
      CASE,
      { ...CASE, filePath: 'shop/b.test.ts' },
      caseInUnit,
      CASE,
    ])
  })

  it('says of a test that was interrupted that it had not finished, unless the framework says why', () => {
    const message = 'This test had not finished when the run ended.'
    const interrupted = { ...TEST, status: 'INTERRUPTED' } as const
    const failure = { message: 'the browser was closed' }
    expect(casesOf({ tests: [interrupted, { ...interrupted, failure }] })).toEqual([
      { ...CASE, status: 'INTERRUPTED', message },
      { ...CASE, status: 'INTERRUPTED', message: failure.message },
    ])
  })

  it('has the results of its last event, whatever the events before it say, and in whatever order they came', () => {
    const failed = { event: 'test', test: FAILED }
    const late = { event: 'test', test: { ...TEST, status: 'INTERRUPTED', startedAtMs: 0 } }
    const end = endOf({ tests: [TEST] })
    for (const events of [
      [failed, late, end],
      [end, failed, late],
      [late, end, { event: 'file-started', file: TEST }],
    ])
      expect(read(...events)).toMatchObject({ isComplete: true, testCases: [CASE] })
  })

  it('says without a last event how long a test was running', () => {
    const test = { ...TEST, status: 'INTERRUPTED', startedAtMs: Date.now() - 60_000 }
    const [running] = read({ event: 'test', test })?.testCases ?? []
    expect(running?.status).toBe('INTERRUPTED')
    expect(running?.durationMs).toBeGreaterThanOrEqual(60_000)
  })

  it('tells the same file of two framework projects apart', () => {
    const files: FileFacts[] = ['unit', 'browser'].map((project) => ({ project, file: TEST.file }))
    const started = files.map((file) => ({ event: 'file-started', file }))
    expect(read(...started, { event: 'file-finished', file: files[0] })).toMatchObject({
      isComplete: false,
      testCases: [{ title: '[browser] > a.test.ts', status: 'INTERRUPTED' }],
    })
  })

  it('names a file that has not finished, unless a test of it is known to run', () => {
    const started = ['a', 'b'].map((name) => ({ project: '', file: `/repository/shop/${name}.test.ts` }))
    const events = started.map((file) => ({ event: 'file-started', file }))
    const running = { event: 'test', test: { ...TEST, status: 'INTERRUPTED' } }
    const message = 'This file had not finished when the run ended.'
    expect(read(...events, running)?.testCases).toMatchObject([
      { title: 'adds', status: 'INTERRUPTED' },
      { title: 'b.test.ts', status: 'INTERRUPTED', filePath: 'shop/b.test.ts', message },
    ])
  })

  it.each([
    ['/repository/shop/a.ts', 3, { filePath: 'shop/a.ts', line: 3 }],
    ['/repository/lib/a.ts', 3, { filePath: 'lib/a.ts', line: 3 }],
    ['/repository/shop/a.ts', 0, { filePath: 'shop/a.ts' }],
    ['/repository/shop/a.ts', 7.5, { filePath: 'shop/a.ts' }],
    ['/repository/..a/b.ts', 3, { filePath: '..a/b.ts', line: 3 }],
    ['/elsewhere/a.ts', 3, {}],
    ['/repository', 3, {}],
    ['shop/a.ts', 3, {}],
  ])('has the place %s:%s from the root of the repository', (file, line, place) => {
    const { filePath: _, ...others } = { ...CASE, status: 'FAILED', message: 'broken' }
    expect(casesOf({ tests: [{ ...FAILED, file, failure: { message: 'broken', file, line } }] })).toEqual([
      { ...others, ...place },
    ])
  })

  it('has the file of the test also if a helper failed, and ends the message with who called the helper', () => {
    const inHelper = { file: '/repository/lib/helper.ts', line: 3, column: 13, method: 'expectTotal' }
    const { file } = TEST
    const inTest = { file, line: 12, column: 5 }
    const ofTest = (...frames: readonly { file: string; line: number }[]) =>
      casesOf({ tests: [{ ...FAILED, line: 9, failure: { message: 'broken', ...frames[0], frames } }] })?.[0]
    const filePath = 'shop/a.test.ts'
    const called = 'broken\nat expectTotal (lib/helper.ts:3:13)\nat shop/a.test.ts:12:5'
    expect(ofTest(inHelper, inTest)).toMatchObject({ filePath, line: 12, message: called })
    // Without a frame in the test's file, the line is that of the test.
    const alone = 'broken\nat expectTotal (lib/helper.ts:3:13)'
    expect(ofTest(inHelper)).toMatchObject({ filePath, line: 9, message: alone })
    expect(ofTest(inTest)).toMatchObject({ filePath, line: 12, message: 'broken' })
    const many = Array.from({ length: 9 }, (_, at) => ({ ...inHelper, line: at + 1 }))
    expect(ofTest(...many, inTest)).toMatchObject({ line: 12, message: expect.stringMatching(/:5:13\)$/) })
    // A file that cannot be loaded has no test. The failure is where it is.
    const files = [{ project: '', file, failure: { message: 'broken', ...inHelper, frames: [inHelper] } }]
    expect(casesOf({ files })).toMatchObject([{ filePath: 'lib/helper.ts', line: 3, message: 'broken' }])
  })

  it('names the place of a test if its failure has none, and only the file of a test that passed', () => {
    const test = { ...TEST, line: 7, failure: { message: '\u001b[31mred\u001b[39m' } }
    expect(casesOf({ tests: [{ ...test, status: 'FAILED' }, test] })).toEqual([
      { ...CASE, status: 'FAILED', message: 'red', line: 7 },
      CASE,
    ])
  })

  describe('of a command that starts the framework several times', () => {
    const inB = { ...TEST, file: '/repository/shop/b.test.ts', path: ['pays'] }
    const by = (writer: number, ...events: readonly (ReportEvent | object)[]) =>
      events.map((event) => ({ ...event, writer }))
    const begun = { event: 'test', test: { ...inB, status: 'INTERRUPTED' } }
    const brokenFile = { project: '', file: TEST.file, failure: { message: 'no database' } }
    const error = { message: 'no room' }
    /** A describe block of which a hook failed. */
    const CART = { path: ['cart'], isBlock: true }

    it.each<[what: string, events: readonly object[], cases: readonly string[], isComplete: boolean]>([
      [
        'the tests of all processes',
        [...by(1, endOf({ tests: [FAILED] })), ...by(2, begun, endOf({ tests: [inB] }))],
        ['FAILED adds', 'PASSED pays'],
        true,
      ],
      [
        'the last result of tests that run again',
        [...by(1, endOf({ tests: [FAILED, inB] })), ...by(2, endOf({ tests: [TEST] }))],
        ['PASSED pays', 'PASSED adds'],
        true,
      ],
      [
        'the tests of one file that two processes have selected',
        [
          ...by(1, endOf({ tests: [TEST, { ...TEST, path: ['pays'], status: 'SKIPPED' }] })),
          ...by(
            2,
            endOf({
              tests: [
                { ...TEST, status: 'SKIPPED' },
                { ...TEST, path: ['pays'] },
              ],
            }),
          ),
        ],
        ['PASSED adds', 'PASSED pays'],
        true,
      ],
      [
        'the tests that were running when an earlier process ended',
        [...by(1, begun), ...by(2, endOf({ tests: [TEST] }))],
        ['INTERRUPTED pays', 'PASSED adds'],
        false,
      ],
      [
        'the tests that were running when an earlier process ended, if a later process has only skipped them',
        [...by(1, begun), ...by(2, endOf({ tests: [TEST, { ...inB, status: 'SKIPPED' }] }))],
        ['INTERRUPTED pays', 'PASSED adds'],
        false,
      ],
      [
        'the failure of a hook and of a file if a later process has run none of their tests',
        [
          ...by(1, endOf({ tests: [{ ...FAILED, ...CART }], files: [{ ...brokenFile, file: inB.file }] })),
          ...by(
            2,
            endOf({
              tests: [
                { ...TEST, path: ['login', 'works'] },
                { ...TEST, path: ['cart', 'adds'], status: 'SKIPPED' },
                { ...inB, status: 'SKIPPED' },
              ],
            }),
          ),
        ],
        ['FAILED cart', 'PASSED login > works', 'SKIPPED cart > adds', 'SKIPPED pays', 'FAILED b.test.ts'],
        true,
      ],
      [
        'no failure of a hook of a describe block that a later process has run again',
        [
          ...by(1, endOf({ tests: [{ ...FAILED, ...CART }] })),
          ...by(2, endOf({ tests: [{ ...TEST, path: ['cart', 'adds'] }] })),
        ],
        ['PASSED cart > adds'],
        true,
      ],
      [
        'each test of which the title is another one in each process, as in a matrix of databases',
        [
          ...by(1, endOf({ tests: [{ ...FAILED, path: ['on sqlite'] }, TEST] })),
          ...by(2, endOf({ tests: [{ ...TEST, path: ['on postgres'] }, TEST] })),
        ],
        ['FAILED on sqlite', 'PASSED on postgres', 'PASSED adds'],
        true,
      ],
      [
        'the tests of a process that ended early and had only skipped tests, if no later process names the file',
        [...by(1, { event: 'test', test: { ...inB, status: 'SKIPPED' } }), ...by(2, endOf({ tests: [TEST] }))],
        ['SKIPPED pays', 'PASSED adds'],
        false,
      ],
      [
        'the tests of such a process if a later process skips them too',
        [
          ...by(1, { event: 'test', test: { ...inB, status: 'SKIPPED' } }),
          ...by(2, endOf({ tests: [TEST, { ...inB, status: 'SKIPPED' }] })),
        ],
        ['SKIPPED pays', 'PASSED adds'],
        true,
      ],
      [
        'all tests if later processes have run the files of a process that ended early, one after the other',
        [
          ...by(1, begun, { event: 'test', test: TEST }),
          ...by(2, endOf({ tests: [inB] })),
          ...by(3, endOf({ tests: [TEST] })),
        ],
        ['PASSED pays', 'PASSED adds'],
        true,
      ],
      [
        'all tests if a later process has run the files of a process that ended early',
        [...by(1, begun), ...by(2, endOf({ tests: [TEST, inB] }))],
        ['PASSED adds', 'PASSED pays'],
        true,
      ],
      [
        'no failure of a file that runs again',
        [...by(1, endOf({ files: [brokenFile] })), ...by(2, endOf({ tests: [TEST] }))],
        ['PASSED adds'],
        true,
      ],
      [
        'the tests that were running when the last process ended',
        [...by(1, endOf({ tests: [TEST] })), ...by(2, begun)],
        ['PASSED adds', 'INTERRUPTED pays'],
        false,
      ],
      [
        'the tests of an earlier process if the last one found none',
        [...by(1, endOf({ tests: [TEST] })), ...by(2, { event: 'said', message: 'no files' })],
        ['PASSED adds'],
        true,
      ],
    ])('has %s', (_what, events, cases, isComplete) => {
      const report = read(...events)
      expect(report?.testCases.map(({ status, title }) => `${status} ${title}`)).toEqual(cases)
      expect(report?.isComplete).toBe(isComplete)
    })

    it('has the errors of all processes', () => {
      expect(read(...by(1, endOf({ errors: [error] })), ...by(2, endOf({ tests: [TEST] })))?.errors).toEqual([
        'no room',
      ])
    })
  })

  // Tests can write to the report. Whatever throws is caught by the thread that reads it.
  it.each<[string, object]>([
    ['an end without tests', { tests: undefined }],
    ['no test', { tests: [null] }],
    ['a path that is an object', { tests: [{ ...TEST, file: {} }] }],
    ['a message that is a number', { tests: [{ ...FAILED, failure: { message: 7 } }] }],
  ])('with %s cannot be read', (_what, end) => {
    expect(() => casesOf(end)).toThrow(TypeError)
  })

  it('with another duration has a test that took no time', () => {
    const tests = [undefined, 'long', null, -1].map((durationMs) => JSON.stringify({ ...TEST, durationMs }))
    // JSON can have a number that is larger than all numbers of JavaScript.
    const large = JSON.stringify(TEST).replace('1.6', '1e400')
    const { file, read: readReport } = prepareReport('/repository', {}, '/repository/shop')
    appendFileSync(file, `{"event":"finished","tests":[${[...tests, large]}],"files":[],"errors":[]}\n`)
    expect(readReport()?.testCases.map(({ durationMs }) => durationMs)).toEqual([0, 0, 0, 0, 0])
  })

  it('with another status has a test that failed', () => {
    const tests = ['passed', 7, 'constructor'].map((status) => ({ ...TEST, status }))
    expect(casesOf({ tests } as object)).toMatchObject(tests.map(() => ({ status: 'FAILED' })))
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

  it('has no half of a character at the cut', () => {
    for (const [before, after] of ['', 'x'].flatMap((one) => [
      [one, ''],
      ['', one],
    ])) {
      const cut = toMessage(`${before}${'😀'.repeat(9000)}${after}`)
      expect(cut).toMatch(/left out/)
      expect(cut.isWellFormed()).toBe(true)
    }
  })
})
