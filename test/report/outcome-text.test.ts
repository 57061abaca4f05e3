import { describe, expect, it } from 'vitest'
import {
  countsText,
  factsText,
  headline,
  pageTitle,
  verdictSentence,
  verdictTitle,
} from '../../src/report/outcome-text.ts'
import { type Fragment, logLine, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

// endings.md has the words of each ending. These tests check what holds for all endings, and values that endings.md lacks.

const said = (fragment: Fragment | undefined) => (fragment === undefined ? undefined : render(logLine`${fragment}`))
const sentenceOf = (...args: Parameters<typeof anOutcome>) => render(verdictSentence(anOutcome(...args)))

describe('the headline', () => {
  it('shows the green tick only if tests passed', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const { conclusion, counts, unknown } = outcome
      const hasPassed = conclusion === 'passed' && counts.failed + unknown.count === 0
      expect(said(headline(outcome).sign) === '✅', name).toBe(hasPassed)
    }
  })

  it('never says that tests passed if none ran', () => {
    const run = aRun({ testCases: testCasesBy({ PASSED: 1, PENDING: 1, TODO: 1, skipped: 1, '': 1, SKIPPED: 1 }) })
    const outcome = anOutcome({ run })
    expect(said(pageTitle(outcome))).toBe('⚠️ Run passed, with unknown statuses: 3 of 6')
    expect(said(countsText(outcome))).toBe('1 passed · 1 skipped · 4 without a result · run time 3 min 4 s')
    expect(said(pageTitle(ENDINGS.nothingRan))).toBe('❌ No tests ran: 0 of 1')
  })

  it('has no text of others in its title', () => {
    const run = aRun({ status: 'secret', branchName: 'secret' })
    expect(verdictTitle(anOutcome({ run, runId: 'secret' }))).toBe('Run ended with an unknown status')
    const failure = { kind: 'status', status: 400, error: untrusted('secret') } as const
    const ending = { kind: 'start-failed', failure } as const
    expect(verdictTitle(anOutcome({ ending, cancellation: { kind: 'no-run' } }))).toBe('Run not started')
  })
})

describe('the sentence', () => {
  it('truncates titles', () => {
    const testCases = [aTestCase({ title: 'x'.repeat(500), status: 'FAILED' })]
    expect(sentenceOf({ run: aRun({ status: 'FAILED', testCases }) }).length).toBeLessThan(260)
  })

  it('says that a run may have been started only if the start may have arrived', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const isUnclear = name === 'startUnclear' || name === 'abortedInStart'
      expect(render(verdictSentence(outcome)).includes('may have been started'), name).toBe(isUnclear)
    }
  })

  it('names the run if it may still be running', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const sentence = render(verdictSentence(outcome))
      if (sentence.includes('may still be running')) expect(sentence, name).toContain('run_7f3a')
      expect(sentence.includes('may still be running'), name).toBe(
        ['not-supported', 'failed'].includes(outcome.cancellation.kind) || name === 'abortedRunLeft',
      )
    }
  })

  it('says why the last status request of a wait that took too long failed, and no later status', () => {
    const limit = { input: 'timeout-minutes', ms: 60_000 } as const
    const outcome = anOutcome({
      ending: { kind: 'wait-timeout', limit, failure: { kind: 'status', status: 503 } },
      cancellation: { kind: 'cancelled', run: aRun({ status: 'CANCELLED' }) },
    })
    expect(render(verdictSentence(outcome))).toBe(
      'Run run_7f3a did not finish within 1 min (the input timeout-minutes). Its last status request failed, because the service responded with 503 Service Unavailable. This step cancelled the run.',
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
    ['folder emptied', 'If the run should not go on, cancel it at the service.'],
    ['log closed', 'If the run should not go on, cancel it at the service.'],
    ['SIGTERM', 'The post step tries again to cancel the run.'],
  ] as const)('after a cancel that failed on “%s” promises the post step only if post will run', (cause, next) => {
    const sentence = sentenceOf({ ending: { kind: 'aborted', cause }, cancellation: { kind: 'failed' } })
    expect(sentence.endsWith(` This step could not cancel the run. The run may still be running. ${next}`)).toBe(true)
  })

  it.each([
    [{ SKIPPED: 1 }, 'its one test case did not fail', ' (0 passed, 1 skipped)'],
    [{ SKIPPED: 2 }, 'none of its 2 test cases failed', ' (0 passed, 2 skipped)'],
  ])('says that a FAILED run with the test cases %j has no failed test case, and so does the headline', (counts, none, rest) => {
    const outcome = anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy(counts) }) })
    expect(render(verdictSentence(outcome))).toBe(
      `Run run_7f3a finished as FAILED, although ${none}${rest}. Look up the run at the service to find the reason.`,
    )
    expect(said(pageTitle(outcome))).toBe(`❌ Run failed, although ${none}`)
  })

  it('distinguishes an id that cannot be used from one that is missing', () => {
    const failure = { kind: 'invalid-response', expected: 'a run id', got: untrusted('a b') } as const
    const ending = { kind: 'start-failed', failure } as const
    expect(sentenceOf({ runId: undefined, ending, cancellation: { kind: 'cancelled' } })).toBe(
      'The start request returned no valid run id, because the service sent an invalid response (expected a run id, got “a b”). This step cancelled the run.',
    )
    // Post may not know this id, because the record takes no very long one.
    expect(sentenceOf({ runId: undefined, ending, cancellation: { kind: 'failed' } })).toContain(
      'This step could not cancel the run. The run may still be running. If the run should not go on, cancel it',
    )
  })
})

describe('the line of counts', () => {
  it('has the time waited if the duration of the run is not known', () => {
    const run = aRun({ startedAt: undefined, testCases: testCasesBy({ PASSED: 1 }) })
    expect(said(countsText(anOutcome({ run, waitedMs: 4_200 })))).toBe('1 passed · waited 4.2 s')
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
  const factsOf = (...args: Parameters<typeof anOutcome>) => said(factsText(anOutcome(...args)))

  it('says what was run and where, and shows no override', () => {
    expect(factsOf({ subject: { parameters }, run: aRun({ branchName: undefined }) })).toBe(
      'Project web-shop · Environment staging · Branch feature/x · Framework project chromium · Run run_7f3a · Auto-fix on',
    )
  })

  it('has the branch that the service names, and no other fact of a run that another step started', () => {
    expect(factsOf({ subject: { parameters }, run: aRun({ branchName: 'main' }) })).toContain('Branch main')
    const run = aRun({ branchName: undefined })
    expect(factsOf({ subject: { parameters: {}, ownsRun: false }, run })).toBe('Project web-shop · Run run_7f3a')
  })

  it('has the name of a commit beside its hash, unless another commit was tested', () => {
    const commit = 'f'.repeat(40)
    const subject = { parameters: { branch: commit }, commitName: 'change' }
    expect(factsOf({ subject, run: aRun({ branchName: undefined }) })).toContain(`Branch ${commit} (change) ·`)
    expect(factsOf({ subject, run: aRun({ branchName: commit }) })).toContain(`Branch ${commit} (change) ·`)
    expect(factsOf({ subject, run: aRun({ branchName: 'main' }) })).toContain('Branch main ·')
  })

  it('says that the branch of a test suite is metadata', () => {
    const target = { kind: 'test-suite', testSuiteId: 'smoke' } as const
    const subject = { target, parameters: { branch: 'main', autofix: false } }
    expect(factsOf({ subject, runId: undefined, ending: { kind: 'started' } })).toBe(
      'Test suite smoke · Branch main (sent as metadata only, so the service may test another branch) · Auto-fix off',
    )
  })
})

it('a cancel that failed for the reason of the poll is not explained twice, although each response has its own id', () => {
  const refused = (id: string) => ({ kind: 'status', status: 401, requestId: untrusted(id) }) as const
  const cancellation = { kind: 'failed', failure: refused('req-2') } as const
  const sentence = sentenceOf({ ending: { kind: 'poll-failed', failure: refused('req-1') }, cancellation })
  expect(sentence.match(/401/g)).toHaveLength(1)
  expect(sentence).toContain('(x-request-id req-1)')
})
