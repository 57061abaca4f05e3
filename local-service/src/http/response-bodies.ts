import { hash } from 'node:crypto'
import type { TestCaseStatus } from '../frameworks/report.ts'
import { isFinished, type Run } from '../runs/run.ts'

/** The run object of the interface. What is not known yet is left out, except `startedAt`. */
export function describeRun({ phase, branchName }: Run): object {
  if (!('finishedAt' in phase)) return { startedAt: null, ...phase, branchName }
  const { testCases, ...others } = phase
  return { ...others, branchName, results: { testCases } }
}

const STATUS_OF_CASE: Readonly<Record<TestCaseStatus, string>> = {
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
export function describeSuiteResult({ suite: testSuiteName = '', phase }: Run): object {
  if (!('finishedAt' in phase)) return { testSuiteName, results: toSuiteTests([[testSuiteName, phase.status]]) }
  const tests = phase.testCases.map(({ title, status }): SuiteTest => [title, STATUS_OF_CASE[status]])
  const saysWhy = phase.status === 'PASSED' || tests.some(([, status]) => status === 'FAILED' || status === 'ERROR')
  const reason = phase.message === undefined ? '' : `: ${phase.message.split('\n', 1)[0]}`
  const whole: SuiteTest = [`${testSuiteName}: the run as a whole is ${phase.status}${reason}`, 'ERROR']
  return { testSuiteName, results: toSuiteTests(saysWhy ? tests : [...tests, whole]) }
}

type SuiteTest = readonly [name: string, status: string]

/** A test keeps its id in later runs. If tests have the same name, as in two files, they are numbered in their order. */
function toSuiteTests(tests: readonly SuiteTest[]): object[] {
  const earlier = new Map<string, number>()
  return tests.map(([testName, status]) => {
    const number = earlier.get(testName) ?? 0
    earlier.set(testName, number + 1)
    const identity = number === 0 ? testName : `${testName}\0${number}`
    return { testId: hash('sha256', identity).slice(0, 16), testName, status }
  })
}
