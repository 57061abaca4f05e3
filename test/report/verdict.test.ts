import { describe, expect, it } from 'vitest'
import { pageTitle } from '../../src/report/headline.ts'
import { verdictText } from '../../src/report/verdict.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import { anOutcome, aRun, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

// endings.md has the words of each ending. These tests check values that endings.md lacks.

const said = (text: Fragment | undefined) => text && render(text)
const sentenceOf = (...args: Parameters<typeof anOutcome>) => render(verdictText(anOutcome(...args), 'log'))

describe('the sentence', () => {
  it('truncates titles', () => {
    const testCases = [aTestCase({ title: 'x'.repeat(500), status: 'FAILED' })]
    expect(sentenceOf({ run: aRun({ status: 'FAILED', testCases }) }).length).toBeLessThan(260)
  })

  it('says that a run may have been started only if the start may have arrived', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const isUnclear = name === 'startUnclear' || name === 'abortedInStart'
      expect(render(verdictText(outcome, 'log')).includes('may have been started'), name).toBe(isUnclear)
    }
  })

  it('names the run if it may still be running', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const sentence = render(verdictText(outcome, 'log'))
      if (sentence.includes('may still be running')) expect(sentence, name).toContain('run_7f3a')
      expect(sentence.includes('may still be running'), name).toBe(
        ['not-supported', 'failed'].includes(outcome.cancellation.kind) || name === 'abortedRunLeft',
      )
    }
  })

  it('says why the last status request of a wait that took too long failed, and no later status', () => {
    const outcome = anOutcome({
      ending: { kind: 'wait-timeout', limitMs: 60_000, wasQueued: false, failure: { kind: 'status', status: 503 } },
      cancellation: { kind: 'cancelled' },
    })
    expect(render(verdictText(outcome, 'log'))).toBe(
      'Run run_7f3a did not finish within 1 min (the input timeout-minutes). Its last status request failed, because the service responded with 503 Service Unavailable. This step cancelled the run. If the run needs more time, raise the input timeout-minutes.',
    )
  })

  it.each([
    [{ kind: 'no-response', reason: 'reset' }, ''],
    [{ kind: 'status', status: 403 }, ', because the service responded with 403 Forbidden'],
  ] as const)('says why a cancel failed with %j unless the wait failed for the same reason', (failure, why) => {
    const ending = { kind: 'poll-failed', failure: { kind: 'no-response', reason: 'reset' } } as const
    expect(sentenceOf({ ending, cancellation: { kind: 'failed', failure } })).toBe(
      `The status of run run_7f3a could not be read, because the service did not respond (reset). This step could not cancel the run${why}. The run may still be running. The post step tries again to cancel the run.`,
    )
  })

  it.each([
    ['RUNNER_TEMP emptied', 'If the run should not go on, cancel it at the service.'],
    ['log closed', 'If the run should not go on, cancel it at the service.'],
    ['SIGTERM', 'The post step tries again to cancel the run.'],
  ] as const)('after a cancel that failed on “%s” promises the post step only if post will run', (cause, next) => {
    const sentence = sentenceOf({ ending: { kind: 'aborted', cause }, cancellation: { kind: 'failed' } })
    expect(sentence.endsWith(` This step could not cancel the run. The run may still be running. ${next}`)).toBe(true)
  })

  it.each([
    [{ SKIPPED: 1 }, '0 of 1 test case failed, 1 skipped'],
    [{ SKIPPED: 2, '': 1 }, '0 of 3 test cases failed, 2 skipped, 1 without a known result'],
  ])('says that a FAILED run with the test cases %j has no failed test case, and so does the headline', (counts, results) => {
    const outcome = anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy(counts) }) })
    expect(render(verdictText(outcome, 'log'))).toBe(
      `Run run_7f3a finished as FAILED: ${results}. Look up the run at the service to find the reason.`,
    )
    expect(said(pageTitle(outcome))).toBe('❌ Run failed, although no test case failed')
  })

  it('has the message of a run that the cancel found finished', () => {
    const run = aRun({ status: 'FAILED', message: 'config broken\nat x', testCases: [] })
    const ending = { kind: 'aborted', cause: 'SIGINT' } as const
    expect(sentenceOf({ ending, cancellation: { kind: 'already-finished', run } })).toContain(
      'The run had already finished as FAILED with the message “config broken”.',
    )
  })
})

it('a cancel that failed for the reason of the poll is not explained twice', () => {
  const failure = { kind: 'status', status: 401 } as const
  const cancellation = { kind: 'failed', failure } as const
  expect(sentenceOf({ ending: { kind: 'poll-failed', failure }, cancellation }).match(/401/g)).toHaveLength(1)
})
