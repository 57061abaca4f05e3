import { describe, expect, it } from 'vitest'
import type { StepResult } from '../../src/outcome/step-result.ts'
import { countsOf } from '../../src/report/headline.ts'
import { render } from '../../src/report/safe-text.ts'
import { countsLine, explanation, factsLine, headlineLine, incompleteWarning } from '../../src/report/summary-head.ts'
import { aRun, aStepResult, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { renderedPage } from '../support/rendered-page.ts'

const read = (html: Parameters<typeof render>[0]) => renderedPage(render(html)).text.trim()

const storyOf = (result: StepResult) => explanation(result, countsOf(result))
const countsLineOf = (result: StepResult) => countsLine(result, countsOf(result))

describe('the headline', () => {
  it('is a heading of the second rank', () => {
    expect(render(headlineLine(ENDINGS.failed, countsOf(ENDINGS.failed)))).toBe('## ❌ Tests failed: 5 of 40\n')
  })
})

describe('the explanation', () => {
  it('is left out where the headline says it all', () => {
    expect(read(storyOf(ENDINGS.passed))).toBe('')
    expect(read(storyOf(ENDINGS.failed))).toBe('')
  })

  it.each([
    ['timedOut', 'The run ended TIMEDOUT (it reached its time limit at the service): 1 of 4 test cases failed.'],
    [
      'cancelled',
      'The run ended CANCELLED (at the service, not by this step): none of 15 test cases failed, 12 passed, 3 of another status.',
    ],
    ['interrupted', 'The run ended INTERRUPTED (broken off at the service): 2 of 5 test cases failed.'],
    [
      'noTestsListed',
      'The run ended PASSED, but it lists no test case; if that is expected, set the input pass-with-no-tests to true.',
    ],
    ['failedWithoutResults', 'The run ended FAILED: the service sent no results.'],
    ['failedWithoutFailedCase', 'The run ended FAILED: none of 4 test cases failed, 4 passed.'],
    ['started', 'The run was started and goes on; this step does not wait for it.'],
  ] as const)('is honest about the ending %s', (name, words) => {
    expect(read(storyOf(ENDINGS[name]))).toBe(words)
  })

  it('is there for every ending that is neither a plain pass nor a plain fail', () => {
    const plain = ['passed', 'failed', 'waitLimitButOver']
    for (const [name, result] of Object.entries(ENDINGS)) {
      expect(read(storyOf(result)) === '', name).toBe(plain.includes(name))
    }
  })
})

describe('the line of counts', () => {
  it('has the counts that are not zero, their details, and the run time', () => {
    expect(read(countsLineOf(ENDINGS.failed))).toBe(
      '5 failed (1 timed out, 1 interrupted) · 31 passed (1 flaky) · 3 skipped · 1 other · run time 3 min 4 s',
    )
    expect(read(countsLineOf(aStepResult({ run: aRun({ testCases: testCasesBy({ PASSED: 2 }) }) })))).toBe(
      '2 passed · run time 3 min 4 s',
    )
  })

  it('has the time waited where the run has none', () => {
    expect(read(countsLineOf(aStepResult({ ending: ENDINGS.aborted.ending, waitedMs: 4_200 })))).toBe(
      'No results · waited 4.2 s',
    )
    expect(read(countsLineOf(ENDINGS.noTestsListed))).toBe('No test cases · run time 3 min 4 s')
  })
})

describe('the warning of incomplete results', () => {
  it('stands where a run with results did not get to its end', () => {
    for (const [name, result] of Object.entries(ENDINGS)) {
      const isIncomplete = ['timedOut', 'cancelled', 'interrupted', 'unknownStatus'].includes(name)
      expect(read(incompleteWarning(result)).includes('Incomplete'), name).toBe(isIncomplete)
    }
    const run = aRun({ status: 'RUNNING', testCases: [aTestCase()] })
    expect(read(incompleteWarning(aStepResult({ run })))).toContain('Incomplete')
  })

  it('counts the cases that a run left unfinished', () => {
    const testCases = testCasesBy({ PASSED: 2, RUNNING: 1, QUEUED: 1, CANCELLED: 1, NEW: 1, SKIPPED: 1 })
    expect(read(incompleteWarning(aStepResult({ run: aRun({ status: 'FAILED', testCases }) })))).toBe(
      '⚠️ Incomplete: 3 of 7 test cases came to no end.',
    )
  })
})

describe('the line of facts', () => {
  const parameters = {
    branch: 'feature/x',
    environment: 'staging',
    frameworkProject: 'chromium',
    autofix: true,
    envOverrides: { PASSWORD: 'hunter2' },
  }

  it('tells what was run and where, and no override', () => {
    const result = aStepResult({ parameters, run: aRun({ branchName: undefined }) })
    expect(read(factsLine(result))).toBe(
      'Project web-shop · Environment staging · Branch feature/x · Framework project chromium · Run run_7f3a · Auto-fix on',
    )
  })

  it('tells the branch that the service names rather than the one asked for', () => {
    expect(read(factsLine(aStepResult({ parameters, run: aRun({ branchName: 'main' }) })))).toContain('Branch main')
  })

  it('tells of a run that was started elsewhere only what the service says', () => {
    const result = aStepResult({ parameters, ownsRun: false, run: aRun({ branchName: undefined }) })
    expect(read(factsLine(result))).toBe('Project web-shop · Run run_7f3a')
  })

  it('knows test suites, auto-fix that is off, and what is not known', () => {
    const target = { kind: 'test-suite', testSuiteId: 'smoke' } as const
    const result = aStepResult({
      target,
      parameters: { autofix: false },
      runId: undefined,
      ending: { kind: 'started' },
    })
    expect(read(factsLine(result))).toBe('Test suite smoke · Auto-fix off')
  })

  it('keeps an id findable in the Markdown, however long', () => {
    const runId = 'run_01HZY3V9Q2K8-checkout.PaymentForm/7f3a'
    expect(render(factsLine(aStepResult({ runId })))).toContain(runId)
  })
})
