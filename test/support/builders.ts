import { judgeTestCase, RUN_STATUSES, type Run, type TestCase } from '../../src/outcome/run.ts'
import type { StepResult } from '../../src/outcome/step-result.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { type Ending, judge } from '../../src/outcome/verdict.ts'

// Values of the domain for tests: each call says what matters to the test, and the rest is plausible.

export interface TestCaseFields {
  readonly title?: string
  readonly status?: string
  /** `undefined` for the test-suite workflow, which sends none. */
  readonly durationMs?: number | undefined
}

export function aTestCase(fields: TestCaseFields = {}): TestCase {
  const { title, status, durationMs } = { title: 'adds to the cart', status: 'PASSED', durationMs: 1200, ...fields }
  return {
    title: untrusted(title),
    status: untrusted(status),
    ...judgeTestCase(status),
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

/** `{ FAILED: 2, PASSED: 38 }` as test cases, in that order, each with a title of its own. */
export function testCasesBy(counts: Readonly<Record<string, number>>): readonly TestCase[] {
  return Object.entries(counts).flatMap(([status, count]) =>
    Array.from({ length: count }, (_, index) =>
      aTestCase({ title: `${status.toLowerCase()} case ${index + 1}`, status }),
    ),
  )
}

export interface RunFields {
  /** Any text; one that the interface does not name makes the run's status UNKNOWN. */
  readonly status?: string
  readonly startedAt?: Date | undefined
  readonly finishedAt?: Date | undefined
  readonly branchName?: string | undefined
  readonly testCases?: readonly TestCase[] | undefined
  /** What the service sent; made from the other fields where it is not given. */
  readonly raw?: unknown
}

export function aRun(fields: RunFields = {}): Run {
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
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    hasFinishedAt: finishedAt !== undefined,
    ...(branchName === undefined ? {} : { branchName: untrusted(branchName) }),
    ...(testCases === undefined ? {} : { testCases }),
    raw:
      'raw' in fields
        ? fields.raw
        : asJson({
            status,
            startedAt,
            finishedAt,
            branchName,
            results: testCases && { testCases: testCases.map(raw) },
          }),
  }
}

function raw({ title, status, durationMs }: TestCase) {
  return { title, status, durationMs }
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** A step that ended with this run, or in the way of `ending`; its verdict follows from the ending. */
export function aStepResult(
  fields: Partial<Omit<StepResult, 'verdict' | 'run' | 'runId'>> & {
    readonly run?: Run | undefined
    readonly runId?: string | undefined
    readonly passWithNoTests?: boolean
  } = {},
): StepResult {
  const { passWithNoTests = false, ...given } = fields
  const ending: Ending = given.ending ?? { kind: 'finished', run: given.run ?? aRun() }
  const run = 'run' in given ? given.run : lastWordIn(ending)
  const runId = 'runId' in given ? given.runId : 'run_7f3a'
  return {
    verdict: judge(ending, passWithNoTests),
    ending,
    ...(run === undefined ? {} : { run }),
    ...(runId === undefined ? {} : { runId }),
    target: given.target ?? { kind: 'project', projectId: 'web-shop' },
    parameters: given.parameters ?? { branch: 'main', environment: 'staging' },
    ownsRun: given.ownsRun ?? true,
    waitedMs: given.waitedMs ?? 190_000,
  }
}

function lastWordIn(ending: Ending): Run | undefined {
  if (ending.kind === 'started') return undefined
  const { cancellation } = { cancellation: undefined, ...ending }
  return (cancellation?.kind === 'already-finished' ? cancellation.run : undefined) ?? ending.run
}
