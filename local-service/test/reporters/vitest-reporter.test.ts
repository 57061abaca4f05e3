import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { SerializedError, TestCase } from 'vitest/node'
import EventReporter from '../../src/reporters/vitest-reporter.ts'
import { prepareReport } from '../support/a-report.ts'

it.each([
  [
    'in the repository',
    '\n    at save (/shop/src/save.js:2:3)',
    'at src/save.js:2',
    { filePath: 'src/save.js', line: 2 },
  ],
  ['only in packages', '', 'at src/late.test.js', { filePath: 'src/late.test.js' }],
])('says where an unhandled error comes from, if its stack is %s', (_what, stack, where, place) => {
  const report = prepareReport()
  const error = {
    ...{ name: 'Error', message: 'no database', stack: `Error: no database${stack}`, type: 'Unhandled Rejection' },
    ...{ VITEST_TEST_PATH: '/shop/src/late.test.js', VITEST_TEST_NAME: 'saves' },
  }
  new EventReporter().onTestRunEnd([], [error as unknown as SerializedError])
  expect(report.read()).toMatchObject({
    place,
    errors: [
      `Unhandled Rejection: Error: no database\n${where}\nThis error originated in "src/late.test.js" test file.\nThe last test to run before this error was "saves".`,
    ],
  })
})

it('does not say that a test has started, if Vitest says it after the result', async () => {
  const { file } = prepareReport()
  const reporter = new EventReporter()
  let state = 'pending'
  const project = { name: '', vitest: { config: {} } }
  const module = { project, moduleId: '/a.test.js', type: 'module' }
  const test = {
    id: '1',
    name: 'adds',
    parent: module,
    module,
    result: () => ({ state, errors: [] }),
    diagnostic: () => ({ duration: 1 }),
    options: {},
  } as unknown as TestCase
  reporter.onTestCaseReady(test)
  state = 'passed'
  reporter.onTestCaseResult(test)
  reporter.onTestCaseReady(test)
  const events = readFileSync(file, 'utf8').trim().split('\n')
  expect(events.map((line) => JSON.parse(line).test.status)).toEqual(['INTERRUPTED', 'PASSED'])
})
