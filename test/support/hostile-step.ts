import fc from 'fast-check'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { Cancellation, Ending, StepOutcome } from '../../src/outcome/step-outcome.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { anOutcome, aRun, aTestCase } from './builders.ts'

/** Makes a value of the texts drawn for it, each passed through `say`: the same value can be had in other words. */
export type Told<T> = (say: (text: string) => string) => T

const RUN_STATUS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'RUNNING'] as const
const CASE_STATUS = ['PASSED', 'FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'SKIPPED'] as const
const KNOWN = new Set<string>([...RUN_STATUS, ...CASE_STATUS, 'QUEUED'])

/** Any step, in any of its ends, with `text` wherever somebody else's text can stand. */
export function anyStep(text: fc.Arbitrary<string>): fc.Arbitrary<Told<StepOutcome>> {
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
    environment: maybe(text),
    frameworkProject: maybe(text),
    variant: fc.array(text, { maxLength: 2 }),
    jobName: text,
    ownsRun: fc.boolean(),
    autofix: maybe(fc.boolean()),
    passWithNoTests: fc.boolean(),
  })
  return shape.map((drawn) => {
    const told: Told<StepOutcome> = (say) => {
      const maybeSay = (text: string | undefined) => (text === undefined ? undefined : say(text))
      return anOutcome({
        ending: drawn.ending(say),
        cancellation: drawn.cancellation(say),
        run: drawn.run?.(say),
        runId: maybeSay(drawn.runId),
        runUrl: drawn.hasRunUrl ? RUN_URL : undefined,
        queuedMs: drawn.queuedMs,
        subject: {
          target:
            drawn.kind === 'project'
              ? { kind: 'project', projectId: say(drawn.id) }
              : { kind: 'test-suite', testSuiteId: say(drawn.id) },
          parameters: {
            branch: maybeSay(drawn.branch),
            environment: maybeSay(drawn.environment),
            frameworkProject: maybeSay(drawn.frameworkProject),
            autofix: drawn.autofix,
            envOverrides: { SECRET: 'value of an override' },
          },
          variant: drawn.variant.map(say),
          job: { name: say(drawn.jobName), url: JOB_URL },
          ownsRun: drawn.ownsRun,
        },
        passWithNoTests: drawn.passWithNoTests,
      })
    }
    // What fast-check prints of a counterexample.
    return Object.assign(told, { [fc.toStringMethod]: () => JSON.stringify(told((text) => text)) })
  })
}

const RUN_URL = 'https://app.example.com/runs/1'
const JOB_URL = 'https://github.com/o/r/actions/runs/1/job/2'

function anyRun(text: fc.Arbitrary<string>): fc.Arbitrary<Told<Run>> {
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
    .map((drawn) => (say) => {
      const testCases = drawn.testCases?.map(({ title, status, durationMs }) =>
        aTestCase({ title: say(title), status: sayStatus(status, say), durationMs }),
      )
      return aRun({
        status: sayStatus(drawn.status, say),
        branchName: drawn.branchName === undefined ? undefined : say(drawn.branchName),
        testCases,
        raw: { [say('extra')]: say('more'), results: testCases === undefined ? null : { testCases } },
      })
    })
}

/** Statuses that mean something to us are told as they are. */
function sayStatus(status: string, say: (text: string) => string): string {
  return KNOWN.has(status) ? status : say(status)
}

function anyFailure(text: fc.Arbitrary<string>): fc.Arbitrary<Told<Failure>> {
  return fc.oneof(
    text.map(
      (reason): Told<Failure> =>
        (say) => ({ kind: 'not-sent', reason: say(reason) }),
    ),
    text.map(
      (reason): Told<Failure> =>
        (say) => ({ kind: 'no-response', reason: say(reason) }),
    ),
    text.map(
      (code): Told<Failure> =>
        (say) => ({ kind: 'untrusted-certificate', code: say(code) }),
    ),
    fc.tuple(fc.constantFrom(301, 400, 401, 403, 404, 407, 418, 500, 503), text).map(
      ([status, error]): Told<Failure> =>
        (say) => ({ kind: 'status', status, error: untrusted(say(error)) }),
    ),
    fc.tuple(text, text).map(
      ([expected, got]): Told<Failure> =>
        (say) => ({ kind: 'invalid-response', expected: say(expected), got: untrusted(say(got)) }),
    ),
    fc.constant<Told<Failure>>(() => ({ kind: 'aborted' })),
  )
}

function anyCancellation(
  run: fc.Arbitrary<Told<Run>>,
  failure: fc.Arbitrary<Told<Failure>>,
): fc.Arbitrary<Told<Cancellation>> {
  return fc.oneof(
    fc.constantFrom('not-wanted', 'no-run', 'id-unknown', 'not-supported', 'cancelled', 'gone', 'failed').map(
      (kind): Told<Cancellation> =>
        () => ({ kind }),
    ),
    fc.tuple(fc.constantFrom('cancelled', 'already-finished'), run).map(
      ([kind, found]): Told<Cancellation> =>
        (say) => ({ kind, run: found(say) }),
    ),
    failure.map(
      (why): Told<Cancellation> =>
        (say) => ({ kind: 'failed', failure: why(say) }),
    ),
  )
}

function anyEnding(run: fc.Arbitrary<Told<Run>>, failure: fc.Arbitrary<Told<Failure>>): fc.Arbitrary<Told<Ending>> {
  const limit = fc.record({
    input: fc.constantFrom('timeout-minutes', 'queue-timeout-minutes'),
    ms: fc.nat(40_000_000),
  })
  return fc.oneof(
    {
      weight: 5,
      arbitrary: run.map(
        (finished): Told<Ending> =>
          (say) => ({ kind: 'finished', run: finished(say) }),
      ),
    },
    fc.constantFrom<Ending>({ kind: 'started' }, { kind: 'aborted' }).map(
      (ending): Told<Ending> =>
        () =>
          ending,
    ),
    fc.tuple(limit, fc.option(failure, { nil: undefined })).map(
      ([limit, why]): Told<Ending> =>
        (say) => ({ kind: 'wait-timeout', limit, failure: why?.(say) }),
    ),
    fc.tuple(fc.constantFrom('start-failed', 'poll-failed'), failure).map(
      ([kind, why]): Told<Ending> =>
        (say) => ({ kind, failure: why(say) }),
    ),
  )
}
