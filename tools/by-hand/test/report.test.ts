import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { findProgram } from '../by-hand.ts'
import { readPlaywrightReport, readVitestReport } from '../report.ts'

const write = (folder: string, report: object) => {
  const file = join(folder, 'report.json')
  writeFileSync(file, JSON.stringify(report))
  return file
}

describe("Vitest's report", () => {
  const read = (...testResults: object[]) => {
    const folder = temporaryFolder()
    const files = testResults.map((result) => ({ message: '', status: 'passed', assertionResults: [], ...result }))
    return readVitestReport(write(folder, { testResults: files }), '/shop')
  }
  const aTest = (title: string, status: string, failureMessages: readonly string[] = []) => ({
    ancestorTitles: ['', 'cart'],
    title,
    status,
    failureMessages,
  })

  it('has the result of each test, and a test with messages of failed attempts is flaky', () => {
    const assertionResults = [
      aTest('passes', 'passed'),
      aTest('is flaky', 'passed', ['Error: first try']),
      aTest('fails', 'failed', ['Error: red']),
      aTest('is skipped', 'skipped'),
      aTest('is to do', 'todo'),
      aTest('did not end', 'pending'),
    ]
    const { tests = [] } = read({ name: '/shop/tests/a.test.js', assertionResults }) ?? {}
    expect(tests.map(({ path, status }) => [path, status])).toEqual([
      [['cart', 'passes'], 'PASSED'],
      [['cart', 'is flaky'], 'FLAKY'],
      [['cart', 'fails'], 'FAILED'],
      [['cart', 'is skipped'], 'SKIPPED'],
      [['cart', 'is to do'], 'SKIPPED'],
      [['cart', 'did not end'], 'PENDING'],
    ])
    expect(tests[0]?.file).toBe('tests/a.test.js')
  })

  it('puts the path of the file before the titles of type tests, which is left out', () => {
    const assertionResults = [{ ...aTest('is a number', 'passed'), ancestorTitles: ['a.test-d.ts', 'price'] }]
    expect(read({ name: '/shop/a.test-d.ts', assertionResults })?.tests[0]?.path).toEqual(['price', 'is a number'])
  })

  it('has failed files, of which it may say nothing else', () => {
    const report = read(
      { name: '/shop/broken.test.js', status: 'failed', message: 'cannot be loaded' },
      { name: '/shop/hook.test.js', status: 'failed', assertionResults: [aTest('never ran', 'skipped')] },
      { name: '/shop/later.test.js', status: 'failed' },
    )
    expect(report).toMatchObject({
      failedFiles: ['broken.test.js', 'hook.test.js'],
      unexplainedFiles: ['later.test.js'],
    })
  })

  it('may be missing', () => {
    expect(readVitestReport(join(temporaryFolder(), 'report.json'), '/shop')).toBeUndefined()
  })
})

describe("Playwright's report", () => {
  it('has the result of each test of each project, and the files of errors', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'broken.spec.js'), '')
    const spec = (title: string, status: string, ...results: string[]) => ({
      title,
      file: 'a.spec.js',
      tests: [
        {
          projectName: 'shop',
          status,
          expectedStatus: title === 'skips itself' ? 'skipped' : 'passed',
          results: results.map((one) => ({ status: one, workerIndex: title === 'is left out' ? -1 : 0 })),
        },
      ],
    })
    const specs = [
      spec('passes', 'expected', 'passed'),
      spec('is flaky', 'flaky', 'failed', 'passed'),
      spec('fails', 'unexpected', 'timedOut', 'failed'),
      spec('takes too long', 'unexpected', 'timedOut'),
      spec('is skipped', 'skipped'),
      spec('skips itself', 'skipped', 'skipped'),
      spec('is left out', 'skipped', 'skipped'),
      spec('is cut off', 'skipped', 'interrupted'),
      spec('is cut off with its worker', 'skipped', 'skipped'),
    ]
    const errors = [join(folder, 'broken.spec.js'), '<anonymous>'].map((file) => ({ location: { file } }))
    const suites = [{ title: 'a.spec.js', specs: [], suites: [{ title: 'cart', specs }] }]
    const report = readPlaywrightReport(
      write(folder, { config: { rootDir: join(folder, 'tests') }, suites, errors: [...errors, {}] }),
      folder,
    )
    expect(report?.tests.map(({ path, status }) => [path, status])).toEqual([
      [['cart', 'passes'], 'PASSED'],
      [['cart', 'is flaky'], 'FLAKY'],
      [['cart', 'fails'], 'FAILED'],
      [['cart', 'takes too long'], 'TIMEDOUT'],
      [['cart', 'is skipped'], 'SKIPPED'],
      [['cart', 'skips itself'], 'SKIPPED'],
      [['cart', 'is left out'], 'SKIPPED'],
      [['cart', 'is cut off'], 'INTERRUPTED'],
      [['cart', 'is cut off with its worker'], 'INTERRUPTED'],
    ])
    expect(report?.tests[0]).toMatchObject({ file: 'tests/a.spec.js', project: 'shop' })
    expect(report?.failedFiles).toEqual(['broken.spec.js'])
  })
})

describe("the framework's command", () => {
  it('is in the nearest node_modules/.bin', () => {
    const root = temporaryFolder()
    const [inner, empty] = [join(root, 'packages/a'), join(root, 'packages/b')]
    for (const folder of [root, inner, empty]) mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    for (const folder of [root, inner]) writeFileSync(join(folder, 'node_modules/.bin/vitest'), '', { mode: 0o755 })
    expect(findProgram(inner, 'vitest')).toBe(join(inner, 'node_modules/.bin/vitest'))
    expect(findProgram(empty, 'vitest')).toBe(join(root, 'node_modules/.bin/vitest'))
  })

  it('may be missing, and a sentence says what to do', () => {
    const folder = temporaryFolder()
    expect(() => findProgram(folder, 'playwright')).toThrow(
      `There is no node_modules/.bin/playwright in ${folder} or in a folder above it. Install the packages first.`,
    )
  })
})
