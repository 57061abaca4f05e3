import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { framesIn, REPORT_FILE, REPORT_ROOT, ReportWriter, type Thrown } from '../../src/reporters/report-writer.ts'
import { prepareReport } from '../support/a-report.ts'

function aWriter(): ReportWriter {
  prepareReport()
  return new ReportWriter()
}

it('takes its variables out of the environment, so that a framework that a test starts does not write to it', () => {
  aWriter()
  expect([process.env[REPORT_FILE], process.env[REPORT_ROOT]]).toEqual([undefined, undefined])
})

it('the results of two processes are kept, also if both have one id because they ran in two containers', () => {
  const { file, read } = prepareReport()
  const writers = ['a', 'b'].map((name) => {
    Object.assign(process.env, { [REPORT_FILE]: file, [REPORT_ROOT]: '/shop' })
    return { name, report: new ReportWriter() }
  })
  for (const { name, report } of writers) {
    const test = {
      id: '1',
      project: '',
      file: `/shop/${name}.test.ts`,
      path: [name],
      status: 'FAILED',
      durationMs: 0,
    } as const
    report.finish({ tests: [test], files: [], errors: [] })
  }
  expect(read()?.testCases.map(({ title }) => title)).toEqual(['a', 'b'])
})

/** In `mock-fs`, a file of a test can have the descriptor of the report. Here, the system gives it to the file of the test. */
const TEST_THAT_REPLACES_FILES = `
  import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
  const { ReportWriter } = await import(process.env.WRITER)
  const file = process.env.${REPORT_FILE}
  const report = new ReportWriter()
  const test = { id: '1', project: '', file: '/shop/a.test.ts', path: ['a'] }
  const isReport = (descriptor) => {
    try {
      return fstatSync(descriptor).ino === statSync(file).ino
    } catch {
      return false
    }
  }
  const descriptor = Array.from({ length: 1000 }, (_, index) => index).find(isReport)
  closeSync(descriptor)
  const ofTest = openSync(file + '-of-the-test', 'a')
  report.startTest(test)
  closeSync(ofTest)
  const again = openSync(file, 'a')
  report.finishTest(test, { status: 'PASSED', durationMs: 0 })
  console.log(JSON.stringify([ofTest === descriptor, again === descriptor, readFileSync(file + '-of-the-test', 'utf8')]))`

it('lines are written later, and to no file of a test, if a test has replaced all files meanwhile', () => {
  const { file, read } = prepareReport()
  const env = { ...process.env, WRITER: new URL('../../src/reporters/report-writer.ts', import.meta.url).href }
  const args = ['--input-type=module', '--eval', TEST_THAT_REPLACES_FILES]
  const printed = execFileSync(process.execPath, args, { env, encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual([true, true, ''])
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).test.status)).toEqual(['INTERRUPTED', 'PASSED'])
  expect(read()?.testCases).toMatchObject([{ title: 'a', status: 'PASSED' }])
})

it('the middle of a very long message is left out, and frames without end are', () => {
  const report = aWriter()
  const error = { message: `begin${' '.repeat(1_000_000)}end`, stack: '    at pay (/shop/a.ts:1:1)\n'.repeat(1000) }
  const { message, frames } = report.describeFailure([error], ({ stack }) => framesIn(stack)) ?? {}
  expect(message).toMatch(/^begin *\n\[the middle is left out\]\n *end$/)
  expect([message?.length, frames?.length]).toEqual([20_000, 100])
})

describe('the place of a failure', () => {
  const at = (path: string) => `    at fails (${path}:3:7)`

  it.each([
    [
      'is the first line in the repository',
      ['node:assert', '/shop/node_modules/x/y.js', '/shop/a.ts', '/b.ts'],
      '/shop/a.ts',
    ],
    ['may be outside the current folder', ['/shop/lib/a.ts'], '/shop/lib/a.ts'],
    ['may be the URL of a file', ['file:///shop/a%20test.ts'], '/shop/a test.ts'],
    ['is not outside the repository', ['/elsewhere/a.ts', '/shop-other/a.ts'], undefined],
    ['is not a broken URL', ['file:///%'], undefined],
  ])('%s', (_what, paths, file) => {
    const report = aWriter()
    const stack = ['Error: broken', '    at a sentence', ...paths.map(at)].join('\n')
    const failure = report.describeFailure([{ message: 'broken', stack }], (error) => framesIn(error.stack))
    expect(failure).toMatchObject({ message: 'broken', file, line: file === undefined ? undefined : 3 })
  })

  it('is read from a path with brackets, also without the name of a function', () => {
    const stack =
      'Error\n    at Object.<anonymous> (/shop/(group)/a.ts:3:5)\n    at fails [as pay] (file:///b(c).ts:4:5)'
    expect(framesIn(`${stack}\n    at async file:///shop/b.ts:1:2`)).toEqual([
      { file: '/shop/(group)/a.ts', line: 3, column: 5, method: 'Object.<anonymous>' },
      { file: '/b(c).ts', line: 4, column: 5, method: 'fails [as pay]' },
      { file: '/shop/b.ts', line: 1, column: 2 },
    ])
  })

  it.each(['(', '(/', '(/:1:1', ':1', '/', ' '])('is not searched for without end in a line of %j', (part) => {
    expect(framesIn(`Error\n    at ${part.repeat(1_000_000)}.`)).toEqual([])
  })
})

describe('what caused an error', () => {
  it.each([
    ['a circle', (error: object) => ({ cause: error }), '\nCaused by: …'],
    ['a circle of many', (error: object) => ({ errors: Array(10).fill(error) }), '\nOne of its errors: …'.repeat(10)],
    ['a value, as Playwright gives it', () => ({ cause: { value: "'rain'" } }), "\nCaused by: 'rain'"],
    ['an object that JSON cannot write', () => ({ cause: { id: 10n } }), '\nCaused by: { id: 10n }'],
  ])('is described if it is %s', (_, causesOf, text) => {
    const report = aWriter()
    const error = { message: 'again' }
    Object.assign(error, causesOf(error))
    expect(report.describeFailure([error], () => [])?.message).toBe(`again${text}`)
  })

  it.each([
    ['a list', (inner: object) => [inner]],
    ['an object without a message', (inner: object) => ({ id: 1, cause: inner })],
  ])('has its place, also if it is in %s', (_, causeWith) => {
    const report = aWriter()
    const cause = causeWith({ message: 'no card', stack: 'Error: no card\n    at /shop/card.ts:3:5' })
    const failure = report.describeFailure<Thrown>([{ message: 'no money', cause }], ({ stack }) => framesIn(stack))
    expect(failure).toMatchObject({ file: '/shop/card.ts', line: 3, message: expect.stringContaining('no card') })
  })

  it('ends if each of many errors has many errors', () => {
    const report = aWriter()
    const listOf = (depth: number): object[] =>
      Array.from({ length: 10 }, () => ({ message: 'again', errors: depth === 0 ? [] : listOf(depth - 1) }))
    const { message = '' } = report.describeFailure([{ message: 'all', errors: listOf(4) }], () => []) ?? {}
    expect(message.match(/again/g)).toHaveLength(99)
  })
})

it('counts each test with its last result, and none that is running or tried again', () => {
  const { progress } = prepareReport()
  const report = new ReportWriter()
  const test = (id: string) => ({ id, project: '', file: '/shop/a.ts', path: [id] })
  const result = { status: 'PASSED', durationMs: 1 } as const
  for (let number = 0; number < 10; number++) report.finishTest(test(`${number}`), { ...result, status: 'TIMEDOUT' })
  const before = { passed: 0, failed: 10, flaky: 0, skipped: 0 }
  expect(progress()).toEqual(before)
  report.finishTest(test('none'), { ...result, status: 'SKIPPED' })
  report.startTest(test('1'))
  report.setTotal(11)
  expect(progress()).toEqual({ ...before, total: 11, failed: 9, skipped: 1 })
  report.finishTest(test('1'), { ...result, status: 'FLAKY' })
  expect(progress()).toEqual({ total: 11, passed: 1, failed: 9, flaky: 1, skipped: 1 })
})

it('writes nothing if no file is named', () => {
  const { read, progress } = prepareReport()
  delete process.env[REPORT_FILE]
  const report = new ReportWriter()
  report.setTotal(1)
  report.say('ERROR: no')
  expect([read(), progress()]).toEqual([undefined, undefined])
})
