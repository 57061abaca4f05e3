import type { StepResult } from '../../src/outcome/step-result.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { aRun, aStepResult, testCasesBy } from './builders.ts'

const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
const REFUSED = { kind: 'not-sent', reason: 'connect ECONNREFUSED 127.0.0.1:8080' } as const
const HALF_FAILED = { kind: 'status', status: 500, error: untrusted('out of workers') } as const

/** One step result for each way in which a step can end. */
export const ENDINGS = {
  passed: aStepResult({ run: aRun({ testCases: testCasesBy({ PASSED: 38, FLAKY: 1, SKIPPED: 1 }) }) }),
  passedWithFailures: aStepResult({ run: aRun({ testCases: testCasesBy({ PASSED: 38, FAILED: 2 }) }) }),
  failed: aStepResult({
    run: aRun({
      status: 'FAILED',
      testCases: testCasesBy({
        PASSED: 30,
        FAILED: 3,
        TIMEDOUT: 1,
        INTERRUPTED: 1,
        QUARANTINED: 1,
        FLAKY: 1,
        SKIPPED: 3,
      }),
    }),
  }),
  failedWithoutFailedCase: aStepResult({ run: aRun({ status: 'FAILED', testCases: testCasesBy({ PASSED: 4 }) }) }),
  failedWithoutResults: aStepResult({ run: aRun({ status: 'FAILED', testCases: undefined }) }),
  timedOut: aStepResult({ run: aRun({ status: 'TIMEDOUT', testCases: testCasesBy({ TIMEDOUT: 1, PASSED: 3 }) }) }),
  cancelled: aStepResult({
    run: aRun({ status: 'CANCELLED', testCases: testCasesBy({ PASSED: 12, CANCELLED: 3 }) }),
  }),
  interrupted: aStepResult({
    run: aRun({ status: 'INTERRUPTED', testCases: testCasesBy({ INTERRUPTED: 2, PASSED: 3 }) }),
  }),
  noTestsListed: aStepResult({ run: aRun({ testCases: [] }) }),
  allSkipped: aStepResult({ run: aRun({ testCases: testCasesBy({ SKIPPED: 12 }) }) }),
  noResults: aStepResult({ run: aRun({ testCases: undefined }) }),
  noTestsAllowed: aStepResult({ run: aRun({ testCases: [] }), passWithNoTests: true }),
  unknownStatus: aStepResult({ run: aRun({ status: 'PAUSED', testCases: testCasesBy({ PASSED: 2 }) }) }),
  waitLimit: aStepResult({
    ending: { kind: 'wait-timeout', run: RUNNING, limitMs: 3_600_000, cancellation: { kind: 'cancelled' } },
  }),
  waitLimitCancelFailed: aStepResult({
    ending: {
      kind: 'wait-timeout',
      run: RUNNING,
      limitMs: 3_600_000,
      cancellation: { kind: 'failed', failure: HALF_FAILED },
    },
  }),
  waitLimitOfSuite: aStepResult({
    target: { kind: 'test-suite', testSuiteId: 'smoke' },
    ending: { kind: 'wait-timeout', run: RUNNING, limitMs: 90_000, cancellation: { kind: 'not-supported' } },
  }),
  waitLimitButOver: aStepResult({
    ending: {
      kind: 'wait-timeout',
      run: RUNNING,
      limitMs: 60_000,
      cancellation: { kind: 'already-finished', run: aRun({ testCases: testCasesBy({ PASSED: 2 }) }) },
    },
  }),
  aborted: aStepResult({ ending: { kind: 'aborted', run: RUNNING, cancellation: { kind: 'cancelled' } } }),
  abortedCancelFailed: aStepResult({ ending: { kind: 'aborted', run: RUNNING, cancellation: { kind: 'failed' } } }),
  abortedRunLeft: aStepResult({ ending: { kind: 'aborted', run: RUNNING, cancellation: { kind: 'not-wanted' } } }),
  abortedRunOver: aStepResult({
    ending: { kind: 'aborted', run: RUNNING, cancellation: { kind: 'already-finished', run: aRun() } },
  }),
  abortedInStart: aStepResult({ runId: undefined, ending: { kind: 'aborted', cancellation: { kind: 'id-unknown' } } }),
  abortedBeforeStart: aStepResult({ runId: undefined, ending: { kind: 'aborted', cancellation: { kind: 'no-run' } } }),
  startRefused: aStepResult({
    runId: undefined,
    ending: {
      kind: 'gave-up',
      during: 'start',
      failure: { kind: 'status', status: 401, error: untrusted('Invalid API key') },
      cancellation: { kind: 'no-run' },
    },
  }),
  startUnclear: aStepResult({
    runId: undefined,
    ending: {
      kind: 'gave-up',
      during: 'start',
      failure: { kind: 'no-response', reason: 'socket hang up (ECONNRESET)' },
      cancellation: { kind: 'id-unknown' },
    },
  }),
  unreachable: aStepResult({
    ending: {
      kind: 'gave-up',
      during: 'wait',
      run: RUNNING,
      failure: REFUSED,
      cancellation: { kind: 'failed', failure: REFUSED },
    },
  }),
  brokenAnswer: aStepResult({
    ending: {
      kind: 'gave-up',
      during: 'wait',
      failure: { kind: 'invalid-response', expected: 'status to be a string', got: untrusted('{"status":7}') },
      cancellation: { kind: 'cancelled' },
    },
  }),
  started: aStepResult({ ending: { kind: 'started' } }),
} as const satisfies Record<string, StepResult>

export type EndingName = keyof typeof ENDINGS
