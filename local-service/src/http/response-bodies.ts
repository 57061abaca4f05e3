import { createHash } from 'node:crypto'
import type { RunOutcome } from '../execution/outcome.ts'
import type { TestCaseStatus } from '../frameworks/test-case.ts'
import { isFinished, type Run } from '../runs/run.ts'

/** The run object of the interface. What is not known yet is left out, except `startedAt`. */
export function describeRun({ phase, branchName }: Run): object {
  return {
    status: phase.status,
    startedAt: 'startedAt' in phase ? phase.startedAt : null,
    ...('finishedAt' in phase ? { finishedAt: phase.finishedAt } : {}),
    ...(branchName === undefined ? {} : { branchName }),
    ...('testCases' in phase ? describeOutcome(phase) : {}),
  }
}

function describeOutcome({ testCases, message, filePath, line }: RunOutcome): object {
  return { results: { testCases }, message, filePath, line }
}

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
 * The result has no status, so a client reads only the tests. If a run did not pass and no test is FAILED or ERROR, one
 * more entry says so. Until the run is finished, the only entry is the run's status.
 */
export function describeSuiteResult(run: Run): object {
  const testSuiteName = run.suite?.name ?? ''
  return { testSuiteName, results: listTests(run, testSuiteName) }
}

function listTests(run: Run, suiteName: string): SuiteTest[] {
  const { phase } = run
  const earlier = new Map<string, number>()
  /** A test keeps its id in later runs. If tests have the same name, as in two files, they are numbered in their order. */
  const suiteTest = (testName: string, status: SuiteTestStatus): SuiteTest => {
    const number = earlier.get(testName) ?? 0
    earlier.set(testName, number + 1)
    const identity = number === 0 ? testName : `${testName}\0${number}`
    return { testId: createHash('sha256').update(identity).digest('hex').slice(0, 16), testName, status }
  }
  if (phase.status === 'QUEUED' || phase.status === 'RUNNING') return [suiteTest(suiteName, phase.status)]
  const tests = phase.testCases.map(({ title, status }) => suiteTest(title, STATUS_OF_CASE[status]))
  if (phase.status === 'PASSED') return tests
  if (tests.some(({ status }) => status === 'FAILED' || status === 'ERROR')) return tests
  const reason = phase.message === undefined ? '' : `: ${phase.message.split('\n', 1)[0]}`
  return [...tests, suiteTest(`${suiteName}: the run as a whole is ${phase.status}${reason}`, 'ERROR')]
}
