import type { StepOutcome } from '../../src/model/outcome.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aBaseline, anOutcome, aRun, aTestCase, testCasesBy } from './builders.ts'

const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
const QUEUED = aRun({ status: 'QUEUED', startedAt: undefined, finishedAt: undefined, testCases: undefined })
const WAIT_LIMIT = { kind: 'wait-timeout', limitMs: 3_600_000, wasQueued: false } as const
const REFUSED = { kind: 'not-sent', reason: 'connect ECONNREFUSED 127.0.0.1:8080' } as const
const HALF_FAILED = { kind: 'status', status: 500, error: untrusted('out of workers') } as const

/** One outcome for each way in which a step can end. */
export const ENDINGS = {
  passed: anOutcome({ run: aRun({ testCases: testCasesBy({ PASSED: 38, FLAKY: 1, SKIPPED: 1 }) }) }),
  passedWithFailures: anOutcome({ run: aRun({ testCases: testCasesBy({ PASSED: 38, FAILED: 2 }) }) }),
  passedWithUnknownResults: anOutcome({
    run: aRun({ testCases: testCasesBy({ PASSED: 1, BLOCKED: 97, NEW: 1, '': 1 }) }),
  }),
  passedWithFailuresAndUnknown: anOutcome({ run: aRun({ testCases: testCasesBy({ PASSED: 1, FAILED: 1, NEW: 1 }) }) }),
  strictWithFailures: anOutcome({ run: aRun({ testCases: testCasesBy({ PASSED: 38, FAILED: 2 }) }), strict: true }),
  strictWithUnknownResults: anOutcome({
    run: aRun({ testCases: testCasesBy({ PASSED: 1, BLOCKED: 9 }) }),
    strict: true,
  }),
  failed: anOutcome({
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
  failedSomeNew: anOutcome({
    run: aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 3, PASSED: 37 }) }),
    subject: { baseline: aBaseline({ FAILED: 2, TIMEDOUT: 1 }) },
  }),
  timedOutNoneNew: anOutcome({
    run: aRun({ status: 'TIMEDOUT', testCases: testCasesBy({ FAILED: 1, TIMEDOUT: 1, PASSED: 3 }) }),
    subject: { baseline: aBaseline({ FAILED: 1, TIMEDOUT: 1 }) },
  }),
  failedInMatrix: anOutcome({
    run: aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 3, PASSED: 37 }) }),
    runUrl: 'https://app.example.com/p/web-shop/runs/run_7f3a',
    subject: { labels: ['checkout', 'ubuntu-latest, 20'] },
  }),
  failedWithReasons: anOutcome({
    run: aRun({
      status: 'FAILED',
      testCases: [
        aTestCase({
          title: 'rounds to cents',
          status: 'FAILED',
          message: 'AssertionError: expected 41 to be 42\n  at pay',
          filePath: 'test/money.test.ts',
          line: 7,
        }),
        ...testCasesBy({ PASSED: 39 }),
      ],
    }),
  }),
  failedWithMessage: anOutcome({
    run: aRun({ status: 'FAILED', message: 'no browser is installed\nat launch', testCases: [] }),
  }),
  failedWithoutFailedCase: anOutcome({
    run: aRun({ status: 'FAILED', testCases: testCasesBy({ PASSED: 1, SKIPPED: 2, '': 1 }) }),
  }),
  failedWithoutResults: anOutcome({ run: aRun({ status: 'FAILED', testCases: undefined }) }),
  timedOut: anOutcome({ run: aRun({ status: 'TIMEDOUT', testCases: testCasesBy({ TIMEDOUT: 1 }) }) }),
  cancelled: anOutcome({
    run: aRun({ status: 'CANCELLED', testCases: testCasesBy({ PASSED: 12, CANCELLED: 3 }) }),
  }),
  interrupted: anOutcome({
    run: aRun({ status: 'INTERRUPTED', testCases: testCasesBy({ INTERRUPTED: 2, PASSED: 3 }) }),
  }),
  noTestsListed: anOutcome({ run: aRun({ testCases: [] }) }),
  allSkipped: anOutcome({ run: aRun({ testCases: testCasesBy({ SKIPPED: 12 }) }) }),
  nothingRan: anOutcome({ run: aRun({ testCases: testCasesBy({ PENDING: 1 }) }) }),
  noResults: anOutcome({ run: aRun({ testCases: undefined }) }),
  noTestsAllowed: anOutcome({ run: aRun({ testCases: [] }), passWithNoTests: true }),
  unknownStatus: anOutcome({ run: aRun({ status: 'PAUSED', testCases: testCasesBy({ PASSED: 2 }) }) }),
  waitLimit: anOutcome({ ending: WAIT_LIMIT, run: RUNNING, cancellation: { kind: 'cancelled' } }),
  waitLimitInQueue: anOutcome({
    ending: { ...WAIT_LIMIT, wasQueued: true },
    run: QUEUED,
    cancellation: { kind: 'cancelled' },
  }),
  waitLimitCancelFailed: anOutcome({
    ending: WAIT_LIMIT,
    run: RUNNING,
    cancellation: { kind: 'failed', failure: HALF_FAILED },
  }),
  waitLimitWithoutResponse: anOutcome({
    ending: { ...WAIT_LIMIT, failure: { kind: 'status', status: 503 } },
    cancellation: { kind: 'not-found' },
  }),
  waitLimitOfSuite: anOutcome({
    subject: { target: { kind: 'test-suite', id: 'smoke' } },
    ending: { kind: 'wait-timeout', limitMs: 90_000, wasQueued: false },
    run: RUNNING,
    cancellation: { kind: 'not-supported' },
  }),
  waitLimitButFinished: anOutcome({
    ending: WAIT_LIMIT,
    run: aRun({ testCases: testCasesBy({ PASSED: 2 }) }),
    cancellation: { kind: 'already-finished' },
  }),
  otherBranch: anOutcome({
    run: aRun({ branchName: 'main', testCases: testCasesBy({ PASSED: 4 }) }),
    subject: { parameters: { branch: 'feature/cart' } },
  }),
  failedOnOtherBranch: anOutcome({
    run: aRun({ status: 'FAILED', branchName: 'main', testCases: testCasesBy({ PASSED: 3, FAILED: 1 }) }),
    subject: { parameters: { branch: 'feature/cart' } },
  }),
  abortedByEndOfJob: anOutcome({
    ending: { kind: 'aborted', cause: 'job ended' },
    run: RUNNING,
    cancellation: { kind: 'failed', failure: { kind: 'not-listed' } },
  }),
  aborted: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    run: RUNNING,
    cancellation: { kind: 'cancelled' },
  }),
  abortedCancelFailed: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    run: RUNNING,
    cancellation: { kind: 'failed', failure: { kind: 'not-listed' } },
  }),
  abortedRunLeft: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    run: RUNNING,
    cancellation: { kind: 'not-wanted' },
  }),
  abortedRunFinished: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    run: aRun(),
    cancellation: { kind: 'already-finished' },
  }),
  abortedRunFailed: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    run: aRun({ status: 'FAILED', message: 'config broken\nat x', testCases: [] }),
    cancellation: { kind: 'already-finished' },
  }),
  abortedInStart: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    cancellation: { kind: 'id-unknown' },
  }),
  abortedBeforeStart: anOutcome({
    ending: { kind: 'aborted', cause: 'signal' },
    cancellation: { kind: 'none' },
  }),
  startRefused: anOutcome({
    ending: {
      kind: 'start-failed',
      failure: { kind: 'status', status: 401, error: untrusted('Invalid API key') },
    },
    cancellation: { kind: 'none' },
  }),
  startUnclear: anOutcome({
    ending: { kind: 'start-failed', failure: { kind: 'no-response', reason: 'socket hang up; ECONNRESET' } },
    cancellation: { kind: 'id-unknown' },
  }),
  unreachable: anOutcome({
    ending: { kind: 'poll-failed', failure: REFUSED },
    run: RUNNING,
    cancellation: { kind: 'failed', failure: REFUSED },
  }),
  unreachableCancelRefused: anOutcome({
    ending: { kind: 'poll-failed', failure: { kind: 'no-response', reason: 'reset' } },
    cancellation: { kind: 'failed', failure: { kind: 'status', status: 403 } },
  }),
  serviceEnded: anOutcome({
    ending: { kind: 'poll-failed', failure: { ...REFUSED, problem: 'refused here' } },
    run: RUNNING,
    cancellation: { kind: 'failed', failure: REFUSED },
  }),
  invalidResponse: anOutcome({
    ending: {
      kind: 'poll-failed',
      failure: { kind: 'invalid-response', expected: 'status to be a string', got: { words: 'the number 7' } },
    },
    cancellation: { kind: 'cancelled' },
  }),
  notFound: anOutcome({
    ending: { kind: 'poll-failed', failure: { kind: 'status', status: 404 } },
    run: RUNNING,
    cancellation: { kind: 'not-found' },
  }),
  notFoundGiven: anOutcome({
    subject: { ownsRun: false, parameters: {} },
    ending: { kind: 'poll-failed', failure: { kind: 'status', status: 404 } },
    cancellation: { kind: 'not-wanted' },
  }),
  startRedirected: anOutcome({
    ending: { kind: 'start-failed', failure: { kind: 'status', status: 302 } },
    cancellation: { kind: 'none' },
  }),
  started: anOutcome({ ending: { kind: 'started' } }),
} as const satisfies Record<string, StepOutcome>
