import { createHash } from 'node:crypto'
import { isFinished, type Run, type TestCaseStatus } from '../runs/run.ts'

type SuiteTestStatus = 'PASSED' | 'FAILED' | 'ERROR' | 'FLAKY' | 'CANCELLED' | 'SKIPPED' | 'RUNNING' | 'QUEUED'

interface SuiteTest {
  readonly testId: string
  readonly testName: string
  readonly status: SuiteTestStatus
}

const STATUS_OF_CASE: Readonly<Record<TestCaseStatus, SuiteTestStatus>> = {
  PASSED: 'PASSED',
  FLAKY: 'FLAKY',
  FAILED: 'FAILED',
  TIMEDOUT: 'FAILED',
  INTERRUPTED: 'ERROR',
  SKIPPED: 'SKIPPED',
}

export function describeSuiteStatus(run: Run): object {
  return { status: isFinished(run) ? 'FINISHED' : 'RUNNING' }
}

/**
 * The detailed result of a test-suite run. It has no status of its own, so a client decides by the tests alone. If a run
 * did not pass and no test shows it, an additional entry shows it. While the run is unfinished, the only entry says so.
 */
export function describeSuiteResult(run: Run): object {
  const testSuiteName = run.suite?.name ?? ''
  return { testSuiteName, results: listTests(run, testSuiteName) }
}

function listTests(run: Run, suiteName: string): SuiteTest[] {
  const { phase } = run
  if (phase.status === 'QUEUED' || phase.status === 'RUNNING') return [suiteTest(suiteName, phase.status)]
  const tests = phase.testCases.map(({ title, status }) => suiteTest(title, STATUS_OF_CASE[status]))
  if (phase.status === 'PASSED') return tests
  if (tests.some(({ status }) => status === 'FAILED' || status === 'ERROR')) return tests
  return [...tests, suiteTest(`${suiteName}: the run as a whole is ${phase.status}`, 'ERROR')]
}

/** The id of a test is equal in every run. */
function suiteTest(testName: string, status: SuiteTestStatus): SuiteTest {
  return { testId: createHash('sha256').update(testName).digest('hex').slice(0, 16), testName, status }
}
