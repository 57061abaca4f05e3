import { XMLParser } from 'fast-xml-parser'
import { expect, it } from 'vitest'
import { isOutcomeWithRun, type OutcomeWithRun } from '../../src/model/outcome.ts'
import { ctrf } from '../../src/report/ctrf.ts'
import { verdictSentences } from '../../src/report/ending.ts'
import { junit } from '../../src/report/junit.ts'
import { render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, type RunFields, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

// Programs that read these files look only at test cases.

function entryOfJunit(outcome: OutcomeWithRun): { readonly '@_type': string; readonly '#text': string } | undefined {
  const parser = new XMLParser({ ignoreAttributes: false, htmlEntities: true, isArray: (name) => name === 'testcase' })
  const { testcase: cases = [] } = parser.parse(junit(outcome).toString()).testsuites.testsuite
  return cases.find((one: Record<string, string>) => one['@_name'] === 'The run itself')?.error
}

function entryOfCtrf(outcome: OutcomeWithRun): Record<string, unknown> | undefined {
  const { tests } = JSON.parse(ctrf(outcome)).results
  return tests.find(({ name }: { name: string }) => name === 'The run itself')
}

it('junit.xml and ctrf.json have an entry for the run itself if they would look green or complete otherwise, or if the run has a message', () => {
  const withEntry = Object.entries(ENDINGS).filter(([name, outcome]) => {
    if (!isOutcomeWithRun(outcome)) return false
    const [inJunit, inCtrf] = [entryOfJunit(outcome), entryOfCtrf(outcome)]
    expect(inJunit !== undefined, name).toBe(inCtrf !== undefined)
    return outcome.run.testCases !== undefined && inJunit !== undefined
  })
  expect(withEntry.map(([name]) => name)).toEqual([
    'suiteWithUnknownResults',
    'strictWithUnknownResults',
    'timedOutNoneNew',
    'failedWithMessage',
    'failedWithoutFailedCase',
    'timedOut',
    'cancelled',
    'interrupted',
    'noTestsListed',
    'allSkipped',
    'nothingRan',
    'unknownStatus',
    'otherBranch',
    'abortedRunFinished',
    'abortedRunFailed',
  ])
})

it.each<[string, Partial<RunFields>]>([
  ['the verdict', { testCases: testCasesBy({ PASSED: 4 }) }],
  ['the verdict', { testCases: undefined }],
  ['the message of the run', { message: 'no browser\nat x', testCases: [] }],
  ['the message of the run', { message: 'no browser\nat x', testCases: testCasesBy({ FAILED: 1 }) }],
])('the entry is the last, and has %s: %j', (_, fields) => {
  const outcome = anOutcome({ run: aRun({ status: 'FAILED', ...fields }) })
  const text = fields.message ?? render(verdictSentences(outcome))
  expect(entryOfJunit(outcome)).toEqual({ '@_message': text.split('\n')[0], '@_type': 'FAILED', '#text': text })
  const { tests, summary } = JSON.parse(ctrf(outcome)).results
  const entry = { name: 'The run itself', status: 'failed', duration: 0, rawStatus: 'FAILED' }
  expect(tests.at(-1)).toEqual({ ...entry, message: text })
  expect(summary.tests).toBe((fields.testCases?.length ?? 0) + 1)
})
