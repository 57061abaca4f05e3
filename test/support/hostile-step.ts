import fc from 'fast-check'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { Cancellation, Ending, StepOutcome } from '../../src/outcome/step-outcome.ts'
import { fragment, quote } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, aTestCase } from './builders.ts'

/** Makes a value of the texts drawn for it, each passed through `reword`: the same value can be had in other words. */
export type Worded<T> = (reword: (text: string) => string) => T

const RUN_STATUS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'RUNNING'] as const
const CASE_STATUS = ['PASSED', 'FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'SKIPPED'] as const
const KNOWN = new Set<string>([...RUN_STATUS, ...CASE_STATUS, 'QUEUED'])

/** Any step, in any of its ends, with `text` wherever somebody else's text can be. */
export function anyStep(text: fc.Arbitrary<string>): fc.Arbitrary<Worded<StepOutcome>> {
  const run = anyRun(text)
  const failure = anyFailure(text)
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const shape = fc.record({
    ending: anyEnding(run, failure),
    cancellation: anyCancellation(run, failure),
    run: maybe(run),
    runId: maybe(text),
    hasRunUrl: fc.boolean(),
    queuedMs: maybe(fc.nat(100_000)),
    id: text,
    kind: fc.constantFrom('project', 'test-suite'),
    branch: maybe(text),
    untested: maybe(text),
    environment: maybe(text),
    frameworkProject: maybe(text),
    labels: fc.array(text, { maxLength: 2 }),
    jobName: text,
    ownsRun: fc.boolean(),
    autofix: maybe(fc.boolean()),
    passWithNoTests: fc.boolean(),
  })
  return shape.map((drawn) => {
    const worded: Worded<StepOutcome> = (reword) => {
      const maybeReword = (text: string | undefined) => (text === undefined ? undefined : reword(text))
      return anOutcome({
        ending: drawn.ending(reword),
        cancellation: drawn.cancellation(reword),
        run: drawn.run?.(reword),
        runId: maybeReword(drawn.runId),
        runUrl: drawn.hasRunUrl ? RUN_URL : undefined,
        queuedMs: drawn.queuedMs,
        subject: {
          target:
            drawn.kind === 'project'
              ? { kind: 'project', projectId: reword(drawn.id) }
              : { kind: 'test-suite', testSuiteId: reword(drawn.id) },
          parameters: {
            branch: maybeReword(drawn.branch),
            environment: maybeReword(drawn.environment),
            frameworkProject: maybeReword(drawn.frameworkProject),
            autofix: drawn.autofix,
            envOverrides: { SECRET: 'value of an override' },
          },
          untested: drawn.untested === undefined ? undefined : fragment`${quote(reword(drawn.untested), 255)}`,
          labels: drawn.labels.map(reword),
          job: { name: reword(drawn.jobName), url: JOB_URL },
          ownsRun: drawn.ownsRun,
        },
        passWithNoTests: drawn.passWithNoTests,
      })
    }
    // What fast-check prints of a counterexample.
    return Object.assign(worded, { [fc.toStringMethod]: () => JSON.stringify(worded((text) => text)) })
  })
}

const RUN_URL = 'https://app.example.com/runs/1'
const JOB_URL = 'https://github.com/o/r/actions/runs/1/job/2'

function anyRun(text: fc.Arbitrary<string>): fc.Arbitrary<Worded<Run>> {
  const status = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...RUN_STATUS) }, text)
  const caseStatus = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...CASE_STATUS) }, text)
  const testCase = fc.record({
    title: text,
    status: caseStatus,
    durationMs: fc.option(fc.nat(10_000_000), { nil: undefined }),
  })
  return fc
    .record({
      status,
      branchName: fc.option(text, { nil: undefined }),
      testCases: fc.option(fc.array(testCase, { maxLength: 40, size: 'max' }), { nil: undefined, freq: 8 }),
    })
    .map((drawn) => (reword) => {
      const testCases = drawn.testCases?.map(({ title, status, durationMs }) =>
        aTestCase({ title: reword(title), status: rewordStatus(status, reword), durationMs }),
      )
      return {
        ...aRun({
          status: rewordStatus(drawn.status, reword),
          branchName: drawn.branchName === undefined ? undefined : reword(drawn.branchName),
          testCases,
        }),
        responseText: untrusted(JSON.stringify({ [reword('extra')]: reword('more'), results: { testCases } })),
      }
    })
}

/** Statuses that mean something to us stay as they are. */
function rewordStatus(status: string, reword: (text: string) => string): string {
  return KNOWN.has(status) ? status : reword(status)
}

function anyFailure(text: fc.Arbitrary<string>): fc.Arbitrary<Worded<Failure>> {
  return fc.oneof(
    text.map(
      (reason): Worded<Failure> =>
        (reword) => ({ kind: 'not-sent', reason: reword(reason) }),
    ),
    text.map(
      (reason): Worded<Failure> =>
        (reword) => ({ kind: 'no-response', reason: reword(reason) }),
    ),
    text.map(
      (code): Worded<Failure> =>
        (reword) => ({ kind: 'untrusted-certificate', code: reword(code) }),
    ),
    fc.tuple(fc.constantFrom(301, 400, 401, 403, 404, 407, 418, 500, 503), text).map(
      ([status, error]): Worded<Failure> =>
        (reword) => ({ kind: 'status', status, error: untrusted(reword(error)) }),
    ),
    fc.tuple(text, text).map(
      ([expected, got]): Worded<Failure> =>
        (reword) => ({ kind: 'invalid-response', expected: reword(expected), got: untrusted(reword(got)) }),
    ),
    fc.constant<Worded<Failure>>(() => ({ kind: 'aborted' })),
  )
}

function anyCancellation(
  run: fc.Arbitrary<Worded<Run>>,
  failure: fc.Arbitrary<Worded<Failure>>,
): fc.Arbitrary<Worded<Cancellation>> {
  return fc.oneof(
    fc.constantFrom('not-wanted', 'no-run', 'id-unknown', 'not-supported', 'cancelled', 'not-found', 'failed').map(
      (kind): Worded<Cancellation> =>
        () => ({ kind }),
    ),
    fc.tuple(fc.constantFrom('cancelled', 'already-finished'), run).map(
      ([kind, found]): Worded<Cancellation> =>
        (reword) => ({ kind, run: found(reword) }),
    ),
    failure.map(
      (why): Worded<Cancellation> =>
        (reword) => ({ kind: 'failed', failure: why(reword) }),
    ),
  )
}

function anyEnding(
  run: fc.Arbitrary<Worded<Run>>,
  failure: fc.Arbitrary<Worded<Failure>>,
): fc.Arbitrary<Worded<Ending>> {
  const limit = fc.record({
    input: fc.constantFrom('timeout-minutes', 'queue-timeout-minutes'),
    ms: fc.nat(40_000_000),
  })
  return fc.oneof(
    {
      weight: 5,
      arbitrary: run.map(
        (finished): Worded<Ending> =>
          (reword) => ({ kind: 'finished', run: finished(reword) }),
      ),
    },
    fc.constantFrom<Ending>({ kind: 'started' }, { kind: 'aborted' }).map(
      (ending): Worded<Ending> =>
        () =>
          ending,
    ),
    fc.tuple(limit, fc.option(failure, { nil: undefined })).map(
      ([limit, why]): Worded<Ending> =>
        (reword) => ({ kind: 'wait-timeout', limit, failure: why?.(reword) }),
    ),
    fc.tuple(fc.constantFrom('start-failed', 'poll-failed'), failure).map(
      ([kind, why]): Worded<Ending> =>
        (reword) => ({ kind, failure: why(reword) }),
    ),
  )
}
