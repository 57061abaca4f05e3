import { describe, expect, it } from 'vitest'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { render } from '../../src/report/safe-text.ts'
import { verdictSentence, verdictTitle } from '../../src/report/verdict-sentence.ts'
import { aRun, aStepResult, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS, type EndingName } from '../support/endings.ts'

const LEFT = 'The workflow was cancelled, or the step reached its time limit,'
const EXPECTED: Readonly<Record<EndingName, readonly [title: string, sentence: string]>> = {
  passed: ['Tests passed', 'Run run_7f3a ended PASSED: 39 of 40 test cases passed, 1 skipped.'],
  passedWithFailures: [
    'Run passed, with failed tests',
    'Run run_7f3a ended PASSED, and that counts, although 2 of 40 test cases failed (“failed case 1”, “failed case 2”).',
  ],
  failed: [
    'Tests failed',
    'Run run_7f3a ended FAILED: 5 of 40 test cases failed (“failed case 1”, “failed case 2”, “failed case 3” and 2 more).',
  ],
  failedWithoutFailedCase: ['Run failed', 'Run run_7f3a ended FAILED: none of 4 test cases failed, 4 passed.'],
  failedWithoutResults: ['Run failed', 'Run run_7f3a ended FAILED: the service sent no results.'],
  timedOut: [
    'Run timed out',
    'Run run_7f3a ended TIMEDOUT (it reached its time limit at the service): 1 of 4 test cases failed (“timedout case 1”).',
  ],
  cancelled: [
    'Run cancelled',
    'Run run_7f3a ended CANCELLED (at the service, not by this step): none of 15 test cases failed, 12 passed, 3 of another status.',
  ],
  interrupted: [
    'Run interrupted',
    'Run run_7f3a ended INTERRUPTED (broken off at the service): 2 of 5 test cases failed (“interrupted case 1”, “interrupted case 2”).',
  ],
  noTestsListed: [
    'No tests ran',
    'Run run_7f3a ended PASSED, but it lists no test case; if that is expected, set the input pass-with-no-tests to true.',
  ],
  allSkipped: [
    'No tests ran',
    'Run run_7f3a ended PASSED, but none of its 12 test cases ran; if that is expected, set the input pass-with-no-tests to true.',
  ],
  noResults: [
    'No tests ran',
    'Run run_7f3a ended PASSED, but the service sent no results, so nothing shows that a test ran; if that is expected, set the input pass-with-no-tests to true.',
  ],
  noTestsAllowed: [
    'No tests ran',
    'Run run_7f3a ended PASSED, but it lists no test case; pass-with-no-tests allows that.',
  ],
  unknownStatus: [
    'Run status unknown',
    'Run run_7f3a ended with the status “PAUSED”, which this version of the action does not know and does not take for a pass: none of 2 test cases failed, 2 passed.',
  ],
  waitLimit: [
    'Wait limit reached',
    'Run run_7f3a was not over after 1 h, the limit set by timeout-minutes (last status RUNNING); the run was cancelled.',
  ],
  waitLimitCancelFailed: [
    'Wait limit reached',
    'Run run_7f3a was not over after 1 h, the limit set by timeout-minutes (last status RUNNING); the run could not be cancelled and may go on (the service answered 500 Internal Server Error: “out of workers”).',
  ],
  waitLimitOfSuite: [
    'Wait limit reached',
    'Run run_7f3a was not over after 1 min 30 s, the limit set by timeout-minutes (last status RUNNING); the run may go on, for the test-suite workflow has no cancel.',
  ],
  waitLimitButOver: ['Tests passed', 'Run run_7f3a ended PASSED: 2 of 2 test cases passed.'],
  aborted: ['Step cancelled', `${LEFT} while run run_7f3a was RUNNING; the run was cancelled.`],
  abortedCancelFailed: [
    'Step cancelled',
    `${LEFT} while run run_7f3a was RUNNING; the run could not be cancelled and may go on.`,
  ],
  abortedRunLeft: [
    'Step cancelled',
    `${LEFT} while run run_7f3a was RUNNING; the run was left as it is and may go on.`,
  ],
  abortedRunOver: [
    'Step cancelled',
    `${LEFT} while run run_7f3a was RUNNING; the run was over already, with the status PASSED.`,
  ],
  abortedInStart: [
    'Step cancelled',
    `${LEFT} while a run was being started; a run may have been started and cannot be looked up.`,
  ],
  abortedBeforeStart: ['Step cancelled', `${LEFT} before a run was started.`],
  startRefused: [
    'Run not started',
    'The run could not be started: the service answered 401 Unauthorized: “Invalid API key”; check the input api-key.',
  ],
  startUnclear: [
    'Start failed',
    'The start brought no id of a run: the service did not answer: socket hang up (ECONNRESET); a run may have been started and cannot be looked up.',
  ],
  unreachable: [
    'Run could not be read',
    'Run run_7f3a could not be read: the service could not be reached: connect ECONNREFUSED 127.0.0.1:8080; check the input base-url, and that this runner can reach it; the run could not be cancelled and may go on (the service could not be reached: connect ECONNREFUSED 127.0.0.1:8080).',
  ],
  brokenAnswer: [
    'Run could not be read',
    'Run run_7f3a could not be read: the service\'s answer is broken: expected status to be a string, got “{"status":7}”; the run was cancelled.',
  ],
  started: ['Run started', 'Run run_7f3a was started and goes on; this step does not wait for it.'],
}

describe('the verdict in words', () => {
  it.each(Object.keys(ENDINGS) as EndingName[])('tells the ending %s', (name) => {
    const result = ENDINGS[name]
    expect([verdictTitle(result), render(verdictSentence(result))]).toEqual(EXPECTED[name])
  })

  it('cuts titles, and makes the run id, the status and the titles harmless', () => {
    const title = `::error::@octocat\n${'x'.repeat(500)}`
    const result = aStepResult({
      runId: 'a\n::warning::b',
      run: aRun({ status: 'FAILED', testCases: [aTestCase({ title, status: 'FAILED' })] }),
    })
    const sentence = render(verdictSentence(result))
    expect(sentence).toContain('Run a ::warning::b ended FAILED: 1 of 1 test case failed (“::error::@octocat xxx')
    expect(sentence.length).toBeLessThan(250)
  })

  it('says only of starts that may have arrived that a run may have been started', () => {
    for (const [name, result] of Object.entries(ENDINGS)) {
      const isUnclear = name === 'startUnclear' || name === 'abortedInStart'
      expect(render(verdictSentence(result)).includes('may have been started'), name).toBe(isUnclear)
    }
  })

  it('names the run wherever it may go on', () => {
    for (const [name, result] of Object.entries(ENDINGS)) {
      const sentence = render(verdictSentence(result))
      if (sentence.includes('may go on')) expect(sentence, name).toContain('run_7f3a')
    }
  })

  it('knows a run that has no end although the wait has one', () => {
    const run = aRun({ status: 'RUNNING', testCases: testCasesBy({ PASSED: 1, RUNNING: 1 }) })
    expect(render(verdictSentence(aStepResult({ run })))).toBe(
      'Run run_7f3a has the status RUNNING, which is no end: none of 2 test cases failed, 1 passed, 1 of another status.',
    )
  })

  it('has no word of anybody else in its title', () => {
    const result = aStepResult({ run: aRun({ status: 'secret', branchName: 'secret' }), runId: 'secret' })
    expect(verdictTitle(result)).toBe('Run status unknown')
    const refused = { kind: 'status', status: 400, error: untrusted('secret') } as const
    const ending = { kind: 'gave-up', during: 'start', failure: refused, cancellation: { kind: 'no-run' } } as const
    expect(verdictTitle(aStepResult({ ending }))).toBe('Run not started')
  })
})
