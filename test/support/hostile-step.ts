import fc from 'fast-check'
import type { Baseline, PastOfCase } from '../../src/model/baseline.ts'
import type { Failure } from '../../src/model/failure.ts'
import type { StepOutcome } from '../../src/model/outcome.ts'
import { isFinished, type Run, type TestCase } from '../../src/model/run.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { anOutcome, aRun, aTestCase } from './builders.ts'
import { ENDINGS } from './endings.ts'

const RUN_STATUS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED']
const CASE_STATUS = ['PASSED', 'FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'SKIPPED']

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const kinds = <Kind extends string>(...all: readonly Kind[]) => fc.constantFrom(...all)

export const SOURCE_URL = `https://github.com/o/r/blob/${'0a'.repeat(20)}`

/** Any step with any ending, with `text` in all places for text of others. */
export function anyStep(text: fc.Arbitrary<string>): fc.Arbitrary<StepOutcome> {
  const shape = fc.record({
    // Its ending, what became of the run, and what is known. All texts are drawn.
    like: fc.constantFrom<StepOutcome>(...Object.values(ENDINGS)),
    failure: anyFailure(text),
    run: anyRun(text),
    runId: text.map((drawn) => drawn || 'run-1'),
    runUrl: maybe(fc.constant('https://app.example.com/runs/1')),
    passWithNoTests: fc.boolean(),
    strict: fc.boolean(),
    subject: fc.record({
      target: fc.oneof(
        fc.record({ kind: kinds('project'), id: text }),
        fc.record({ kind: kinds('test-suite'), id: text }),
      ),
      parameters: fc.record({
        branch: maybe(text),
        environment: maybe(text),
        frameworkProject: maybe(text),
        autofix: maybe(fc.boolean()),
        envOverrides: fc.constant({ SECRET: 'value of an override' }),
      }),
      matrix: text,
      job: fc.record({ name: text, url: fc.constant('https://github.com/o/r/actions/runs/1/job/2') }),
      sourceUrl: maybe(fc.constant(SOURCE_URL)),
      ownsRun: fc.boolean(),
      baseline: maybe(
        maybe(fc.date({ noInvalidDate: true })).map(
          (finishedAt): Baseline => [{ status: 'FAILED', finishedAt, testCases: [] }],
        ),
      ),
    }),
    failedBeforeEvery: fc.integer({ min: 1, max: 5 }),
    removed: fc.array(anyTestCase(text), { maxLength: 3 }),
  })
  return shape.map(
    ({ like: { ending, cancellation, ...like }, failedBeforeEvery, removed, failure, run, ...others }) => {
      const outcome = anOutcome({
        ...others,
        ending: 'failure' in ending ? { ...ending, failure } : ending,
        cancellation: 'failure' in cancellation ? { ...cancellation, failure } : cancellation,
        run:
          like.run && (isFinished(like.run) ? run : { ...run, status: like.run.status, rawStatus: like.run.rawStatus }),
      })
      const isNew = (_: unknown, index: number) => index % failedBeforeEvery !== 0
      const chosen = (kind: TestCase['kind']) =>
        run.testCases?.filter((one, index) => one.kind === kind && isNew(one, index)) ?? []
      const past: readonly (readonly [TestCase, PastOfCase])[] = [
        ...chosen('passed').map((testCase): readonly [TestCase, PastOfCase] => [testCase, { badRuns: 1, runs: 2 }]),
        ...(outcome.past ?? []),
      ]
      return {
        ...outcome,
        past: outcome.past && new Map(past.filter(isNew)),
        comparison: outcome.comparison && { added: [], removed, newlySkipped: chosen('skipped') },
      }
    },
  )
}

/** The decoder refuses other paths. */
function anyPath(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return text.map((drawn) => drawn.replace(/[\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]/gu, '').slice(0, 1_000))
}

function anyStatus(known: readonly string[], text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, text)
}

function anyTestCase(text: fc.Arbitrary<string>): fc.Arbitrary<TestCase> {
  return fc
    .record({
      title: text,
      status: anyStatus(CASE_STATUS, text),
      durationMs: maybe(fc.nat(10_000_000)),
      message: maybe(text),
      filePath: maybe(anyPath(text)),
      line: maybe(fc.integer({ min: 1, max: 100_000 })),
    })
    .map(aTestCase)
}

function anyRun(text: fc.Arbitrary<string>): fc.Arbitrary<Run> {
  return fc
    .record({
      status: anyStatus(RUN_STATUS, text),
      branchName: maybe(text),
      message: maybe(text),
      testCases: fc.option(fc.array(anyTestCase(text), { maxLength: 40, size: 'max' }), {
        nil: undefined,
        freq: 8,
      }),
    })
    .map(aRun)
}

function anyFailure(text: fc.Arbitrary<string>): fc.Arbitrary<Failure> {
  const fromService = text.map(untrusted)
  const failure = fc.constant(true as const)
  return fc.oneof(
    fc.record({ failure, kind: kinds('not-sent', 'no-response'), reason: text }),
    fc.record({ failure, kind: kinds('not-sent'), reason: text, problem: kinds('certificate', 'refused here') }),
    fc.record({
      failure,
      kind: kinds('status'),
      status: fc.constantFrom(301, 400, 401, 403, 404, 407, 418, 500, 503),
      error: maybe(fromService),
      body: maybe(fromService),
    }),
    fc.record({ failure, kind: kinds('invalid-response'), expected: text, got: fc.record({ sent: fromService }) }),
    fc.record({ failure, kind: kinds('not-listed', 'aborted') }),
  )
}
