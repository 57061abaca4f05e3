import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TestCase } from 'vitest/node'
import { REPORT_FILE } from '../../src/reporters/report-writer.ts'
import EventReporter from '../../src/reporters/vitest-reporter.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

it('does not say that a test has started, if Vitest says it after the result', async () => {
  const file = join(temporaryFolder(), 'report')
  process.env[REPORT_FILE] = file
  const reporter = new EventReporter()
  let state = 'pending'
  const module = { project: { name: '' }, moduleId: '/a.test.js', type: 'module' }
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
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['test-started', 'test-finished'])
})
