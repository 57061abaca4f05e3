import { concludeStep } from '../../src/action/verdict.ts'
import type { Baseline } from '../../src/model/baseline.ts'
import type { EndedStep, OutcomeWithRun, StepOutcome, StepSubject } from '../../src/model/outcome.ts'
import { isFinished, kindOf, RUN_STATUSES, type Run, type TestCase } from '../../src/model/run.ts'
import { untrusted } from '../../src/text/untrusted.ts'

// Values for tests. Each call gives what matters to the test, and the builder adds plausible values.

export interface TestCaseFields {
  readonly title?: string
  readonly status?: string
  /** `undefined` for a test suite, whose interface has none. */
  readonly durationMs?: number | undefined
  readonly message?: string | undefined
  readonly filePath?: string | undefined
  readonly line?: number | undefined
}

export function aTestCase(fields: TestCaseFields = {}): TestCase {
  const { title, status, durationMs } = { title: 'adds to the cart', status: 'PASSED', durationMs: 1200, ...fields }
  const kind = kindOf(status)
  return {
    title: untrusted(title),
    rawStatus: untrusted(status),
    kind,
    durationMs,
    message: fields.message === undefined || kind === 'passed' ? undefined : untrusted(fields.message),
    filePath: fields.filePath === undefined ? undefined : untrusted(fields.filePath),
    line: fields.line,
  }
}

/** `{ FAILED: 2, PASSED: 38 }` as test cases in this order, each with its own title. */
export function testCasesBy(counts: Readonly<Record<string, number>>): readonly TestCase[] {
  return Object.entries(counts).flatMap(([status, count]) =>
    Array.from({ length: count }, (_, index) =>
      aTestCase({ title: `${status.toLowerCase()} case ${index + 1}`, status }),
    ),
  )
}

/** An earlier run with test cases by their statuses. By default, it timed out, so no test case can be missing. */
export function aBaseline(counts: Readonly<Record<string, number>>, status: Run['status'] = 'TIMEDOUT'): Baseline {
  return [{ status, testCases: testCasesBy(counts), finishedAt: new Date('2026-02-28T09:05:59.000Z') }]
}

export interface RunFields {
  /** Any text. If the interface does not name it, the run's status is UNKNOWN. */
  readonly status?: string
  readonly startedAt?: Date | undefined
  readonly finishedAt?: Date | undefined
  readonly branchName?: string | undefined
  readonly message?: string | undefined
  readonly testCases?: readonly TestCase[] | undefined
}

export function aRun(fields: RunFields = {}): Run {
  const { message } = fields
  const { status, startedAt, finishedAt, branchName, testCases } = {
    status: 'PASSED',
    startedAt: new Date('2026-03-01T10:00:00.000Z'),
    finishedAt: new Date('2026-03-01T10:03:04.000Z'),
    branchName: 'main',
    testCases: [aTestCase(), aTestCase({ title: 'pays by card' })],
    ...fields,
  }
  return {
    status: RUN_STATUSES.find((known) => known === status) ?? 'UNKNOWN',
    rawStatus: untrusted(status),
    startedAt,
    finishedAt,
    branchName: branchName === undefined ? undefined : untrusted(branchName),
    message: message === undefined || status === 'PASSED' ? undefined : untrusted(message),
    testCases,
    responseText: untrusted(
      JSON.stringify({ status, startedAt, finishedAt, branchName, results: testCases && { testCases } }),
    ),
  }
}

export function aFinishedRun(fields: RunFields = {}): Run {
  return finished(aRun(fields))
}

function finished(run: Run): Run {
  if (!isFinished(run)) throw new TypeError(`A run that is ${run.rawStatus} has not finished`)
  return run
}

export interface OutcomeFields extends Partial<Omit<EndedStep, 'subject'>> {
  readonly subject?: Partial<StepSubject>
  readonly passWithNoTests?: boolean
  readonly strict?: boolean
}

/** The outcome of a step with this history. By default, the run has finished. The verdict follows from the history. */
export function anOutcome(fields?: OutcomeFields & { readonly ending?: never }): OutcomeWithRun
export function anOutcome(fields: OutcomeFields): StepOutcome
export function anOutcome(fields: OutcomeFields = {}): StepOutcome {
  const { passWithNoTests = false, strict = false, runUrl, subject } = fields
  const { ending = { kind: 'finished' } } = fields
  const isNothingLeft = ['finished', 'started', 'start-failed'].includes(ending.kind)
  const { cancellation = { kind: isNothingLeft ? 'none' : 'not-allowed' } } = fields
  const hasNoRun =
    ending.kind === 'start-failed' ||
    cancellation.kind === 'id-unknown' ||
    (ending.kind === 'aborted' && cancellation.kind === 'none')
  const history: EndedStep = {
    ending,
    cancellation,
    runId: hasNoRun ? undefined : (fields.runId ?? 'run_7f3a'),
    runUrl,
    run: ending.kind === 'finished' ? finished(fields.run ?? aRun()) : fields.run,
    subject: {
      target: { kind: 'project', id: 'web-shop' },
      parameters: { branch: 'main', environment: 'staging' },
      ownsRun: true,
      matrix: '',
      ...subject,
    },
  }
  return concludeStep(history, { passWithNoTests, strict })
}
