import fc from 'fast-check'
import type { Baseline, PastOfCase } from '../../src/model/baseline.ts'
import type { Failure } from '../../src/model/failure.ts'
import type { StepOutcome } from '../../src/model/outcome.ts'
import { isFinished, type Run, type TestCase } from '../../src/model/run.ts'
import { type Untrusted, untrusted } from '../../src/text/untrusted.ts'
import { firstLineOf } from '../../src/text/visible-text.ts'
import { anOutcome, aRun, aTestCase } from './builders.ts'
import { ENDINGS } from './endings.ts'

const RUN_STATUS = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED']
const CASE_STATUS = ['PASSED', 'FAILED', 'ERROR', 'TIMEDOUT', 'INTERRUPTED', 'FLAKY', 'SKIPPED']
const KNOWN = new Set([...RUN_STATUS, ...CASE_STATUS, 'RUNNING', 'QUEUED'])

/** A placeholder for a generated text. The text itself or other words replace it later. */
class Placeholder {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString = () => this.text
  toJSON = () => this.text
}

/** A message keeps its lines, because pages have a tag for each line. */
class MessagePlaceholder extends Placeholder {
  reworded(reword: (text: string) => string): string {
    return this.text
      .split(/\r\n|[\n\r]/)
      .map((line) => (String(firstLineOf(untrusted(line))) === '' ? '' : reword(line)))
      .join('\n')
  }
}

type Text = fc.Arbitrary<string & Untrusted>
/** This step in other words. `reword` changes each generated text. */
type Worded = (reword: (text: string) => string) => StepOutcome

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const kinds = <Kind extends string>(...all: readonly Kind[]) => fc.constantFrom(...all)

export const SOURCE_URL = `https://github.com/o/r/blob/${'0a'.repeat(20)}`

/** Any step with any ending, with `strings` in all places for text of others. */
export function anyStep(strings: fc.Arbitrary<string>): fc.Arbitrary<Worded> {
  const text: Text = strings.map((drawn) => new Placeholder(drawn) as unknown as string & Untrusted)
  const shape = fc.record({
    // Its ending, what became of the run, and what is known. All texts are drawn.
    like: fc.constantFrom<StepOutcome>(...Object.values(ENDINGS)),
    failure: anyFailure(text),
    run: anyRun(text, anyMessage(strings), anyPath(strings)),
    runId: strings.map((drawn) => new Placeholder(drawn || 'run-1') as unknown as string),
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
    removed: fc.array(anyTestCase(text, anyMessage(strings), anyPath(strings)), { maxLength: 3 }),
  })
  return shape.map((drawn) => {
    const build: Worded = (reword) => {
      const { like, ...shape } = drawn
      const { failedBeforeEvery, removed, failure, run, ...others } = reworded(shape, reword)
      const { ending, cancellation } = like
      const outcome = anOutcome({
        ...others,
        ending: 'failure' in ending ? { ...ending, failure } : ending,
        cancellation: 'failure' in cancellation ? { ...cancellation, failure } : cancellation,
        run:
          like.run && (isFinished(like.run) ? run : { ...run, status: like.run.status, rawStatus: like.run.rawStatus }),
      })
      // The index decides and not the title, because two different titles may get one word.
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
    }
    // fast-check prints this for a counterexample.
    return Object.assign(build, { [fc.toStringMethod]: () => JSON.stringify(drawn) })
  })
}

function reworded<T>(drawn: T, reword: (text: string) => string): T {
  const convert = (value: unknown): unknown => {
    if (value instanceof MessagePlaceholder) return value.reworded(reword)
    if (value instanceof Placeholder) return reword(value.text)
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part)]))
  }
  return convert(drawn) as T
}

/** Short enough to be shown whole, and each line short enough for the line of a test case. What is left out of a long message depends on its text. */
function anyMessage(strings: fc.Arbitrary<string>): Text {
  const lines = strings.map((drawn) =>
    drawn
      .slice(0, 1_500)
      .split(/\r\n|[\n\r]/)
      .slice(0, 20)
      .map((line) => line.slice(0, 400)),
  )
  return lines.map((drawn) => new MessagePlaceholder(drawn.join('\n')) as unknown as string & Untrusted)
}

/** The decoder refuses other paths. */
function anyPath(strings: fc.Arbitrary<string>): Text {
  const usable = strings.map((drawn) => drawn.replace(/[\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]/gu, '').slice(0, 1_000))
  return usable.map((drawn) => new Placeholder(drawn) as unknown as string & Untrusted)
}

/** A status that we know keeps its meaning. */
function anyStatus(known: readonly string[], text: Text): fc.Arbitrary<string> {
  const other = text.map((drawn) => (KNOWN.has(`${drawn}`) ? `${drawn}` : drawn))
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, other)
}

function anyTestCase(text: Text, message: Text, filePath: Text): fc.Arbitrary<TestCase> {
  return fc
    .record({
      title: text,
      status: anyStatus(CASE_STATUS, text),
      durationMs: maybe(fc.nat(10_000_000)),
      message: maybe(message),
      filePath: maybe(filePath),
      line: maybe(fc.integer({ min: 1, max: 100_000 })),
    })
    .map(aTestCase)
}

function anyRun(text: Text, message: Text, filePath: Text): fc.Arbitrary<Run> {
  return fc
    .record({
      status: anyStatus(RUN_STATUS, text),
      branchName: maybe(text),
      message: maybe(message),
      testCases: fc.option(fc.array(anyTestCase(text, message, filePath), { maxLength: 40, size: 'max' }), {
        nil: undefined,
        freq: 8,
      }),
    })
    .map(aRun)
}

function anyFailure(text: Text): fc.Arbitrary<Failure> {
  const failure = fc.constant(true as const)
  return fc.oneof(
    fc.record({ failure, kind: kinds('not-sent', 'no-response'), reason: text }),
    fc.record({ failure, kind: kinds('not-sent'), reason: text, problem: kinds('certificate', 'refused here') }),
    fc.record({
      failure,
      kind: kinds('status'),
      status: fc.constantFrom(301, 400, 401, 403, 404, 407, 418, 500, 503),
      error: maybe(text),
      body: maybe(text),
    }),
    fc.record({ failure, kind: kinds('invalid-response'), expected: text, got: fc.record({ sent: text }) }),
    fc.record({ failure, kind: kinds('not-listed', 'aborted') }),
  )
}
