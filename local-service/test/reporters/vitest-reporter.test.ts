import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { SerializedError, TestCase, TestModule } from 'vitest/node'
import EventReporter from '../../src/reporters/vitest-reporter.ts'
import { prepareReport } from '../support/a-report.ts'

it('names the test file as the place of an unhandled error, if its stack is only in packages', () => {
  const report = prepareReport()
  const error = {
    ...{ name: 'Error', message: 'no database', stack: 'Error: no database\n    at /lib/x.js:1:1', type: 'Error' },
    ...{ VITEST_TEST_PATH: '/shop/src/late.test.js' },
  }
  new EventReporter().onTestRunEnd([], [error as unknown as SerializedError])
  expect(report.read()).toMatchObject({
    place: { filePath: 'src/late.test.js' },
    errors: ['Error: no database\nat src/late.test.js\nThis error originated in "src/late.test.js" test file.'],
  })
})

it.each([7, [{}], [{ file: 7 }]])('reads an error that was thrown with the stacks %j', (stacks) => {
  const report = prepareReport()
  const error = { message: 'no money', stacks }
  new EventReporter().onTestRunEnd([], [error as unknown as SerializedError])
  expect(report.read()).toMatchObject({ errors: [expect.stringMatching(/^no money/)] })
})

it('knows the total when the last file is loaded', () => {
  const { progress } = prepareReport()
  const reporter = new EventReporter()
  const module = { children: { allTests: () => ['adds', 'pays'] } } as unknown as TestModule
  reporter.onTestRunStart([module, module])
  reporter.onTestModuleCollected(module)
  expect(progress()).toBeUndefined()
  reporter.onTestModuleCollected(module)
  expect(progress()).toMatchObject({ total: 4 })
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
