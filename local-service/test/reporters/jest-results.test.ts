import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeResults, type JestResults } from '../../src/reporters/jest-results.ts'
import { ReportWriter } from '../../src/reporters/report-writer.ts'
import { prepareReport } from '../support/a-report.ts'

// The recordings have what Jest gives to a reporter, with several workers. Long stacks are shortened.

/** What the service makes of the results of a project in /shop. */
function read(results: JestResults) {
  const prepared = prepareReport()
  const report = new ReportWriter()
  report.finish(describeResults(results, report))
  return prepared.read()
}

const recorded = (version: number): JestResults =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../recordings/jest-${version}.json`), 'utf8'))

const EQUAL = 'expect(received).toBe(expected) // Object.is equality'

it.each([29, 30])('the results of Jest %i have each test with its result, its reason and its place', (version) => {
  const { testCases = [], errors } = read(recorded(version)) ?? {}
  const lines = testCases.map(({ title, status, filePath, line, message = '' }) =>
    [status, title, `${filePath}${line === undefined ? '' : `:${line}`}`, message.split('\n\n')[0]].join(' | '),
  )
  expect(lines).toEqual([
    'PASSED | [shop] > kinds > passes | a.test.js | ',
    'FAILED | [shop] > kinds > fails | a.test.js:4 | expect(received).toEqual(expected) // deep equality',
    `FAILED | [shop] > kinds > fails in a helper | a.test.js:5 | ${EQUAL}`,
    `FAILED | [shop] > kinds > has a cause | a.test.js:6 | TypeError: top${version === 29 ? '' : '\nCaused by: deep'}`,
    `FAILED | [shop] > kinds > has several | a.test.js:7 | AggregateError: many${version === 29 ? '' : '\nOne of its errors: one\nOne of its errors: two'}`,
    'FAILED | [shop] > kinds > throws a text | a.test.js:8 | thrown: "text"\nat it (a.test.js:8:3)\nat Object.describe (a.test.js:2:1)',
    expect.stringMatching(
      /^FAILED \| \[shop\] > kinds > hangs \| a.test.js:9 \| thrown: "Exceeded timeout of 20 ms for a test\./,
    ),
    'SKIPPED | [shop] > kinds > is skipped | a.test.js | ',
    'SKIPPED | [shop] > kinds > is to do | a.test.js | ',
    'PASSED | [shop] > kinds > fails as it should | a.test.js | ',
    'FAILED | [shop] > kinds > passes unexpectedly | a.test.js:13 | Failing test passed even though it was supposed to fail. Remove `.failing` to remove error.\nat failing (a.test.js:13:6)\nat Object.describe (a.test.js:2:1)',
    'PASSED | [shop] > kinds > is 1 | a.test.js | ',
    `FAILED | [shop] > kinds > is 2 | a.test.js:14 | ${EQUAL}`,
    'FLAKY | [shop] > passes at last | b.test.js:3 | try 2',
    'PASSED | [shop] > has one | s.test.js | ',
    'FAILED | [shop] > b.test.js | b.test.js:4 | still open',
    'FAILED | empty.test.js | empty.test.js | Your test suite must contain at least one test.',
    "FAILED | missing.test.js | missing.test.js:1 | Cannot find module './none' from 'missing.test.js'",
    'FAILED | syntax.test.js | syntax.test.js:2 | /shop/syntax.test.js: Unexpected token (2:0)',
  ])
  expect(errors).toEqual(['1 snapshot obsolete: is gone 1'])
})

it('the causes of an error are found in the error if the text does not have them', () => {
  const cause = {
    message: 'deep',
    stack: 'Error: deep\n    at Object.<anonymous> (/shop/a.test.js:6:35)',
    name: 'Error',
  }
  const test = { ancestorTitles: [], title: 'pays', status: 'failed' }
  const failed = { ...test, failureMessages: ['TypeError: top\n    at /lib/x.js:1:1'], failureDetails: [{ cause }] }
  const snapshot = { failure: false, unchecked: 0, filesRemoved: 0, uncheckedKeysByFile: [] }
  const { testCases } =
    read({ snapshot, testResults: [{ testFilePath: '/shop/a.test.js', testResults: [failed] }] }) ?? {}
  expect(testCases).toMatchObject([
    { message: 'TypeError: top\nCaused by: Error: deep', filePath: 'a.test.js', line: 6 },
  ])
})
