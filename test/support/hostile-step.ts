import fc from 'fast-check'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { StepResult } from '../../src/outcome/step-result.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import type { Cancellation, Ending } from '../../src/outcome/verdict.ts'
import { aRun, aStepResult, aTestCase } from './builders.ts'

/** Makes a step result of the texts drawn for it, each passed through `say`: the same step can be told in other words. */
export type StepTeller = (say: (text: string) => string) => StepResult

const RUN_STATUS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED', 'RUNNING'] as const
const CASE_STATUS = ['PASSED', 'FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'SKIPPED'] as const
const KNOWN = new Set<string>([...RUN_STATUS, ...CASE_STATUS, 'QUEUED'])

/** Any step, in any of its ends, with `text` wherever somebody else's text can stand. */
export function anyStep(text: fc.Arbitrary<string>): fc.Arbitrary<StepTeller> {
  const run = anyRun(text)
  const failure = anyFailure(text)
  const cancellation = anyCancellation(run, failure)
  const ending = anyEnding(run, failure, cancellation)
  const shape = fc.record({
    ending,
    runId: fc.option(text, { nil: undefined }),
    id: text,
    kind: fc.constantFrom('project', 'test-suite'),
    branch: fc.option(text, { nil: undefined }),
    environment: fc.option(text, { nil: undefined }),
    frameworkProject: fc.option(text, { nil: undefined }),
    ownsRun: fc.boolean(),
    autofix: fc.option(fc.boolean(), { nil: undefined }),
    passWithNoTests: fc.boolean(),
  })
  return shape.map((drawn) => {
    const { branch, environment, frameworkProject, autofix } = drawn
    const tell: StepTeller = (say) =>
      aStepResult({
        ending: drawn.ending(say),
        runId: drawn.runId === undefined ? undefined : say(drawn.runId),
        target:
          drawn.kind === 'project'
            ? { kind: 'project', projectId: say(drawn.id) }
            : { kind: 'test-suite', testSuiteId: say(drawn.id) },
        parameters: {
          ...(branch === undefined ? {} : { branch: say(branch) }),
          ...(environment === undefined ? {} : { environment: say(environment) }),
          ...(frameworkProject === undefined ? {} : { frameworkProject: say(frameworkProject) }),
          ...(autofix === undefined ? {} : { autofix }),
          envOverrides: { SECRET: 'value of an override' },
        },
        ownsRun: drawn.ownsRun,
        passWithNoTests: drawn.passWithNoTests,
      })
    // What fast-check prints of a counterexample.
    return Object.assign(tell, { [fc.toStringMethod]: () => JSON.stringify(tell((text) => text)) })
  })
}

type Teller<T> = (say: (text: string) => string) => T

function anyRun(text: fc.Arbitrary<string>): fc.Arbitrary<Teller<Run>> {
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

function anyFailure(text: fc.Arbitrary<string>): fc.Arbitrary<Teller<Failure>> {
  return fc.oneof(
    text.map(
      (reason): Teller<Failure> =>
        (say) => ({ kind: 'not-sent', reason: say(reason) }),
    ),
    text.map(
      (reason): Teller<Failure> =>
        (say) => ({ kind: 'no-response', reason: say(reason) }),
    ),
    text.map(
      (code): Teller<Failure> =>
        (say) => ({ kind: 'untrusted-certificate', code: say(code) }),
    ),
    fc.tuple(fc.constantFrom(301, 400, 401, 403, 404, 407, 418, 500, 503), text).map(
      ([status, error]): Teller<Failure> =>
        (say) => ({ kind: 'status', status, error: untrusted(say(error)) }),
    ),
    fc.tuple(text, text).map(
      ([expected, got]): Teller<Failure> =>
        (say) => ({ kind: 'invalid-response', expected: say(expected), got: untrusted(say(got)) }),
    ),
    fc.constant<Teller<Failure>>(() => ({ kind: 'aborted' })),
  )
}

function anyCancellation(
  run: fc.Arbitrary<Teller<Run>>,
  failure: fc.Arbitrary<Teller<Failure>>,
): fc.Arbitrary<Teller<Cancellation>> {
  return fc.oneof(
    fc
      .constantFrom('not-wanted', 'no-run', 'id-unknown', 'not-supported', 'cancelled', 'already-finished', 'failed')
      .map(
        (kind): Teller<Cancellation> =>
          () => ({ kind }),
      ),
    run.map(
      (over): Teller<Cancellation> =>
        (say) => ({ kind: 'already-finished', run: over(say) }),
    ),
    failure.map(
      (why): Teller<Cancellation> =>
        (say) => ({ kind: 'failed', failure: why(say) }),
    ),
  )
}

function anyEnding(
  run: fc.Arbitrary<Teller<Run>>,
  failure: fc.Arbitrary<Teller<Failure>>,
  cancellation: fc.Arbitrary<Teller<Cancellation>>,
): fc.Arbitrary<Teller<Ending>> {
  const last = fc.option(run, { nil: undefined })
  const runOf = (drawn: Teller<Run> | undefined, say: (text: string) => string) =>
    drawn === undefined ? {} : { run: drawn(say) }
  return fc.oneof(
    {
      weight: 5,
      arbitrary: run.map(
        (over): Teller<Ending> =>
          (say) => ({ kind: 'finished', run: over(say) }),
      ),
    },
    fc.constant<Teller<Ending>>(() => ({ kind: 'started' })),
    fc.tuple(last, cancellation, fc.nat(40_000_000)).map(
      ([drawn, end, limitMs]): Teller<Ending> =>
        (say) => ({ kind: 'wait-timeout', limitMs, cancellation: end(say), ...runOf(drawn, say) }),
    ),
    fc.tuple(last, cancellation).map(
      ([drawn, end]): Teller<Ending> =>
        (say) => ({ kind: 'aborted', cancellation: end(say), ...runOf(drawn, say) }),
    ),
    fc.tuple(last, cancellation, failure, fc.constantFrom('start', 'wait')).map(
      ([drawn, end, why, during]): Teller<Ending> =>
        (say) => ({ kind: 'gave-up', during, failure: why(say), cancellation: end(say), ...runOf(drawn, say) }),
    ),
  )
}
