import type { Failure } from '../../src/model/failure.ts'
import type { Cancellation, Ending, OutcomeWithRun, StepOutcome } from '../../src/model/outcome.ts'
import { RUN_ID_RULE } from '../../src/model/run.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aBaseline, anOutcome, aRun, aTestCase, type OutcomeFields, type RunFields, testCasesBy } from './builders.ts'

const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
const QUEUED = aRun({ status: 'QUEUED', startedAt: undefined, finishedAt: undefined, testCases: undefined })
const REFUSED: Failure = { failure: true, kind: 'not-sent', reason: 'connect ECONNREFUSED 127.0.0.1:8080' }
const REFUSED_HERE: Failure = { ...REFUSED, problem: 'refused here' }
const RESET: Failure = { failure: true, kind: 'no-response', reason: 'reset' }
const WAIT_LIMIT = { kind: 'wait-timeout', limitMs: 3_600_000, wasQueued: false } as const
const ABORTED: Ending = { kind: 'aborted', cause: 'system signal' }
const CANCELLED: Cancellation = { kind: 'cancelled' }
const FINISHED_BEFORE: Cancellation = { kind: 'already-finished' }

type Counts = Readonly<Record<string, number>>

/** A run that finished with this status, with test cases by their statuses. */
function finished(status: string, counts: Counts | undefined, fields: Omit<OutcomeFields, 'run' | 'ending'> = {}) {
  return anOutcome({ run: aRun({ status, testCases: counts && testCasesBy(counts) }), ...fields })
}

/** The ending of a step that did not wait until its run had finished. By default, the run is still running. */
const ended = (ending: Ending, cancellation: Cancellation, fields: OutcomeFields = {}) =>
  anOutcome({ ending, cancellation, run: RUNNING, ...fields })
const pollFailed = (failure: Failure, cancellation: Cancellation, fields?: OutcomeFields) =>
  ended({ kind: 'poll-failed', failure }, cancellation, fields)
const startFailed = (failure: Failure, kind: 'none' | 'id-unknown') =>
  anOutcome({ ending: { kind: 'start-failed', failure }, cancellation: { kind, failure } })
const abortedInStart = (failure: Failure) =>
  anOutcome({ ending: ABORTED, cancellation: { kind: 'id-unknown', failure } })
const cancelFailed = (failure: Failure): Cancellation => ({ kind: 'failed', failure })
const onOtherBranch = (fields: RunFields): OutcomeWithRun =>
  anOutcome({ run: aRun({ branchName: 'main', ...fields }), subject: { parameters: { branch: 'feature/cart' } } })
const status = (code: number, error?: string): Failure => ({
  failure: true,
  kind: 'status',
  status: code,
  error: error === undefined ? undefined : untrusted(error),
})

const REASON = { message: 'AssertionError: expected 41 to be 42\n  at pay', filePath: 'test/money.test.ts', line: 7 }
const MIXED = { PASSED: 30, FAILED: 3, TIMEDOUT: 1, INTERRUPTED: 1, QUARANTINED: 1, FLAKY: 1, SKIPPED: 3 }

/** One outcome for each way in which a step can end. */
export const ENDINGS = {
  passed: finished('PASSED', { PASSED: 38, FLAKY: 1, SKIPPED: 1 }),
  passedWithFailures: finished('PASSED', { PASSED: 38, FAILED: 2 }),
  passedWithUnknownResults: finished('PASSED', { PASSED: 1, BLOCKED: 97, NEW: 1, '': 1 }),
  passedWithFailuresAndUnknown: finished('PASSED', { PASSED: 1, FAILED: 1, NEW: 1 }),
  suiteWithUnknownResults: finished(
    'FAILED',
    { PASSED: 1, BLOCKED: 2 },
    { subject: { target: { kind: 'test-suite', id: 'smoke' } } },
  ),
  strictWithFailures: finished('PASSED', { PASSED: 38, FAILED: 2 }, { strict: true }),
  strictWithUnknownResults: finished('PASSED', { PASSED: 1, BLOCKED: 9 }, { strict: true }),
  failed: finished('FAILED', MIXED),
  failedSomeNew: finished(
    'FAILED',
    { FAILED: 3, PASSED: 37 },
    { subject: { baseline: aBaseline({ FAILED: 2, TIMEDOUT: 1 }) } },
  ),
  timedOutNoneNew: finished(
    'TIMEDOUT',
    { FAILED: 1, TIMEDOUT: 1, PASSED: 3 },
    { subject: { baseline: aBaseline({ FAILED: 1, TIMEDOUT: 1 }) } },
  ),
  passedWithFewerTests: finished(
    'PASSED',
    { PASSED: 38, FLAKY: 1, SKIPPED: 2 },
    { subject: { baseline: aBaseline({ PASSED: 41, FAILED: 1 }, 'FAILED') } },
  ),
  failedInMatrix: finished(
    'FAILED',
    { FAILED: 3, PASSED: 37 },
    {
      runUrl: 'https://app.example.com/p/web-shop/runs/run_7f3a',
      subject: { matrix: 'ubuntu-latest, 20' },
    },
  ),
  failedWithReasons: anOutcome({
    run: aRun({
      status: 'FAILED',
      testCases: [aTestCase({ title: 'rounds to cents', status: 'FAILED', ...REASON }), ...testCasesBy({ PASSED: 39 })],
    }),
  }),
  failedWithMessage: anOutcome({
    run: aRun({ status: 'FAILED', message: 'no browser is installed\nat launch', testCases: [] }),
  }),
  failedWithoutFailedCase: finished('FAILED', { PASSED: 1, SKIPPED: 2, '': 1 }),
  failedWithoutResults: finished('FAILED', undefined),
  timedOut: finished('TIMEDOUT', { TIMEDOUT: 1 }),
  cancelled: finished('CANCELLED', { PASSED: 12, CANCELLED: 3 }),
  interrupted: finished('INTERRUPTED', { INTERRUPTED: 2, PASSED: 3 }),
  noTestsListed: finished('PASSED', {}),
  allSkipped: finished('PASSED', { SKIPPED: 12 }),
  nothingRan: finished('PASSED', { PENDING: 1 }),
  noResults: finished('PASSED', undefined),
  noTestsAllowed: finished('PASSED', {}, { passWithNoTests: true }),
  unknownStatus: finished('PAUSED', { PASSED: 2 }),
  waitLimit: ended(WAIT_LIMIT, CANCELLED),
  waitLimitInQueue: ended({ ...WAIT_LIMIT, wasQueued: true }, CANCELLED, { run: QUEUED }),
  waitLimitCancelFailed: ended(WAIT_LIMIT, cancelFailed(status(500, 'out of workers'))),
  waitLimitUnknown: ended({ ...WAIT_LIMIT, failure: status(503) }, CANCELLED, { run: QUEUED }),
  waitLimitWithoutResponse: ended({ ...WAIT_LIMIT, failure: status(503) }, { kind: 'not-found' }, { run: undefined }),
  waitLimitOfSuite: ended(
    { ...WAIT_LIMIT, limitMs: 90_000 },
    { kind: 'not-supported' },
    { subject: { target: { kind: 'test-suite', id: 'smoke' } } },
  ),
  otherBranch: onOtherBranch({ testCases: testCasesBy({ PASSED: 4 }) }),
  failedOnOtherBranch: onOtherBranch({ status: 'FAILED', testCases: testCasesBy({ PASSED: 3, FAILED: 1 }) }),
  abortedByEndOfJob: ended(
    { kind: 'aborted', cause: 'end of job' },
    cancelFailed({ failure: true, kind: 'not-listed' }),
  ),
  aborted: ended(ABORTED, CANCELLED),
  abortedCancelFailed: ended(ABORTED, cancelFailed({ failure: true, kind: 'not-listed' })),
  abortedRunLeft: ended(ABORTED, { kind: 'not-allowed' }),
  abortedRunFinished: ended(ABORTED, FINISHED_BEFORE, { run: aRun() }),
  abortedRunFailed: ended(ABORTED, FINISHED_BEFORE, {
    run: aRun({ status: 'FAILED', message: 'config broken\nat x', testCases: [] }),
  }),
  abortedInStart: abortedInStart({ failure: true, kind: 'aborted' }),
  abortedInStartWithOddId: abortedInStart({
    failure: true,
    kind: 'invalid-response',
    expected: `runId to have ${RUN_ID_RULE}`,
    got: { sent: untrusted('"a b"') },
  }),
  abortedBeforeStart: anOutcome({ ending: ABORTED, cancellation: { kind: 'none' } }),
  startRefused: startFailed(status(401, 'Invalid API key'), 'none'),
  startUnclear: startFailed({ failure: true, kind: 'no-response', reason: 'socket hang up; ECONNRESET' }, 'id-unknown'),
  unreachable: pollFailed(REFUSED, cancelFailed(REFUSED)),
  unreachableCancelRefused: pollFailed(RESET, cancelFailed(status(403)), { run: undefined }),
  serviceEnded: pollFailed(REFUSED_HERE, cancelFailed(REFUSED_HERE)),
  invalidResponse: pollFailed(
    { failure: true, kind: 'invalid-response', expected: 'status to be a string', got: { words: 'the number 7' } },
    CANCELLED,
    { run: undefined },
  ),
  notFound: pollFailed(status(404), { kind: 'not-found' }),
  notFoundCancelFailed: pollFailed(status(404), cancelFailed(status(500))),
  notFoundOfSuite: pollFailed(
    status(404),
    { kind: 'not-supported' },
    { subject: { target: { kind: 'test-suite', id: 'smoke' } } },
  ),
  notFoundGiven: pollFailed(
    status(404),
    { kind: 'not-allowed' },
    {
      subject: { ownsRun: false, parameters: {} },
      run: undefined,
    },
  ),
  startRedirected: startFailed(status(302), 'none'),
  started: anOutcome({ ending: { kind: 'started' } }),
} as const satisfies Record<string, StepOutcome>
