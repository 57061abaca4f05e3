import { describe, expect, it } from 'vitest'
import { reportFiles } from '../../src/action/publish.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

describe('the report files', () => {
  it('are three for a run with results or with a message, and none for any other run', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const names = reportFiles(outcome).map((file) => file.name)
      const expected = outcome.run?.testCases || outcome.run?.message ? ['results.json', 'junit.xml', 'ctrf.json'] : []
      expect(names, name).toEqual(expected)
    }
  })

  it('contain the response as it was sent, with its numbers and its order', () => {
    const sent = '{ "status": "PASSED", "b": 1.0, "a": 12345678901234567890, "results": { "testCases": [] } }'
    const [results] = reportFiles(anOutcome({ run: { ...aRun(), responseText: untrusted(sent) } }))
    expect(results?.name).toBe('results.json')
    expect(results?.text()).toBe(sent)
  })

  it('contain a hundred thousand test cases', () => {
    const testCases = testCasesBy({ PASSED: 95_000, FAILED: 5_000 })
    const result = anOutcome({ run: aRun({ status: 'FAILED', testCases }) })
    const marks = {
      'results.json': '"title"',
      'junit.xml': '<testcase ',
      'ctrf.json': '"name"',
    }
    for (const { name, text } of reportFiles(result)) {
      const found = text().toString().split(marks[name]).length - 1
      // CTRF also names its tool.
      expect(found, name).toBe(100_000 + (name === 'ctrf.json' ? 1 : 0))
    }
  })
})
